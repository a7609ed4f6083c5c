/** Messages of every dialect as they are shown. */
import { isObject, type JsonObject } from '#core/json-values/mod.ts';
import { type Keeper, shortText } from './keeper.ts';
import { dataPart, joinTexts, readContent, readToolCall, resultPart } from './read-parts.ts';
import type { Message, Part } from './types.ts';

/** Calls of tools in one message; the rest is a tree. */
const MOST_CALLS = 200;

/**
 * Reads a message, or an item of the Responses API.
 * @param role of an item that names none
 */
export function readMessage(value: unknown, role: string, keeper: Keeper): Message {
  if (!isObject(value)) {
    const parts = typeof value === 'string' ? readContent(value, keeper) : [dataPart(value, 'Input', keeper)];
    return { role, detail: null, parts };
  }
  if (isItem(value))
    return { role: roleOfItem(value, role), detail: null, parts: readContent([value], keeper) };
  const own = shortText(value.role) ?? role;
  const isResult = own === 'tool' || own === 'function';
  const parts = isResult
    ? [resultPart(value.content, shortText(value.tool_call_id), value.is_error === true, keeper)]
    : partsOf(value, keeper);
  return { role: own, detail: shortText(value.name), parts };
}

/** Items of the Responses API that are no messages, such as a tool's call. */
function isItem({ type, role }: JsonObject): boolean {
  return typeof type === 'string' && type !== 'message' && role === undefined;
}

function roleOfItem({ type }: JsonObject, role: string): string {
  if (String(type).endsWith('_output')) return 'tool';
  return type === 'reasoning' || String(type).endsWith('_call') ? 'assistant' : role;
}

function partsOf(message: JsonObject, keeper: Keeper): Part[] {
  const thoughts = joinTexts(message.reasoning_content) ?? joinTexts(message.reasoning);
  const { refusal, audio, tool_calls: calls, function_call: call } = message;
  const parts: Part[] = [];
  if (thoughts !== null && thoughts !== '') parts.push({ kind: 'thinking', text: keeper.text(thoughts) });
  parts.push(...readContent(message.content ?? message.parts, keeper));
  if (typeof refusal === 'string' && refusal !== '')
    parts.push({ kind: 'refusal', text: keeper.text(refusal) });
  if (isObject(audio)) {
    parts.push({ kind: 'chip', label: 'Audio', detail: shortText(audio.id) ?? 'in the answer' });
    parts.push(...readContent(audio.transcript, keeper));
  }
  const listed = [...(isObject(call) ? [call] : []), ...(Array.isArray(calls) ? (calls as unknown[]) : [])];
  for (const one of listed.slice(0, MOST_CALLS)) {
    const read = isObject(one) ? readToolCall(one, keeper) : null;
    parts.push(read ?? dataPart(one, 'Tool call', keeper));
  }
  if (listed.length > MOST_CALLS)
    parts.push(dataPart(listed.slice(MOST_CALLS), `${listed.length - MOST_CALLS} more tool calls`, keeper));
  return parts;
}
