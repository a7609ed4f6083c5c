/** Reads the body of `POST /v1/log/request` into a log entry, and checks the rules that a schema cannot express. */

import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { readExpected } from '#core/contracts/expected.ts';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import { JsonFault, type MemberSpan } from '#core/json/mod.ts';
import { readInputs } from '#core/prompts/mod.ts';
import { isRequestId } from '#platform/process/ids.ts';
import { scanMembersInTurns } from '#platform/process/turns.ts';
import { scoresOf } from '../requests/mod.ts';
import { formOfText, JSON_ANSWER } from './answer.ts';
import type { LogRequestBody } from './body.ts';
import { type Period, readAnsweredAt, readCreatedAt } from './moments.ts';
import { readText } from './text.ts';

/** The members of the body that are logged unchanged. */
export const BODY_PATHS = [['request', 'body'], ['response', 'body'], ['inputs'], ['expected']] as const;

/** A body that fits its schema, and the text of the members at BODY_PATHS, which `body` may have stand-ins for. */
export type SentCall = { body: LogRequestBody; written: readonly (Buffer | null)[] };

/** A request and its response as in their log entry, without the id and the owner. */
export type LoggedCall = {
  /** The id that the caller chose; null: none. */
  requestId: string | null;
  head: Omit<LogEntryHead, 'id' | 'organizationId' | 'apiKeyId'>;
  requestBody: Buffer;
  responseBody: Buffer;
};

/** Limit in bytes of UTF-8, because indexes of Postgres limit bytes. */
const MAX_TEXT_BYTES = 1_024;
const MAX_MODEL_BYTES = 256;
/** The longest escape of one character. */
const BYTES_OF_ESCAPE = 6;
const QUOTE = 0x22;

/**
 * Reads a call.
 * @param period the times at which it may have begun
 * @throws AssayError invalid_body
 */
export async function readCall({ body, written }: SentCall, period: Period): Promise<LoggedCall> {
  const { request, response } = body;
  const [requestBody, responseBody, inputs, expected] = written;
  const createdAtMs = readCreatedAt(request.created_at, 'request.created_at', period);
  const answeredAtMs = readAnsweredAt(response.created_at, 'response.created_at', createdAtMs);
  const latencyMs = answeredAtMs - createdAtMs;
  const isText = typeof response.body === 'string';
  const answer = isText ? await readText(responseBody!) : responseBody!;
  return {
    requestId: readRequestId(body.request_id),
    head: {
      v: 1,
      source: 'api',
      createdAtMs,
      answeredAtMs,
      latencyMs,
      ttftMs: readTtft(body.timing?.time_to_first_token, latencyMs),
      path: storableText(readLabel(request.path, 'request.path') ?? ''),
      provider: body.provider.toUpperCase(),
      requestModel: readLabel(body.model, 'model', MAX_MODEL_BYTES)!,
      status: response.status,
      ...(isText ? await formOfText(answer) : JSON_ANSWER),
      errorCode: null,
      contentEncoding: null,
      ...readLabels(body, await readUser(requestBody!)),
      ...readSession(body),
      ...readPrompt(body, inputs ?? null),
      ...readExpectation(expected ?? null),
      properties: Object.entries(body.properties ?? {}),
      omitRequest: false,
      omitResponse: false,
    },
    requestBody: requestBody!,
    responseBody: answer,
  };
}

function invalid(path: string, problem: string): AssayError {
  return new AssayError('invalid_body', `${path} ${problem}`);
}

/** Returns a text that is stored and indexed; null where there is none, or an empty one, as for headers of the gateway. */
function readLabel(value: string | null | undefined, path: string, maxBytes = MAX_TEXT_BYTES): string | null {
  if (value === null || value === undefined || value === '') return null;
  const bytes = Buffer.byteLength(storableText(value));
  if (bytes <= maxBytes) return value;
  throw invalid(path, `must have at most ${maxBytes} bytes as UTF-8, but has ${bytes}`);
}

function readLabels(body: LogRequestBody, user: string | null) {
  return {
    userId: readLabel(body.user_id, 'user_id') ?? user,
    promptId: readLabel(body.prompt_id, 'prompt_id'),
    experimentId: readLabel(body.experiment_id, 'experiment_id'),
  };
}

function readSession(body: LogRequestBody) {
  const { session } = body;
  if (session === null || session === undefined) {
    return {
      sessionId: readLabel(body.session_id, 'session_id'),
      sessionPath: readLabel(body.session_path, 'session_path'),
      sessionName: readLabel(body.session_name, 'session_name'),
    };
  }
  for (const name of ['session_id', 'session_path', 'session_name'] as const) {
    if (body[name] !== null && body[name] !== undefined)
      throw invalid(name, 'must not be sent beside session, which says the same');
  }
  return {
    sessionId: readLabel(session.id, 'session.id'),
    sessionPath: readLabel(session.path, 'session.path'),
    sessionName: readLabel(session.name, 'session.name'),
  };
}

/** Returns members of a head that are absent where the call does not have them. */
function readPrompt(body: LogRequestBody, inputs: Buffer | null) {
  const promptVersion = readLabel(body.prompt_version, 'prompt_version');
  if (promptVersion !== null && !body.prompt_id)
    throw invalid('prompt_version', 'needs a prompt_id beside it');
  const { inputs: given, scores } = body;
  const hasInputs = given !== null && given !== undefined && inputs !== null;
  return {
    ...(promptVersion !== null && { promptVersion }),
    ...(hasInputs && { inputs: readInputs(inputs).text }),
    ...(scores !== null && scores !== undefined && { scores: Object.fromEntries(scoresOf({ scores })) }),
  };
}

/** Returns the member of a head that is absent where no answer is expected. */
function readExpectation(written: Buffer | null) {
  const expected = written === null ? null : readExpected(written);
  return expected === null ? {} : { expected };
}

/** Returns the `user` of the request's body, as the gateway does. */
async function readUser(requestBody: Buffer): Promise<string | null> {
  const span = await userSpan(requestBody);
  if (span === undefined || requestBody[span.start] !== QUOTE) return null;
  if (span.end - span.start > BYTES_OF_ESCAPE * MAX_TEXT_BYTES)
    throw invalid('request.body.user', `must have at most ${MAX_TEXT_BYTES} bytes as UTF-8`);
  return readLabel(JSON.parse(requestBody.toString('utf8', span.start, span.end)), 'request.body.user');
}

/** Finds the last `user` of a body. */
async function userSpan(requestBody: Buffer): Promise<MemberSpan | undefined> {
  try {
    const options = { names: ['user'], maxDepth: Number.POSITIVE_INFINITY };
    return (await scanMembersInTurns(requestBody, options)).spans.get('user')!.at(-1);
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    // The whole body is known to be JSON, so no other error is possible.
    throw invalid('request.body', 'must name "user" once, but names it many times');
  }
}

function readTtft(ttftMs: number | undefined, latencyMs: number): number | null {
  if (ttftMs === undefined) return null;
  // Times in whole milliseconds can be less than one short of what a finer clock has measured.
  if (ttftMs < latencyMs + 1) return Math.min(ttftMs, latencyMs);
  throw invalid(
    'timing.time_to_first_token',
    `must be at most the ${latencyMs} ms from request.created_at to response.created_at, but is ${ttftMs}`,
  );
}

function readRequestId(requestId: string | null | undefined): string | null {
  if (requestId === null || requestId === undefined || isRequestId(requestId)) return requestId ?? null;
  throw invalid('request_id', `must be a UUID or a ULID, but is ${quoteValue(requestId)}`);
}
