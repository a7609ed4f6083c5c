/** Reads single conditions of a query's text: a field with a value, `has:`, a text without a field. */
import { complementOf } from '../fields.ts';
import { readComparison, readOperator } from '../operand.ts';
import { bareText } from './bare-text.ts';
import type { Expression } from './join.ts';
import { findField, KNOWN_NAMES, type NamedField, printName, shortened } from './names.ts';
import type { Span, TokenKind } from './token.ts';
import { type Condition, leafOf } from './tree.ts';
import { type Comparisons, readPrefix, readValue, withoutPrefix } from './value.ts';
import { plainTextOf, readWord, textOf, type Word } from './words.ts';

/** State of reading a text, as its conditions need it. */
export type Reading = {
  readonly text: string;
  /** The next character. */
  at: number;
  push(kind: TokenKind, span: Span): void;
  /** Counts a leaf, and rejects one too many. */
  countLeaf(span: Span): void;
  checked<T>(span: Span, check: () => T, hint?: string): T;
  fail(rule: string, span: Span): never;
};

/** A condition that no request meets: every request has an id. */
const NONE: Condition = { section: 'request', field: 'id', operator: 'equals', operand: null };
/** Words that are meant as operators, with the correct spelling. */
const MISTAKEN: ReadonlyMap<string, string> = new Map([
  ['and', 'AND'],
  ['or', 'OR'],
  ['not', 'NOT'],
  ['&&', 'AND'],
  ['||', 'OR'],
  ['!', 'NOT'],
]);
/** A field with a comparison, as it looks where its colon is missing. */
const WITHOUT_COLON = /^([\w.-]+)(?:[<>]=?|!?=|~)/;

/** Returns a condition, or its complement. */
function conditionOf(condition: Condition, isNot: boolean): Expression {
  const operator = isNot ? complementOf(condition.operator) : condition.operator;
  return { kind: 'tree', tree: leafOf({ ...condition, operator }) };
}

/**
 * Reads the name before a colon and stops at the colon. `has` is a word of its own.
 * @returns null: there is no colon, and nothing is read
 */
export function readFieldName(reading: Reading): NamedField | 'has' | null {
  const word = readWord(reading.text, reading.at, true);
  const end = word.offset + word.length;
  if (reading.text[end] !== ':') return null;
  if (word.length === 0) reading.fail('must have the name of a field before it', { offset: end, length: 1 });
  const name = textOf(word);
  const field = name === 'has' ? 'has' : readField(reading, name, word);
  reading.at = end;
  reading.push('field', word);
  return field;
}

function readField(reading: Reading, name: string, span: Span): NamedField {
  const field = reading.checked(span, () => findField(name));
  return (
    field ?? reading.fail(`is not a field: ${KNOWN_NAMES}; a text with a colon needs quotation marks`, span)
  );
}

/** Reads `:feedback` behind `has`: whether a value is there. */
export function readHas(reading: Reading, isNot: boolean): Expression {
  const colon = { offset: reading.at, length: 1 };
  reading.push('operator', colon);
  const word = readWord(reading.text, reading.at + 1, false);
  if (word.length === 0) reading.fail('must have the name of a field behind it, as in has:feedback', colon);
  const { section, name: field } = readField(reading, textOf(word), word);
  reading.countLeaf(word);
  reading.push('field', word);
  reading.at = word.offset + word.length;
  return conditionOf({ section, field, operator: 'not-equals', operand: null }, isNot);
}

/**
 * Reads a value: behind the colon of its field, or in `field:(…)`.
 * @param from the colon, or the value
 */
export function readFieldValue(
  reading: Reading,
  field: NamedField,
  isNot: boolean,
  from: number,
): Expression {
  const isInGroup = reading.text[from] !== ':';
  const word = readWord(reading.text, isInGroup ? from : from + 1, false);
  const prefix = readPrefix(word.parts);
  const operator = { offset: from, length: word.offset - from + prefix.length };
  const value = { offset: word.offset + prefix.length, length: word.length - prefix.length };
  const parts = withoutPrefix(word.parts, prefix.length);
  reading.push('operator', operator);
  if (parts.length === 0) {
    const name = shortened(printName(field));
    reading.fail(
      `must have a value right behind it: ${name}:value, ${name}:"a text", ${name}:null`,
      operator,
    );
  }
  if (isInGroup) refuseMistaken(reading, word);
  reading.at = word.offset + word.length;
  const comparisons = checkComparisons(reading, field, readValue(field, prefix, parts), { operator, value });
  reading.push('value', value);
  const items = comparisons.map((comparison) =>
    conditionOf({ section: field.section, field: field.name, ...comparison }, isNot),
  );
  if (items.length === 1) return items[0]!;
  return { kind: 'list', operator: isNot ? 'or' : 'and', items };
}

const HINTS = {
  ms: ' (milliseconds, or with a unit: 500ms, 10s, 2m, 1h)',
  usd: ' (US dollars: 0.01 or $0.01)',
} as const;

/** Counts comparisons and checks them by the rules of filters. */
function checkComparisons(
  reading: Reading,
  field: NamedField,
  comparisons: Comparisons,
  spans: { operator: Span; value: Span },
): Comparisons {
  const name = shortened(printName(field));
  const hint = field.unit === null ? '' : HINTS[field.unit];
  for (const { operator, operand } of comparisons) {
    reading.countLeaf(spans.value);
    reading.checked(spans.operator, () => readOperator(operator, field, `${name}: ${operator}`));
    reading.checked(spans.value, () => readComparison(operator, field.type, operand, name), hint);
  }
  return comparisons;
}

/** Rejects words that are probably mistyped operators: searching all bodies for them would find nothing, slowly. */
function refuseMistaken(reading: Reading, word: Word): void {
  const plain = plainTextOf(word) ?? '';
  const meant = MISTAKEN.get(plain);
  if (meant === undefined) return;
  reading.fail(`is neither a text nor an operator: write ${meant}, or "${plain}" with quotation marks`, word);
}

function refuseMissingColon(reading: Reading, word: Word): void {
  const [first] = word.parts;
  const [, name] = (!first!.isQuoted && WITHOUT_COLON.exec(first!.text)) || [];
  if (name === undefined || reading.checked(word, () => findField(name)) === null) return;
  const rest = shortened(first!.text.slice(name.length));
  reading.fail(`a field needs a colon: ${shortened(name)}:${rest}; a text needs quotation marks`, word);
}

/** Reads a text without a field, or `*`, which every request passes. */
export function readText(reading: Reading, isNot: boolean): Expression {
  const word = readWord(reading.text, reading.at, false);
  const plain = plainTextOf(word);
  refuseMistaken(reading, word);
  refuseMissingColon(reading, word);
  reading.at = word.offset + word.length;
  if (plain === '*') {
    reading.push('text', word);
    if (!isNot) return { kind: 'tree', tree: 'all' };
    reading.countLeaf(word);
    return conditionOf(NONE, false);
  }
  if (word.parts.some(({ text, isQuoted }) => !isQuoted && text.includes('*')))
    reading.fail('a text is found anywhere without a *: leave it out, or use quotation marks', word);
  const text = textOf(word);
  if (text === '') reading.fail('must not be empty', word);
  reading.checked(word, () => readComparison('contains', 'text', text, 'a text'));
  const items = bareText(text).map((condition) => {
    reading.countLeaf(word);
    return conditionOf(condition, isNot);
  });
  reading.push('text', word);
  return { kind: 'list', operator: isNot ? 'and' : 'or', items };
}
