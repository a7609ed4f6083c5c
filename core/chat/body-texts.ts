/** The texts of question and answer in bodies of every dialect: chat completions, completions, Responses, Messages, Gemini's. */
import { isObject, type JsonObject } from '../json-values/mod.ts';

/** Writes a tool call as a line; null for any other item. */
type WriteToolCall = (item: unknown) => string | null;

/** Returns the text of a body that is not JSON, which ingest stores as `{"text": …}`; null for any other body. */
export function plainText(body: unknown): string | null {
  if (!isObject(body) || typeof body.text !== 'string') return null;
  return Object.keys(body).length === 1 ? body.text : null;
}

/** Returns the text of the last user message that has text; null when there is none. */
export function inputText(body: unknown): string | null {
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

/**
 * Returns the text of the assistant's first choice, else its tool calls as `writeCall` writes them, one a line; null when the
 * body has neither. An empty answer is the empty text.
 * @param writeCall default: `name(arguments)`
 */
export function outputText(body: unknown, writeCall: WriteToolCall = toolCallLine): string | null {
  if (!isObject(body)) return null;
  const { choices, candidates, content, output } = body;
  if (Array.isArray(choices)) return choiceText(firstChoice(choices), writeCall);
  if (Array.isArray(candidates)) return candidateText(candidates[0], writeCall);
  // Items of the Responses API; `output_text`, which its SDKs add, joins their texts.
  if (Array.isArray(output)) return responsesText(output, writeCall);
  if (body.type === 'message' || Array.isArray(content)) return messageText(body, writeCall);
  return typeof body.output_text === 'string' ? body.output_text : null;
}

function firstChoice(choices: readonly unknown[]): unknown {
  return choices.find((choice) => isObject(choice) && choice.index === 0) ?? choices[0];
}

function choiceText(choice: unknown, writeCall: WriteToolCall): string | null {
  if (!isObject(choice)) return null;
  if (isObject(choice.message)) return messageText(choice.message, writeCall);
  return typeof choice.text === 'string' ? choice.text : null;
}

/** Returns the text, else the refusal, else the transcript of spoken output, else the tool calls. */
function messageText(message: JsonObject, writeCall: WriteToolCall): string | null {
  const { content, refusal, audio } = message;
  const text = textOf(content);
  return (
    nonBlank(text) ??
    nonBlank(refusal) ??
    nonBlank(refusalIn(content)) ??
    nonBlank(isObject(audio) ? audio.transcript : null) ??
    toolCallsText(message, writeCall) ??
    text
  );
}

function candidateText(candidate: unknown, writeCall: WriteToolCall): string | null {
  const content = isObject(candidate) ? candidate.content : null;
  const parts = isObject(content) ? content.parts : null;
  return nonBlank(textOf(parts)) ?? (Array.isArray(parts) ? linesOrNull(parts.map(writeCall)) : null);
}

function responsesText(items: readonly unknown[], writeCall: WriteToolCall): string | null {
  const contents = items.flatMap((item) =>
    isObject(item) && item.type === 'message' && Array.isArray(item.content)
      ? (item.content as unknown[])
      : [],
  );
  const text = textOf(contents);
  return nonBlank(text) ?? nonBlank(refusalIn(contents)) ?? linesOrNull(items.map(writeCall)) ?? text;
}

/** One message of a conversation, as a reader sees it. */
export type Spoken = { role: string; text: string };

/**
 * Returns a message of any dialect, or an item of the Responses API, with all that it says: texts, tool calls and their results,
 * one below the other. Images and other parts without words are told by their type, as `[image_url]`.
 */
export function spokenMessage(message: unknown): Spoken {
  if (!isObject(message))
    return { role: 'user', text: typeof message === 'string' ? message : toJsonText(message) };
  const { role, type, parts, refusal, audio, tool_calls: calls, function_call: call } = message;
  const content = message.content ?? parts ?? message.output;
  const said = [
    ...(Array.isArray(content) ? (content as unknown[]) : [content]).map(partText),
    refusal,
    isObject(audio) ? audio.transcript : null,
    ...(Array.isArray(calls) ? (calls as unknown[]) : [call]).map(toolCallLine),
    toolCallLine(message),
  ];
  const text = said.map(nonBlank).filter((line) => line !== null);
  return { role: roleOf(role, type, Array.isArray(parts)), text: text.join('\n') };
}

function roleOf(role: unknown, type: unknown, isOfGemini: boolean): string {
  if (typeof role === 'string') return role === 'model' ? 'assistant' : role;
  if (type === 'function_call_output') return 'tool';
  // Gemini accepts a message without a role.
  return isOfGemini ? 'user' : 'assistant';
}

/** Returns the words of a part of a message; null for none, and for a model's thoughts. */
function partText(part: unknown): string | null {
  if (typeof part === 'string') return part;
  if (!isObject(part) || part.type === 'thinking' || part.thought === true) return null;
  if (typeof part.text === 'string') return part.text;
  if (part.type === 'refusal') return nonBlank(part.refusal);
  if (part.type === 'tool_result') return textOf(part.content) ?? toJsonText(part.content);
  if (isObject(part.functionResponse)) return toJsonText(part.functionResponse.response);
  return (
    toolCallLine(part) ?? `[${typeof part.type === 'string' ? part.type : Object.keys(part).join(', ')}]`
  );
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
function toolCallsText(message: JsonObject, writeCall: WriteToolCall): string | null {
  const { tool_calls: calls, function_call: call, content } = message;
  const listed = [
    ...(Array.isArray(calls) ? (calls as unknown[]) : []),
    ...(isObject(call) ? [call] : []),
    ...(Array.isArray(content) ? (content as unknown[]) : []),
  ];
  return linesOrNull(listed.map(writeCall));
}

function linesOrNull(lines: readonly (string | null)[]): string | null {
  const found = lines.filter((line) => line !== null);
  return found.length === 0 ? null : found.join('\n');
}

/** A tool call of any dialect: OpenAI's, Anthropic's `tool_use`, the Responses API's, Gemini's. */
type ToolCall = { name: string; given: unknown };

function readToolCall(item: unknown): ToolCall | null {
  if (!isObject(item)) return null;
  const inner = item.function ?? item.custom ?? item.functionCall ?? item;
  if (!isObject(inner) || typeof inner.name !== 'string') return null;
  const given = inner.arguments ?? inner.input ?? inner.args;
  if (given === undefined && inner === item && item.type !== 'tool_use' && item.type !== 'function_call')
    return null;
  return { name: inner.name, given };
}

/** Returns the name of the called tool. */
export function toolCallName(item: unknown): string | null {
  return readToolCall(item)?.name ?? null;
}

function toolCallLine(item: unknown): string | null {
  const call = readToolCall(item);
  if (call === null) return null;
  return `${call.name}(${typeof call.given === 'string' ? call.given : toJsonText(call.given)})`;
}

function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    // The value is nested too deep to be serialized.
    return '…';
  }
}
