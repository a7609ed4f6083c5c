/** The JSON objects in a text, with where they stand. */
import { isObject, type JsonObject } from '#core/json/mod.ts';

export type FoundObject = {
  value: JsonObject;
  /** As written. */
  text: string;
  /** `fenced`: alone in a code fence. `last`: alone on the last line. `within`: among other words. */
  place: 'fenced' | 'last' | 'within';
};

/** A verdict has one or two braces; a text with more is searched no further. */
const MAX_TRIES = 200;

/** Finds the objects; null when the text has so many braces that it was not searched to its end. */
export function findObjects(text: string): FoundObject[] | null {
  const found: FoundObject[] = [];
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1; tries += 1) {
    if (tries === MAX_TRIES) return null;
    const end = endOfObject(text, at);
    const value = end === -1 ? null : parseObject(text.slice(at, end));
    if (value !== null) found.push({ value, text: text.slice(at, end), place: placeOf(text, at, end) });
    at = text.indexOf('{', value === null ? at + 1 : end);
  }
  return found;
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Behind the brace that closes the one at `start`; -1 when none does. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === '\\') at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

const FENCE_BEFORE = /(?:^|\n)[ \t]*```[ \t]*\w{0,12}[ \t]*\n?\s*$/;
const FENCE_AFTER = /^\s*```/;
/** Longer than any fence's line. */
const FENCE_CHARACTERS = 60;

function placeOf(text: string, start: number, end: number): FoundObject['place'] {
  const before = text.slice(Math.max(0, start - FENCE_CHARACTERS), start);
  const after = text.slice(end, end + FENCE_CHARACTERS);
  if (FENCE_BEFORE.test(before) && FENCE_AFTER.test(after)) return 'fenced';
  const isLast = text.slice(end).trim() === '' && !text.slice(start, end).includes('\n');
  const lineBefore = text.slice(text.lastIndexOf('\n', start) + 1, start);
  return isLast && lineBefore.trim() === '' ? 'last' : 'within';
}
