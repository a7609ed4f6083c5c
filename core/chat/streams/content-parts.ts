/**
 * Content that comes as a list of parts, as Mistral streams its thoughts, with more text behind it as text. Neighbours of
 * one kind become one part, as in the answer without a stream.
 */
import { isObject, type JsonObject } from '../../json/mod.ts';
import { appendText } from './members.ts';

/** Adds a piece to a message's content: text, or a list of parts. What is neither takes the place of what was there. */
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

/** The same where only texts grow. What is within is not followed further down: it could be nested without end. */
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

/** A part that has more, such as its sources, stays apart: put into another it would lose them. */
function hasOnly(part: unknown, type: string, names: readonly string[]): part is JsonObject {
  return isObject(part) && part.type === type && Object.keys(part).every((name) => names.includes(name));
}
