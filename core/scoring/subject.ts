/** From a stored record to what evaluators look at: texts of question and answer, whatever dialect they are in. */
import { isObject, type JsonObject } from '../json/mod.ts';
import type { SkipReason, Subject } from './outcome.ts';

/** A record as the store has it. */
export type StoredCall = {
  requestId: string;
  /** The bodies as ingest wrote them: JSON objects; `{}` what was left out, `{"text": …}` what was no JSON object. */
  requestText: string;
  responseText: string;
  /** 0: nobody knows how the call ended. */
  status: number;
  truncated: boolean;
  errorCode: string | null;
  /** Prompt variables. */
  inputs: Record<string, unknown> | null;
  /** By names in lower case. */
  properties: Record<string, string> | null;
  model: string | null;
};

/** Why there is nothing to evaluate. */
export type Skip = { skipped: SkipReason; message: string };

const CLIENT_LEFT = 499;

/** Reads the subject of an evaluation, or why the record is none. Never throws, whatever the bodies are. */
export function readSubject(call: StoredCall): Subject | Skip {
  const unfinished = readEnding(call);
  if (unfinished !== null) return unfinished;
  const request = readBody(call.requestText);
  const response = readBody(call.responseText);
  if (isOmitted(request)) return omitted('request');
  if (isOmitted(response)) return omitted('response');
  if (isErrorBody(response.value)) {
    return skip('upstream_error', 'The answer is an error of the provider, although its status is a success');
  }
  return {
    requestId: call.requestId,
    input: bareText(request) ?? inputText(request.value) ?? request.text,
    output: bareText(response) ?? outputText(response.value) ?? response.text,
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

function readEnding({ status, truncated, errorCode }: StoredCall): Skip | null {
  if (status === 0 || errorCode === 'interrupted') {
    return skip('interrupted', 'The call was interrupted: no answer was recorded');
  }
  // A client that leaves gives a status of its own to what is an answer cut short.
  if (status === CLIENT_LEFT || errorCode === 'client_closed_request') {
    return skip('truncated', 'The client left before the answer was whole');
  }
  if (status < 200 || status >= 300)
    return skip('upstream_error', `The call was answered with status ${status}`);
  if (truncated) return skip('truncated', 'The answer was cut short');
  return null;
}

function omitted(which: 'request' | 'response'): Skip {
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

/** The text of a body that is a text: not JSON at all, a JSON string, or what ingest made of such a one. */
function bareText({ text, value }: Body): string | null {
  if (typeof value === 'string') return value;
  if (isObject(value) && typeof value.text === 'string' && Object.keys(value).length === 1) return value.text;
  return value === null ? text : null;
}

/** Some providers answer 200 and tell of an error in the body. */
function isErrorBody(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { error } = body;
  const tellsError = (typeof error === 'string' && error !== '') || isObject(error);
  return tellsError && ['choices', 'content', 'candidates'].every((name) => !Array.isArray(body[name]));
}

/** What the user asked: the last message of the user's that has text. Null where there is none. */
function inputText(body: unknown): string | null {
  if (!isObject(body)) return null;
  const { messages, prompt, input, contents } = body;
  // Chat completions and Anthropic's messages; then Gemini's, the Responses API, completions and embeddings.
  for (const list of [messages, contents, input]) {
    if (!Array.isArray(list)) continue;
    const text = lastUserText(list);
    if (text !== null) return text;
  }
  return (
    textOrNothing(typeof input === 'string' ? input : textOfList(input)) ?? textOrNothing(textOfList(prompt))
  );
}

function lastUserText(messages: readonly unknown[]): string | null {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    // Gemini's only message may go without a role.
    if (
      !isObject(message) ||
      (message.role !== 'user' && !(message.role === undefined && 'parts' in message))
    ) {
      continue;
    }
    const text = textOrNothing(textOf(message.content ?? message.parts));
    if (text !== null) return text;
  }
  return null;
}

/** What the assistant answered, its first choice. Null where it has no such text; the empty answer is the empty text. */
function outputText(body: unknown): string | null {
  if (!isObject(body)) return null;
  const { choices, candidates, content, output } = body;
  if (Array.isArray(choices)) return choiceText(firstChoice(choices));
  if (Array.isArray(candidates)) return candidateText(candidates[0]);
  // The Responses API's items; its SDKs add the text of them all.
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

/** Text, else a refusal, else the transcript of what was spoken, else calls of tools. */
function messageText(message: JsonObject): string | null {
  const { content, refusal, audio } = message;
  const text = textOf(content);
  return (
    textOrNothing(text) ??
    textOrNothing(refusal) ??
    textOrNothing(refusalIn(content)) ??
    textOrNothing(isObject(audio) ? audio.transcript : null) ??
    toolCallsText(message) ??
    text
  );
}

function candidateText(candidate: unknown): string | null {
  const content = isObject(candidate) ? candidate.content : null;
  const parts = isObject(content) ? content.parts : null;
  return textOrNothing(textOf(parts)) ?? (Array.isArray(parts) ? linesOrNull(parts.map(callLine)) : null);
}

function responsesText(items: readonly unknown[]): string | null {
  const contents = items.flatMap((item) =>
    isObject(item) && item.type === 'message' && Array.isArray(item.content)
      ? (item.content as unknown[])
      : [],
  );
  const text = textOf(contents);
  return (
    textOrNothing(text) ?? textOrNothing(refusalIn(contents)) ?? linesOrNull(items.map(callLine)) ?? text
  );
}

/** A text, or the text parts of a list; null when it is neither. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.flatMap((part: unknown) => {
    if (typeof part === 'string') return [part];
    // What a model thought is not what it said.
    if (!isObject(part) || part.type === 'thinking' || part.thought === true) return [];
    return typeof part.text === 'string' ? [part.text] : [];
  });
  return texts.length === 0 ? null : texts.join('\n');
}

/** A text or a list of texts. */
function textOfList(value: unknown): string | null {
  if (typeof value === 'string') return value;
  const isTexts = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
  return isTexts ? value.join('\n') : null;
}

function textOrNothing(text: unknown): string | null {
  return typeof text === 'string' && text.trim() !== '' ? text : null;
}

function refusalIn(parts: unknown): string | null {
  const part = Array.isArray(parts)
    ? (parts as unknown[]).find((item) => isObject(item) && typeof item.refusal === 'string')
    : undefined;
  return isObject(part) ? (part.refusal as string) : null;
}

/** One call to a line, as `name(arguments)`. */
function toolCallsText(message: JsonObject): string | null {
  const { tool_calls: calls, function_call: call, content } = message;
  const listed = [
    ...(Array.isArray(calls) ? (calls as unknown[]) : []),
    ...(isObject(call) ? [call] : []),
    ...(Array.isArray(content) ? (content as unknown[]) : []),
  ];
  return linesOrNull(listed.map(callLine));
}

function linesOrNull(lines: readonly (string | null)[]): string | null {
  const found = lines.filter((line) => line !== null);
  return found.length === 0 ? null : found.join('\n');
}

/** A call of a tool in any dialect: OpenAI's, Anthropic's `tool_use`, the Responses API's, Gemini's. */
function callLine(item: unknown): string | null {
  if (!isObject(item)) return null;
  const inner = item.function ?? item.custom ?? item.functionCall ?? item;
  if (!isObject(inner) || typeof inner.name !== 'string') return null;
  const given = inner.arguments ?? inner.input ?? inner.args;
  if (given === undefined && inner === item && item.type !== 'tool_use' && item.type !== 'function_call')
    return null;
  return `${inner.name}(${typeof given === 'string' ? given : writeOut(given)})`;
}

function writeOut(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // Nested too deep to be written.
    return '…';
  }
}
