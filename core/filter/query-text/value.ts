/** Values: the word behind a field's colon, as an operator and an operand. */
import { complementOf, type FieldType, type Operator } from '../fields.ts';
import type { Operand } from '../nodes.ts';
import type { NamedField } from './names.ts';
import { namedOperator } from './quote.ts';
import { type Part, plainTextOf, textOf } from './words.ts';

/** One comparison, or the two of a range. */
export type Comparisons = readonly { readonly operator: Operator; readonly operand: Operand }[];

/** The operator at the beginning of a value, with the length of its text. */
type Prefix = { readonly length: number; readonly operator: Operator | 'pattern-or-equals' };

/** The longer of two that begin alike comes first. */
const SYMBOLS: readonly (readonly [symbol: string, operator: Operator | 'pattern-or-equals'])[] = [
  ['>=', 'gte'],
  ['<=', 'lte'],
  ['>', 'gt'],
  ['<', 'lt'],
  ['!=', 'not-equals'],
  ['~', 'contains'],
  ['=', 'pattern-or-equals'],
];

/** Returns the operator that a value begins with, `like:` or `>=`; the usual one, of no length, where there is none. */
export function readPrefix([first]: readonly Part[]): Prefix & { readonly isNamed: boolean } {
  if (first !== undefined && !first.isQuoted) {
    const name = namedOperator(first.text);
    if (name !== null) return { length: name.length + 1, operator: name, isNamed: true };
    const symbol = SYMBOLS.find(([candidate]) => first.text.startsWith(candidate));
    if (symbol !== undefined) return { length: symbol[0].length, operator: symbol[1], isNamed: false };
  }
  return { length: 0, operator: 'pattern-or-equals', isNamed: false };
}

/** Returns the parts of a value behind its operator. */
export function withoutPrefix(parts: readonly Part[], length: number): readonly Part[] {
  if (length === 0) return parts;
  const [first, ...rest] = parts;
  const text = first!.text.slice(length);
  return text === '' ? rest : [{ text, isQuoted: false }, ...rest];
}

/**
 * Returns the comparisons of a field with a value. `readComparison` checks that the field's type has the operator and takes the
 * operand.
 * @param parts behind the operator; at least one
 */
export function readValue(
  { type, unit }: NamedField,
  { operator, isNamed }: Pick<ReturnType<typeof readPrefix>, 'operator' | 'isNamed'>,
  parts: readonly Part[],
): Comparisons {
  if (isNamed && operator !== 'pattern-or-equals')
    return [{ operator, operand: operandFor(operator, { type, unit }, parts) }];
  if (operator === 'pattern-or-equals') {
    const range = readRange({ type, unit }, parts);
    if (range !== null) return range;
  }
  const hasStar = parts.some(({ text, isQuoted }) => !isQuoted && text.includes('*'));
  if (!hasStar) {
    const plain = operator === 'pattern-or-equals' ? 'equals' : operator;
    return [{ operator: plain, operand: operandFor(plain, { type, unit }, parts) }];
  }
  return [{ operator: patternOperator(operator), operand: patternOf(parts) }];
}

function patternOperator(operator: Prefix['operator']): Operator {
  if (operator === 'contains') return 'ilike';
  if (operator === 'not-equals') return complementOf('like');
  return operator === 'pattern-or-equals' ? 'like' : operator;
}

/** Returns the pattern of a value: `*` outside of quotation marks is any text, everything else is literal. */
function patternOf(parts: readonly Part[]): string {
  return parts
    .map(({ text, isQuoted }) => (isQuoted ? literal(text) : text.split('*').map(literal).join('%')))
    .join('');
}

/** Returns a pattern that fits a text alone. */
export function literal(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

type Typed = { readonly type: FieldType; readonly unit: NamedField['unit'] };

function operandFor(operator: Operator, typed: Typed, parts: readonly Part[]): Operand {
  switch (operator) {
    case 'like':
    case 'not-like':
    case 'ilike':
    case 'not-ilike':
    case 'contains':
    case 'not-contains':
      return textOf({ parts });
    default:
      return operandOf(typed, parts);
  }
}

/** Returns a value by its field's type; a word that is no such value stays a text, for the sentence that refuses it. */
function operandOf({ type, unit }: Typed, parts: readonly Part[]): Operand {
  const plain = plainTextOf({ parts });
  if (plain === null) return textOf({ parts });
  if (plain === 'null') return null;
  switch (type) {
    case 'text':
    case 'uuid':
      return plain;
    case 'boolean':
      return booleanOf(plain) ?? plain;
    case 'number':
      return numberOf(plain, unit) ?? plain;
    case 'timestamp':
      return numberOf(plain, null) ?? plain;
    case 'value':
      return booleanOf(plain) ?? numberOf(plain, null) ?? plain;
  }
}

function booleanOf(text: string): boolean | null {
  if (text === 'true') return true;
  return text === 'false' ? false : null;
}

const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** The units of a time with their milliseconds: a factor and a power of ten, which moves the decimal point exactly. */
const TIMES = { ms: [1, 0], s: [1, 3], m: [6, 4], h: [36, 5] } as const;
const WITH_TIME = /^(-?(?:\d+(?:\.\d+)?|\.\d+))(ms|s|m|h)$/;
const WITH_MONEY = /^\$(.*)$|^(.*)usd$/;

/** Returns the number that a text writes, in the field's unit; null: none. */
function numberOf(text: string, unit: NamedField['unit']): number | null {
  if (NUMBER.test(text)) return Number(text);
  if (unit === 'ms') {
    const [, digits, name] = WITH_TIME.exec(text) ?? [];
    if (digits === undefined) return null;
    const [factor, power] = TIMES[name as keyof typeof TIMES];
    return Number(`${digits}e${power}`) * factor;
  }
  if (unit === 'usd') {
    const [, before, after = before] = WITH_MONEY.exec(text) ?? [];
    return after !== undefined && NUMBER.test(after) ? Number(after) : null;
  }
  return null;
}

/** Returns the comparisons of a range `a..b`, which is from `a` up to, but not including, `b`; null: the value is none. */
function readRange(typed: Typed, parts: readonly Part[]): Comparisons | null {
  if (typed.type !== 'number' && typed.type !== 'timestamp' && typed.type !== 'value') return null;
  const index = parts.findIndex(({ text, isQuoted }) => !isQuoted && text.includes('..'));
  if (index === -1) return null;
  const { text } = parts[index]!;
  const dots = text.indexOf('..');
  const plain = (piece: string): Part[] => (piece === '' ? [] : [{ text: piece, isQuoted: false }]);
  const ends = [
    { operator: 'gte', parts: [...parts.slice(0, index), ...plain(text.slice(0, dots))] },
    { operator: 'lt', parts: [...plain(text.slice(dots + 2)), ...parts.slice(index + 1)] },
  ] as const;
  const given = ends
    .filter((end) => end.parts.length > 0)
    .map((end) => ({ operator: end.operator, operand: operandOf(typed, end.parts) }));
  // In a body, a text may have two dots.
  if (typed.type === 'value' && given.some(({ operand }) => typeof operand !== 'number')) return null;
  return given.length === 0 ? null : given;
}
