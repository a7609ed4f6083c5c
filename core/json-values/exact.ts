/** JSON whose numbers stay exact when it is read and written again, as 64-bit ids in a tool's arguments must. */
import { isObject, type JsonObject } from './shape.ts';

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** A number as it was written. `JSON.stringify` copies it. */
export type RawNumber = { readonly rawJSON: string };

/** ECMAScript's "JSON.parse source text access": in every supported runtime, and not yet in the types. */
const exact = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Finds numbers that may be too long or too large for a double; a text without a match needs no further check. */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/;

/** The most significant digits that a double holds, and prints. */
const DIGITS_OF_DOUBLE = 17;

/**
 * Parses JSON; a number that a double cannot hold is kept as it was written. All others become numbers.
 * @throws SyntaxError, or RangeError when such a number is nested too deep
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
 * Parses JSON as `parseExactJson` does; null when it is not an object.
 * @throws SyntaxError, RangeError
 */
export function parseExactObject(text: string): JsonObject | null {
  const value = parseExactJson(text);
  return isObject(value) && !isRawNumber(value) ? value : null;
}

/** Returns whether a value is a number that `parseExactJson` has kept as it was written. */
export function isRawNumber(value: unknown): value is RawNumber {
  return exact.isRawJSON(value);
}

function isLost(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true;
  if (Number.isInteger(value)) return !Number.isSafeInteger(value);
  const digits = source.replace(/[eE].*/, '').replace(/^[-0.]+|\./g, '');
  return digits.length > DIGITS_OF_DOUBLE;
}
