/** JSON whose numbers survive being read and written again, as 64-bit ids in a tool's arguments must. */
import { isObject, type JsonObject } from './shape.ts';

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** A number as it was written. `JSON.stringify` copies it. */
export type RawNumber = { readonly rawJSON: string };

/** From ECMAScript's "JSON.parse source text access", in every runtime that we support and not yet in the types. */
const exact = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Without these a number is neither too long nor too large for a double, and needs no second look. */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/;

/** A double holds so many significant digits, and prints no more. */
const DIGITS_OF_DOUBLE = 17;

/**
 * Parses JSON; a number that a double cannot hold is kept as it was written. Others are numbers, however they are
 * written.
 * @throws SyntaxError, or RangeError for what such a number lies too deep in
 */
export function parseExactJson(text: string): unknown {
  if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isLost(value, source)
      ? exact.rawJSON(source)
      : value,
  );
}

/**
 * The same for text that should be an object; null: it is something else.
 * @throws SyntaxError, RangeError
 */
export function parseExactObject(text: string): JsonObject | null {
  const value = parseExactJson(text);
  return isObject(value) && !isRawNumber(value) ? value : null;
}

/** Whether a value is a number that `parseExactJson` has kept as it was written. */
export function isRawNumber(value: unknown): value is RawNumber {
  return exact.isRawJSON(value);
}

function isLost(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true;
  if (Number.isInteger(value)) return !Number.isSafeInteger(value);
  const digits = source.replace(/[eE].*/, '').replace(/^[-0.]+|\./g, '');
  return digits.length > DIGITS_OF_DOUBLE;
}
