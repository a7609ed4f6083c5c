/** Writes the values of conditions. */
import type { Operand } from '../nodes.ts';
import type { NamedField } from './names.ts';
import { printPart, printText, quoted } from './quote.ts';
import type { Condition } from './tree.ts';
import { literal } from './value.ts';

const ORDERS: ReadonlyMap<string, string> = new Map([
  ['gte', '>='],
  ['lte', '<='],
  ['gt', '>'],
  ['lt', '<'],
]);
/** A timestamp that needs no quotation marks. */
const PLAIN_TIME = /^[0-9][0-9TtZz:+-]*(?:\.[0-9TtZz:+-]+)?$/;
/** Milliseconds up to which a time is written with its unit: longer ones are no times that anyone waits for. */
const LONGEST_TIME_MS = 1e9;

/** Returns the text behind the colon of a condition, whose `not-` is written before the name. */
export function printValue(field: NamedField, { operator, operand }: Condition): string {
  const positive = operator.startsWith('not-') ? operator.slice('not-'.length) : operator;
  switch (positive) {
    case 'equals':
      return printOperand(field, operand);
    case 'contains':
      return `~${printText(String(operand), false)}`;
    case 'like':
      return printPattern(String(operand)) ?? `like:${quoted(String(operand))}`;
    case 'ilike': {
      const pattern = printPattern(String(operand));
      return pattern === null ? `ilike:${quoted(String(operand))}` : `~${pattern}`;
    }
    default:
      return `${ORDERS.get(positive)}${printNumber(field, operand)}`;
  }
}

/** Returns the text of a value that a field equals. */
export function printOperand(field: NamedField, operand: Operand): string {
  if (field.type === 'timestamp') return printNumber(field, operand);
  if (typeof operand === 'number') return printNumber(field, operand);
  return typeof operand === 'string' ? printText(operand, field.type === 'value') : String(operand);
}

/** Returns a number, or a moment, without an operator. */
export function printNumber({ unit }: NamedField, operand: Operand): string {
  if (typeof operand === 'string') return PLAIN_TIME.test(operand) ? operand : quoted(operand);
  const number = Number(operand);
  if (Object.is(number, -0)) return '-0';
  if (unit === 'ms' && Number.isInteger(number) && number > 0 && number < LONGEST_TIME_MS)
    return number % 1_000 === 0 ? `${number / 1_000}s` : `${number}ms`;
  return String(number);
}

/** Returns a pattern with `*`; null: it has a `_`, no `%`, or a `\` that `*` would not lead to. */
function printPattern(pattern: string): string | null {
  const pieces = piecesOf(pattern);
  if (pieces.length < 2 || pieces.map(literal).join('%') !== pattern) return null;
  return pieces
    .map((piece, index) => (index === 0 && piece !== '' ? printText(piece, false) : printPart(piece)))
    .join('*');
}

/** Returns the texts between the `%` of a pattern. */
function piecesOf(pattern: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]!;
    if (character === '%') {
      pieces.push(piece);
      piece = '';
    } else if (character === '\\') {
      at += 1;
      piece += pattern[at] ?? '';
    } else {
      piece += character;
    }
  }
  return [...pieces, piece];
}
