/**
 * Content that arrives as a list of parts, as Mistral streams its reasoning, followed by plain text. Neighbouring parts of
 * one kind are joined, as in the answer without a stream.
 */
import { isObject, type JsonObject } from '../../json-values/mod.ts';
import { appendText } from './members.ts';

/** Adds a piece to a message's content: text, or a list of parts. Any other value replaces the content. */
export function mergeContent(message: JsonObject, piece: unknown): void {
  const before = message.content;
  if (Array.isArray(piece)) {
    const parts: unknown[] = Array.isArray(before) ? before : partsOfText(before);
    for (const part of piece) addPart(parts, part);
    message.content = parts;
  } else if (typeof piece !== 'string') message.content = piece;
  else if (!Array.isArray(before)) appendText(message, 'content', piece);
  else for (const part of partsOfText(piece)) addPart(before, part);
}

function partsOfText(text: unknown): JsonObject[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [];
}

function addPart(parts: unknown[], part: unknown): void {
  const last = parts.at(-1);
  if (isThinking(last) && isThinking(part)) {
    for (const thought of part.thinking) addText(last.thinking, thought);
    if ('closed' in part) last.closed = part.closed;
  } else addText(parts, part);
}

/** Adds a part to a list in which only text parts are joined. Nested lists are not followed: nesting has no limit. */
function addText(parts: unknown[], part: unknown): void {
  const last = parts.at(-1);
  if (isText(last) && isText(part)) appendText(last, 'text', part.text);
  else parts.push(part);
}

function isText(part: unknown): part is JsonObject & { text: string } {
  return hasOnly(part, 'text', ['type', 'text']) && typeof part.text === 'string';
}

function isThinking(part: unknown): part is JsonObject & { thinking: unknown[] } {
  return hasOnly(part, 'thinking', ['type', 'thinking', 'closed']) && Array.isArray(part.thinking);
}

/** Returns whether a part has only these members. A part with more, such as its sources, would lose them by joining. */
function hasOnly(part: unknown, type: string, names: readonly string[]): part is JsonObject {
  return isObject(part) && part.type === type && Object.keys(part).every((name) => names.includes(name));
}
