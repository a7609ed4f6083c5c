/** JSON whose numbers survive being read and written again, as 64-bit ids in a tool's arguments must. */

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** From ECMAScript's "JSON.parse source text access", in every runtime that we support and not yet in the types. */
const exact = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): unknown;
};

/** Without these a number is neither too long nor too large for a double, and needs no second look. */
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/;

/** A double holds so many significant digits, and prints no more. */
const DIGITS_OF_DOUBLE = 17;

/**
 * Parses JSON; a number that a double cannot hold is kept as raw JSON, which `JSON.stringify` copies. Others are
 * numbers, however they are written.
 * @throws SyntaxError
 */
export function parseExactJson(text: string): unknown {
  if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && isLost(value, source)
      ? exact.rawJSON(source)
      : value,
  );
}

function isLost(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true;
  if (Number.isInteger(value)) return !Number.isSafeInteger(value);
  const digits = source.replace(/[eE].*/, '').replace(/^[-0.]+|\./g, '');
  return digits.length > DIGITS_OF_DOUBLE;
}
