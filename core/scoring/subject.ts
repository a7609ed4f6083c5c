/** Reads the subject of an evaluation from a stored record: the texts of question and answer, from bodies of any dialect. */
import { inputText, outputText, plainText } from '../chat/mod.ts';
import { ERROR_CODES } from '../contracts/errors.ts';
import { INTERRUPTED } from '../contracts/log-entry.ts';
import { isObject, type JsonObject, parseExactJson, parseExactObject } from '../json/mod.ts';
import type { SkipReason, Subject } from './outcome.ts';
import { readSession, type StoredSession, type SubjectSession, transcriptOf } from './session.ts';

/** The columns of a record that a subject is read from. */
export type StoredRecord = {
  requestId: string;
  /** The bodies as ingest stored them: JSON objects; `{}` for an omitted body, `{"text": …}` for one that is no JSON object. */
  requestText: string;
  responseText: string;
  /** 0: the end of the call is not known. */
  status: number;
  truncated: boolean;
  errorCode: string | null;
  /** Prompt variables: JSON of an object. */
  inputs: string | null;
  /** Keyed by names in lower case. */
  properties: Record<string, string> | null;
  model: string | null;
  /** The answer that was expected: JSON; null or absent: not known. */
  expected?: string | null;
  /** The session up to this request, whose evaluation is then one of the session; absent: the request is evaluated by itself. */
  session?: StoredSession;
};

/** The reason why a record cannot be evaluated. */
export type Skip = { skipped: SkipReason; message: string };

const CLIENT_LEFT = ERROR_CODES.client_closed_request.status;

/** Reads the subject of an evaluation, or the reason why the record has none. Never throws, whatever the bodies hold. */
export function readSubject(call: StoredRecord): Subject | Skip {
  if (call.session !== undefined) return readSessionSubject(call, readSession(call.session));
  const unfinished = skipForEnding(call);
  if (unfinished !== null) return unfinished;
  const request = readBody(call.requestText);
  const response = readBody(call.responseText);
  if (isOmitted(request)) return omittedBody('request');
  if (isOmitted(response)) return omittedBody('response');
  if (isErrorBody(response.value)) {
    return skip('upstream_error', 'The answer is an error of the provider, although its status is a success');
  }
  return {
    requestId: call.requestId,
    input: wholeText(request) ?? inputText(request.value) ?? request.text,
    output: wholeText(response) ?? outputText(response.value) ?? response.text,
    request: request.value,
    response: response.value,
    inputs: readInputs(call.inputs),
    properties: call.properties ?? {},
    model: call.model,
    expected: readExpected(call.expected ?? null),
  };
}

/** Reads the subject of an evaluator of sessions. Calls that failed are part of a session, and no reason to skip it. */
function readSessionSubject(call: StoredRecord, session: SubjectSession): Subject | Skip {
  const { conversation, turns } = session;
  if (turns.length === 0) return skip('request_deleted', 'The log has no request of this session');
  const last = conversation.findLastIndex(({ role }) => role === 'assistant');
  if (last === -1) return skipForTurns(session);
  return {
    requestId: call.requestId,
    input: transcriptOf(conversation.slice(0, last)),
    output: conversation[last]!.text,
    request: readBody(call.requestText).value,
    response: readBody(call.responseText).value,
    inputs: readInputs(call.inputs),
    properties: call.properties ?? {},
    model: call.model,
    expected: readExpected(call.expected ?? null),
    session,
  };
}

function skipForTurns({ turns }: SubjectSession): Skip {
  const wasAnswered = turns.some(({ status }) => status >= 200 && status < 300);
  return wasAnswered
    ? skip('body_omitted', 'The bodies of the session were not recorded')
    : skip('upstream_error', 'No call of the session was answered');
}

function readInputs(text: string | null): JsonObject {
  return text === null ? {} : (parseExactObject(text) ?? {});
}

function readExpected(text: string | null): unknown {
  return text === null ? undefined : readBody(text).value;
}

function skip(reason: SkipReason, message: string): Skip {
  return { skipped: reason, message };
}

function skipForEnding({ status, truncated, errorCode }: StoredRecord): Skip | null {
  if (status === 0 || errorCode === INTERRUPTED) {
    return skip('interrupted', 'The call was interrupted: no answer was recorded');
  }
  // When the client leaves, the record has status 499, although it holds an answer that was cut short.
  if (status === CLIENT_LEFT || errorCode === 'client_closed_request') {
    return skip('truncated', 'The client left before the answer was whole');
  }
  if (status < 200 || status >= 300)
    return skip('upstream_error', `The call was answered with status ${status}`);
  if (truncated) return skip('truncated', 'The answer was cut short');
  return null;
}

function omittedBody(which: 'request' | 'response'): Skip {
  return skip('body_omitted', `The ${which} body was not recorded`);
}

type Body = { text: string /** null where the text is not JSON. */; value: unknown };

function readBody(text: string): Body {
  try {
    return { text, value: parseExactJson(text) };
  } catch {
    return { text, value: null };
  }
}

function isOmitted({ text, value }: Body): boolean {
  return text.trim() === '' || (isObject(value) && Object.keys(value).length === 0);
}

/** Returns the text of a body that is plain text: not JSON, a JSON string, or the `{"text": …}` that ingest makes of either. */
function wholeText({ text, value }: Body): string | null {
  if (typeof value === 'string') return value;
  return plainText(value) ?? (value === null ? text : null);
}

/** Some providers report an error in the body of a response of status 200. */
function isErrorBody(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { error } = body;
  const hasError = (typeof error === 'string' && error !== '') || isObject(error);
  return hasError && ['choices', 'content', 'candidates'].every((name) => !Array.isArray(body[name]));
}
