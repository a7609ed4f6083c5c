/** Quotation marks around texts: whether one needs them, and writing them. */
import { OPERATORS } from '../fields.ts';

/** Words that mean something else without quotation marks, in some place. */
const RESERVED = new Set(['AND', 'OR', 'NOT', 'and', 'or', 'not', 'null', 'true', 'false']);
const PLAIN_NAME = /^[\p{L}\p{N}_./@+-]+$/u;
const PLAIN_PART = /^[\p{L}\p{N}_./@+:-]*$/u;
const PLAIN_START = /^[\p{L}\p{N}_/@]/u;
const LETTER_START = /^[\p{L}_/@]/u;

/** Returns a text in quotation marks: a JSON string, so that no half of a surrogate pair and no control character is left. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Returns whether a name of a field, behind its first part, needs no quotation marks. */
export function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name);
}

/** Returns the operator that a value begins with, as in `like:gpt_4%`; null: none. */
export function namedOperator(value: string): (typeof OPERATORS)[number] | null {
  const colon = value.indexOf(':');
  if (colon === -1) return null;
  const name = value.slice(0, colon);
  return OPERATORS.find((operator) => operator === name) ?? null;
}

/** Returns a part of a value, behind its beginning, with quotation marks if it needs them. */
export function printPart(text: string): string {
  return PLAIN_PART.test(text) ? text : quoted(text);
}

/**
 * Returns the text of a value, or its beginning, with quotation marks if it needs them.
 * @param isTyped whether a number would not be a text
 */
export function printText(text: string, isTyped: boolean): string {
  const isPlain =
    (isTyped ? LETTER_START : PLAIN_START).test(text) &&
    PLAIN_PART.test(text) &&
    !RESERVED.has(text) &&
    namedOperator(text) === null;
  return isPlain ? text : quoted(text);
}
