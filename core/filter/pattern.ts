/**
 * SQL for comparisons by a pattern. Postgres compares each byte of a text with each of a pattern at worst, and neither a
 * time limit nor a cancellation ends that: a long pattern and a large text are compared in steps (decision 0059).
 */
import type { PatternOperator } from './fields.ts';
import type { Comparison } from './nodes.ts';
import type { Parameters } from './parameters.ts';

/** A comparison by a pattern. */
export type PatternComparison = Extract<Comparison, { operator: PatternOperator }>;

/** Bytes of the text times characters of a piece in one step: two seconds at worst. */
const STEP = 1_000_000_000;

/** Returns whether a comparison is one by a pattern. */
export function isByPattern(comparison: Comparison): comparison is PatternComparison {
  return /(?:like|contains)$/.test(comparison.operator);
}

/** Writes the comparison of a text by a pattern. */
export function compareByPattern(
  expression: string,
  comparison: PatternComparison,
  parameters: Parameters,
): string {
  const pattern = patternOf(comparison);
  return negatedIf(isNegative(comparison), like(expression, { pattern, comparison }, parameters));
}

/** Writes the same comparison of a text that may have megabytes: a large one, compared with a long pattern, in steps. */
export function compareLargeByPattern(
  expression: string,
  comparison: PatternComparison,
  parameters: Parameters,
): string {
  const pattern = patternOf(comparison);
  const pieces = piecesOf(pattern);
  const longest = longestSearched(pieces);
  if (longest === 0) return compareByPattern(expression, comparison, parameters);
  const inSteps =
    `assay.like_in_steps(large.value, ${parameters.bind(pieces, 'text[]')}, ` +
    `${ignoresCase(comparison)}, ${parameters.bind(String(STEP), 'int8')})`;
  const condition =
    `(select case when octet_length(large.value) <= ${parameters.bind(String(Math.floor(STEP / longest)), 'int8')} ` +
    `then ${like('large.value', { pattern, comparison }, parameters)} else ${inSteps} end ` +
    `from (select ${expression} as value offset 0) large)`;
  return negatedIf(isNegative(comparison), condition);
}

function negatedIf(isNegative: boolean, condition: string): string {
  return isNegative ? `(${condition}) is not true` : condition;
}

function isNegative({ operator }: PatternComparison): boolean {
  return operator.startsWith('not-');
}

function ignoresCase({ operator }: PatternComparison): boolean {
  return operator !== 'like' && operator !== 'not-like';
}

/** Columns have the collation "C", which folds the case of ASCII letters only; the database's own folds all letters. */
function like(
  expression: string,
  { pattern, comparison }: { pattern: string; comparison: PatternComparison },
  parameters: Parameters,
): string {
  const operator = ignoresCase(comparison) ? 'collate "default" ilike' : 'like';
  return `${expression} ${operator} ${parameters.bind(pattern, 'text')}`;
}

/** Returns the pattern of `like`. */
function patternOf({ operator, operand }: PatternComparison): string {
  if (!operator.endsWith('contains')) return operand;
  return containing(operand);
}

/** Returns the pattern of `like` for texts that contain a text: its own `%`, `_` and `\` are literal. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Returns what stands between the `%` of a pattern. */
function piecesOf(pattern: string): string[] {
  // A token is a character, or one that is literal, as in "\%".
  const pieces = [''];
  for (const [token] of pattern.matchAll(/\\?./gsu)) {
    if (token === '%') pieces.push('');
    else pieces[pieces.length - 1] += token;
  }
  return pieces;
}

/** Returns the length of the longest piece that Postgres looks for at each place: all but the first, which has its own. */
function longestSearched(pieces: readonly string[]): number {
  return Math.max(0, ...pieces.slice(1).map(({ length }) => length));
}
