/** Finds the JSON objects in a text, with their places. */
import { isObject, type JsonObject } from '#core/json/mod.ts';

/** A JSON object in a text. */
export type FoundObject = {
  value: JsonObject;
  /** The object as written. */
  text: string;
  /** `fenced`: alone in a code fence. `last`: alone on the last line. `within`: among other words. */
  place: 'fenced' | 'last' | 'within';
  /** The text behind its fence; empty for other places. */
  after: string;
};

/** Braces tried. A verdict has one or two; a text with more than this is not searched to its end. */
const MAX_TRIES = 200;

const FENCE_AFTER = /^\s*```/;

/** Returns the objects; null when the text has too many braces to be searched to its end. */
export function findObjects(text: string): FoundObject[] | null {
  const found: FoundObject[] = [];
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1; tries += 1) {
    if (tries === MAX_TRIES) return null;
    const end = findObjectEnd(text, at);
    const value = end === -1 ? null : parseObject(text.slice(at, end));
    if (value !== null) {
      const place = placeOf(text, at, end);
      const after = place === 'fenced' ? text.slice(end).replace(FENCE_AFTER, '') : '';
      found.push({ value, text: text.slice(at, end), place, after });
    }
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

/** Returns the index after the brace that closes the one at `start`; -1 when it is not closed. */
function findObjectEnd(text: string, start: number): number {
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
/** Longer than the line of any fence. */
const FENCE_CHARACTERS = 60;

function placeOf(text: string, start: number, end: number): FoundObject['place'] {
  const before = text.slice(Math.max(0, start - FENCE_CHARACTERS), start);
  const after = text.slice(end, end + FENCE_CHARACTERS);
  if (FENCE_BEFORE.test(before) && FENCE_AFTER.test(after)) return 'fenced';
  const isLast = text.slice(end).trim() === '' && !text.slice(start, end).includes('\n');
  const lineBefore = text.slice(text.lastIndexOf('\n', start) + 1, start);
  return isLast && lineBefore.trim() === '' ? 'last' : 'within';
}
