/** Reads the subject of an evaluation from a stored record: the texts of question and answer, from bodies of any dialect. */
import { ERROR_CODES } from '../contracts/errors.ts';
import { INTERRUPTED } from '../contracts/log-entry.ts';
import { isObject, type JsonObject } from '../json/mod.ts';
import type { SkipReason, Subject } from './outcome.ts';

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
  /** Prompt variables. */
  inputs: Record<string, unknown> | null;
  /** Keyed by names in lower case. */
  properties: Record<string, string> | null;
  model: string | null;
};

/** The reason why a record cannot be evaluated. */
export type Skip = { skipped: SkipReason; message: string };

const CLIENT_LEFT = ERROR_CODES.client_closed_request.status;

/** Reads the subject of an evaluation, or the reason why the record has none. Never throws, whatever the bodies hold. */
export function readSubject(call: StoredRecord): Subject | Skip {
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
    inputs: call.inputs ?? {},
    properties: call.properties ?? {},
    model: call.model,
  };
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
    return { text, value: JSON.parse(text) as unknown };
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
  if (isObject(value) && typeof value.text === 'string' && Object.keys(value).length === 1) return value.text;
  return value === null ? text : null;
}

/** Some providers report an error in the body of a response of status 200. */
function isErrorBody(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { error } = body;
  const hasError = (typeof error === 'string' && error !== '') || isObject(error);
  return hasError && ['choices', 'content', 'candidates'].every((name) => !Array.isArray(body[name]));
}

/** Returns the text of the last user message that has text; null when there is none. */
function inputText(body: unknown): string | null {
  if (!isObject(body)) return null;
  const { messages, prompt, input, contents } = body;
  // Chat completions and Anthropic's messages; then Gemini's, the Responses API, completions and embeddings.
  for (const list of [messages, contents, input]) {
    if (!Array.isArray(list)) continue;
    const text = lastUserText(list);
    if (text !== null) return text;
  }
  return nonBlank(typeof input === 'string' ? input : textOfList(input)) ?? nonBlank(textOfList(prompt));
}

function lastUserText(messages: readonly unknown[]): string | null {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    // Gemini accepts a message without a role.
    if (
      !isObject(message) ||
      (message.role !== 'user' && !(message.role === undefined && 'parts' in message))
    ) {
      continue;
    }
    const text = nonBlank(textOf(message.content ?? message.parts));
    if (text !== null) return text;
  }
  return null;
}

/** Returns the text of the assistant's first choice; null when the body has no such text. An empty answer is the empty text. */
function outputText(body: unknown): string | null {
  if (!isObject(body)) return null;
  const { choices, candidates, content, output } = body;
  if (Array.isArray(choices)) return choiceText(firstChoice(choices));
  if (Array.isArray(candidates)) return candidateText(candidates[0]);
  // Items of the Responses API; `output_text`, which its SDKs add, joins their texts.
  if (Array.isArray(output)) return responsesText(output);
  if (body.type === 'message' || Array.isArray(content)) return messageText(body);
  return typeof body.output_text === 'string' ? body.output_text : null;
}

function firstChoice(choices: readonly unknown[]): unknown {
  return choices.find((choice) => isObject(choice) && choice.index === 0) ?? choices[0];
}

function choiceText(choice: unknown): string | null {
  if (!isObject(choice)) return null;
  if (isObject(choice.message)) return messageText(choice.message);
  return typeof choice.text === 'string' ? choice.text : null;
}

/** Returns the text, else the refusal, else the transcript of spoken output, else the tool calls. */
function messageText(message: JsonObject): string | null {
  const { content, refusal, audio } = message;
  const text = textOf(content);
  return (
    nonBlank(text) ??
    nonBlank(refusal) ??
    nonBlank(refusalIn(content)) ??
    nonBlank(isObject(audio) ? audio.transcript : null) ??
    toolCallsText(message) ??
    text
  );
}

function candidateText(candidate: unknown): string | null {
  const content = isObject(candidate) ? candidate.content : null;
  const parts = isObject(content) ? content.parts : null;
  return nonBlank(textOf(parts)) ?? (Array.isArray(parts) ? linesOrNull(parts.map(toolCallLine)) : null);
}

function responsesText(items: readonly unknown[]): string | null {
  const contents = items.flatMap((item) =>
    isObject(item) && item.type === 'message' && Array.isArray(item.content)
      ? (item.content as unknown[])
      : [],
  );
  const text = textOf(contents);
  return nonBlank(text) ?? nonBlank(refusalIn(contents)) ?? linesOrNull(items.map(toolCallLine)) ?? text;
}

/** Returns a text, or the joined text parts of a list; null for anything else. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.flatMap((part: unknown) => {
    if (typeof part === 'string') return [part];
    // A model's thoughts are not part of its answer.
    if (!isObject(part) || part.type === 'thinking' || part.thought === true) return [];
    return typeof part.text === 'string' ? [part.text] : [];
  });
  return texts.length === 0 ? null : texts.join('\n');
}

/** Returns a text, or the joined items of a list of texts; null for anything else. */
function textOfList(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const isTexts = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
  return isTexts ? value.join('\n') : null;
}

function nonBlank(text: unknown): string | null {
  return typeof text === 'string' && text.trim() !== '' ? text : null;
}

function refusalIn(parts: unknown): string | null {
  const part = Array.isArray(parts)
    ? (parts as unknown[]).find((item) => isObject(item) && typeof item.refusal === 'string')
    : undefined;
  return isObject(part) ? (part.refusal as string) : null;
}

/** Writes tool calls, one a line, as `name(arguments)`. */
function toolCallsText(message: JsonObject): string | null {
  const { tool_calls: calls, function_call: call, content } = message;
  const listed = [
    ...(Array.isArray(calls) ? (calls as unknown[]) : []),
    ...(isObject(call) ? [call] : []),
    ...(Array.isArray(content) ? (content as unknown[]) : []),
  ];
  return linesOrNull(listed.map(toolCallLine));
}

function linesOrNull(lines: readonly (string | null)[]): string | null {
  const found = lines.filter((line) => line !== null);
  return found.length === 0 ? null : found.join('\n');
}

/** Writes a tool call of any dialect: OpenAI's, Anthropic's `tool_use`, the Responses API's, Gemini's. */
function toolCallLine(item: unknown): string | null {
  if (!isObject(item)) return null;
  const inner = item.function ?? item.custom ?? item.functionCall ?? item;
  if (!isObject(inner) || typeof inner.name !== 'string') return null;
  const given = inner.arguments ?? inner.input ?? inner.args;
  if (given === undefined && inner === item && item.type !== 'tool_use' && item.type !== 'function_call')
    return null;
  return `${inner.name}(${typeof given === 'string' ? given : toJsonText(given)})`;
}

function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // The value is nested too deep to be serialized.
    return '…';
  }
}
