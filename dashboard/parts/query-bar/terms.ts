/** A query's text as the terms that must all hold, each with its place: what chips show and a click changes. */
import {
  conditionOf,
  type FilterTree,
  isBranch,
  parseQuery,
  readQueryText,
} from '#core/filter/query-text/mod.ts';

/** A part of the text that reads as a filter by itself. */
export type Term = {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly tree: FilterTree;
  /** Whether the text beside it needs parentheses around this: it is joined by OR, and the whole text. */
  readonly isOpen: boolean;
};

/** The text that was read last: all values of a page ask about the same one. */
let last: { q: string; terms: readonly Term[] | null } | null = null;

/** Returns the terms of a text, of which one joined by OR is a single one; null: the text has a mistake. */
export function readTerms(q: string): readonly Term[] | null {
  if (last?.q !== q) last = { q, terms: parseTerms(q) };
  return last.terms;
}

function parseTerms(q: string): Term[] | null {
  const { tokens, filter, error } = readQueryText(q);
  if (error !== null || filter === null) return null;
  const terms: Term[] = [];
  let depth = 0;
  let from: number | null = null;
  for (const [index, { kind, offset, length }] of tokens.entries()) {
    if (depth === 0 && kind === 'or') {
      return [{ from: 0, to: q.length, text: q, tree: filter, isOpen: true }];
    }
    if (depth === 0 && kind === 'and') continue;
    from ??= offset;
    if (kind === 'open') depth += 1;
    if (kind === 'close') depth -= 1;
    const isLast =
      kind === 'close' ||
      kind === 'text' ||
      kind === 'value' ||
      // The second field of `has:feedback`.
      (kind === 'field' && tokens[index + 1]?.kind !== 'operator');
    if (depth > 0 || !isLast) continue;
    const to = offset + length;
    const text = q.slice(from, to);
    terms.push({ from, to, text, tree: parseQuery(text), isOpen: false });
    from = null;
  }
  return terms;
}

/** Returns a text without one of its terms, and without the AND before or behind it. */
export function withoutTerm(q: string, terms: readonly Term[], index: number): string {
  const [before, term, after] = [terms[index - 1], terms[index], terms[index + 1]];
  if (term === undefined) return q;
  if (before !== undefined) return q.slice(0, before.to) + q.slice(term.to);
  return after === undefined ? '' : q.slice(after.from);
}

type Operand = NonNullable<ReturnType<typeof conditionOf>>['operand'];

/** Values of one field, one of which a request has, or none of which it has. */
export type Values = {
  readonly section: string;
  readonly field: string;
  readonly isNot: boolean;
  readonly operands: readonly Operand[];
};

/** Returns what `user:a`, `-user:a`, `user:(a OR b)` and `-user:(a OR b)` say; null for any other term. */
export function valuesOf(tree: FilterTree): Values | null {
  if (!isBranch(tree)) {
    const condition = conditionOf(tree);
    if (condition === null) return null;
    const { section, field, operator, operand } = condition;
    if (operator !== 'equals' && operator !== 'not-equals') return null;
    return { section, field, isNot: operator === 'not-equals', operands: [operand] };
  }
  const [left, right] = [valuesOf(tree.left), valuesOf(tree.right)];
  if (left === null || right === null || !isSameField(left, right)) return null;
  if (left.isNot !== right.isNot || left.isNot !== (tree.operator === 'and')) return null;
  return { ...left, operands: [...left.operands, ...right.operands] };
}

type Named = Pick<Values, 'section' | 'field'>;

/** Whether two names mean the same field: properties ignore case. */
export function isSameField(one: Named, other: Named): boolean {
  if (one.section !== other.section) return false;
  if (one.section !== 'properties') return one.field === other.field;
  return one.field.toLowerCase() === other.field.toLowerCase();
}

const NEGATION = /^(?:-|NOT\s+)/;

/** Returns the text of the term that finds all others. */
export function negatedTerm({ text, isOpen }: Pick<Term, 'text' | 'isOpen'>): string {
  if (isOpen) return `-(${text})`;
  return NEGATION.test(text) ? text.replace(NEGATION, '') : `-${text}`;
}
