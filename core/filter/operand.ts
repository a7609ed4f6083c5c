/** Reads the operand of a comparison: by the field's type, or by the operand's own type for a value in a body. */

import { AssayError } from '../contracts/errors.ts';
import { quoteValue } from '../contracts/quote-value.ts';
import { storableText } from '../contracts/storable-text.ts';
import { type Field, type FieldType, OPERATORS_OF_TYPE, type Operator } from './fields.ts';
import { MAX_STRING_LENGTH } from './limits.ts';
import type { Comparison, Operand } from './nodes.ts';
import { EARLIEST_MS, LATEST_MS, parseMoment } from './timestamp.ts';

/** Returns the error for a filter that breaks a rule at `path`. */
export function invalid(path: string, problem: string): AssayError {
  return new AssayError('invalid_filter', `${path} ${problem}`);
}

/** Returns whether a text has too many characters: code points, so that an emoji counts as one. */
export function isTooLong(text: string): boolean {
  if (text.length <= MAX_STRING_LENGTH) return false;
  return text.length > 2 * MAX_STRING_LENGTH || [...text].length > MAX_STRING_LENGTH;
}

function article(type: FieldType): string {
  return type === 'value' ? 'a value' : `a ${type}`;
}

/**
 * Returns the operator called `name`.
 * @throws AssayError invalid_filter when the field's type has no such operator
 */
export function readOperator(name: string, { type }: Pick<Field, 'type'>, path: string): Operator {
  const allowed = OPERATORS_OF_TYPE[type];
  const operator = allowed.find((candidate) => candidate === name);
  if (operator !== undefined) return operator;
  throw invalid(path, `is not an operator of ${article(type)}: use one of ${allowed.join(', ')}`);
}

function readText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalid(path, `must be a string, but is ${quoteValue(value)}`);
  if (isTooLong(value)) {
    throw invalid(path, `must have at most ${MAX_STRING_LENGTH} characters, but has ${[...value].length}`);
  }
  return storableText(value);
}

function readNumber(value: unknown, path: string): number {
  if (typeof value !== 'number') throw invalid(path, `must be a number, but is ${quoteValue(value)}`);
  if (!Number.isFinite(value))
    throw invalid(path, `must be a number of at most 1.7976931348623157e308, but is larger`);
  return value;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

function readBoolean(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw invalid(path, `must be true or false, but is ${quoteValue(value)}`);
  return value;
}

function readTimestamp(value: unknown, path: string): number {
  const ms =
    typeof value === 'string' ? parseMoment(value) : typeof value === 'number' ? Math.floor(value) : null;
  if (ms === null || !(ms >= EARLIEST_MS && ms <= LATEST_MS)) {
    throw invalid(
      path,
      `must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z", a date like "2026-01-31" or milliseconds since the epoch, ` +
        `in the years 0001 to 9999, but is ${quoteValue(value)}`,
    );
  }
  return ms;
}

/** Refuses a pattern that ends with a `\` that escapes nothing: Postgres would refuse it without naming its place. */
function checkPattern(pattern: string, path: string): void {
  // By hand: a regular expression tries each row of backslashes again from each of its places.
  let start = pattern.length;
  while (pattern[start - 1] === '\\') start -= 1;
  if ((pattern.length - start) % 2 === 0) return;
  throw invalid(
    path,
    `must not end with a single \\: write \\\\ for a backslash, but is ${quoteValue(pattern)}`,
  );
}

function readEqualityOperand(type: FieldType, value: unknown, path: string): Operand {
  if (value === null) return null;
  switch (type) {
    case 'text':
      return readText(value, path);
    case 'uuid':
      // In the form that Postgres prints.
      if (typeof value === 'string' && UUID.test(value)) return value.toLowerCase();
      throw invalid(path, `must be a UUID, but is ${quoteValue(value)}`);
    case 'number':
      return readNumber(value, path);
    case 'boolean':
      return readBoolean(value, path);
    case 'timestamp':
      return readTimestamp(value, path);
    case 'value':
      if (typeof value === 'string') return readText(value, path);
      if (typeof value === 'boolean') return value;
      if (typeof value === 'number') return readNumber(value, path);
      throw invalid(path, `must be a string, a number, true, false or null, but is ${quoteValue(value)}`);
  }
}

/**
 * Returns the comparison by `operator` with `value`.
 * @throws AssayError invalid_filter
 */
export function readComparison(
  operator: Operator,
  type: FieldType,
  value: unknown,
  path: string,
): Comparison {
  switch (operator) {
    case 'equals':
    case 'not-equals':
      return { operator, operand: readEqualityOperand(type, value, path) };
    case 'gte':
    case 'lte':
    case 'gt':
    case 'lt':
    case 'not-gte':
    case 'not-lte':
    case 'not-gt':
    case 'not-lt':
      return {
        operator,
        operand: type === 'timestamp' ? readTimestamp(value, path) : readNumber(value, path),
      };
    case 'like':
    case 'ilike':
    case 'not-like':
    case 'not-ilike': {
      const pattern = readText(value, path);
      checkPattern(pattern, path);
      return { operator, operand: pattern };
    }
    case 'contains':
    case 'not-contains':
      return { operator, operand: readText(value, path) };
  }
}
