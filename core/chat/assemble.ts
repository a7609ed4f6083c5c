/**
 * A streamed chat completion put together again: the object that the same call without `stream` would have answered.
 */
import { createParser } from 'eventsource-parser';
import { isObject, type JsonObject } from '../json/mod.ts';

export type AssembledStream = {
  /** Shaped like a chat completion; `{}` when no event could be read. */
  completion: JsonObject;
  /** `[DONE]` or a finish reason was seen: the answer is whole. */
  complete: boolean;
};

type Choice = { index: number; message: JsonObject; finish_reason: unknown } & JsonObject;

/** Assembles the raw text of an event stream. Events that are not JSON objects are passed over. */
export function assembleStream(text: string): AssembledStream {
  const state = {
    completion: Object.create(null) as JsonObject,
    choices: new Map<number, Choice>(),
    complete: false,
  };
  const parser = createParser({
    onEvent: (event) => {
      if (event.data === '[DONE]') {
        state.complete = true;
        return;
      }
      const chunk = parseChunk(event.data);
      if (chunk !== null) mergeChunk(state, chunk);
    },
  });
  // The parser dispatches an event at its blank line: a last event without one still counts.
  parser.feed(`${text}\n\n`);
  const { completion, choices } = state;
  if (choices.size > 0) {
    completion.object = 'chat.completion';
    completion.choices = [...choices.values()].sort((a, b) => a.index - b.index);
  }
  return { completion, complete: state.complete };
}

function parseChunk(data: string): JsonObject | null {
  try {
    const chunk: unknown = JSON.parse(data);
    return isObject(chunk) ? chunk : null;
  } catch {
    return null;
  }
}

function mergeChunk(
  state: { completion: JsonObject; choices: Map<number, Choice>; complete: boolean },
  chunk: JsonObject,
): void {
  for (const [name, value] of Object.entries(chunk)) {
    if (name === 'choices' || value === null) continue;
    state.completion[name] = value;
  }
  if (!Array.isArray(chunk.choices)) return;
  for (const part of chunk.choices) {
    if (!isObject(part)) continue;
    const index = typeof part.index === 'number' ? part.index : 0;
    let choice = state.choices.get(index);
    if (choice === undefined) {
      choice = { index, message: { role: 'assistant', content: null }, finish_reason: null };
      state.choices.set(index, choice);
    }
    mergeChoice(choice, part);
    if (typeof part.finish_reason === 'string') state.complete = true;
  }
}

function mergeChoice(choice: Choice, part: JsonObject): void {
  for (const [name, value] of Object.entries(part)) {
    if (name === 'delta' || name === 'index' || value === null || value === undefined) continue;
    if (name === 'logprobs') choice.logprobs = mergeLogprobs(choice.logprobs, value);
    else choice[name] = value;
  }
  if (isObject(part.delta)) mergeDelta(choice.message, part.delta);
}

function mergeLogprobs(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const merged: JsonObject = { ...before };
  for (const [name, value] of Object.entries(after)) {
    const earlier = merged[name];
    merged[name] =
      Array.isArray(earlier) && Array.isArray(value) ? [...earlier, ...value] : (value ?? earlier);
  }
  return merged;
}

/** Text grows; `role` and other plain values are set; tool calls are merged by their index. */
function mergeDelta(message: JsonObject, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined) continue;
    if (name === 'tool_calls') message.tool_calls = mergeToolCalls(message.tool_calls, value);
    else if (name === 'function_call' && isObject(value))
      message.function_call = mergeFunction(message.function_call, value);
    else if (typeof value === 'string' && name !== 'role') message[name] = `${textOf(message[name])}${value}`;
    else if (Array.isArray(value) && Array.isArray(message[name]))
      message[name] = [...(message[name] as unknown[]), ...value];
    else message[name] = value;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function mergeToolCalls(before: unknown, parts: unknown): JsonObject[] {
  const calls = Array.isArray(before) ? (before as JsonObject[]) : [];
  if (!Array.isArray(parts)) return calls;
  for (const part of parts) {
    if (!isObject(part)) continue;
    const { index, ...rest } = part;
    // Providers that send whole calls leave the index out: each is a new one.
    const at = typeof index === 'number' && index >= 0 && index < MAX_TOOL_CALLS ? index : calls.length;
    while (calls.length <= at) calls.push({});
    const call = calls[at]!;
    for (const [name, value] of Object.entries(rest)) {
      if (value === null || value === undefined) continue;
      if (name === 'function' && isObject(value)) call.function = mergeFunction(call.function, value);
      else call[name] = value;
    }
  }
  return calls;
}

const MAX_TOOL_CALLS = 1_000;

function mergeFunction(before: unknown, part: JsonObject): JsonObject {
  const merged: JsonObject = isObject(before) ? before : {};
  for (const [name, value] of Object.entries(part)) {
    if (typeof value === 'string' && name === 'arguments')
      merged.arguments = `${textOf(merged.arguments)}${value}`;
    else if (value !== null && value !== undefined) merged[name] = value;
  }
  return merged;
}
