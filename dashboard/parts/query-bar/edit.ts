/**
 * Changes of a query's text by a click on a value. The text stays as it was written, except for the term that changes. A text
 * with a mistake finds nothing that could be clicked: it gives way to the new condition.
 */
import {
  conditionOf,
  type FilterTree,
  findNamed,
  isBranch,
  leafOf,
  parseQuery,
  printQuery,
} from '#core/filter/query-text/mod.ts';
import { isSameField, readTerms, type Term, type Values, valuesOf, withoutTerm } from './terms.ts';

/** A value as the API gives it; null: the requests that have none. */
export type FieldValue = string | number | boolean | null;
export type Polarity = { readonly exclude?: boolean };

/**
 * Returns the text with a condition added: requests with this value, or (`exclude`) all others.
 * - It is there already: nothing changes. Its opposite is there: it takes its place.
 * - Another value of the field is asked for, as in `user:a`: a request has one value, so both at once would find nothing.
 *   Either is looked for then: `user:(a OR b)`. Excluded values are all excluded.
 * @param field as in the text, without quotation marks: `status`, `response.model`, `property.user tier`
 * @example addCondition('status:500', 'user', 'Anna "B"') // 'status:500 user:"Anna \\"B\\""'
 */
export function addCondition(
  q: string,
  field: string,
  value: FieldValue,
  { exclude = false }: Polarity = {},
): string {
  const wanted = valuesFor(field, value, exclude);
  if (wanted === null) return q;
  const base = removeCondition(q, field, value, { exclude: !exclude });
  const terms = readTerms(base);
  if (terms === null || terms.every(({ tree }) => tree === 'all')) return print(wanted);
  if (findTerm(terms, wanted, hasAll) !== -1) return base;
  const alike = exclude ? -1 : findTerm(terms, wanted, () => true);
  if (alike !== -1) {
    const { operands } = valuesOf(terms[alike]!.tree)!;
    return replaced(base, terms[alike]!, { ...wanted, operands: [...operands, ...wanted.operands] });
  }
  return appended(base, terms, print(wanted));
}

/** Returns the text without a condition: a value of `user:(a OR b)` leaves the other. */
export function removeCondition(
  q: string,
  field: string,
  value: FieldValue,
  { exclude = false }: Polarity = {},
): string {
  const unwanted = valuesFor(field, value, exclude);
  const terms = unwanted === null ? null : readTerms(q);
  if (unwanted === null || terms === null) return q;
  const index = findTerm(terms, unwanted, hasAll);
  if (index === -1) return q;
  const values = valuesOf(terms[index]!.tree)!;
  const operands = values.operands.filter((operand) => operand !== unwanted.operands[0]);
  const next =
    operands.length === 0
      ? withoutTerm(q, terms, index)
      : replaced(q, terms[index]!, { ...values, operands });
  // It may have been written twice.
  return removeCondition(next, field, value, { exclude });
}

/** Whether the text has the condition, by itself or as one of several values. */
export function hasCondition(
  q: string,
  field: string,
  value: FieldValue,
  { exclude = false }: Polarity = {},
): boolean {
  const wanted = valuesFor(field, value, exclude);
  return wanted !== null && findTerm(readTerms(q) ?? [], wanted, hasAll) !== -1;
}

/** Returns the values of a field that the text asks for or excludes. */
export function conditionsOn(q: string, field: string): { value: FieldValue; exclude: boolean }[] {
  const named = nameOf(field);
  if (named === null) return [];
  return (readTerms(q) ?? []).flatMap(({ tree }) => {
    const values = valuesOf(tree);
    if (values === null || !isSameField(values, named)) return [];
    return values.operands.map((value) => ({ value, exclude: values.isNot }));
  });
}

/**
 * Returns the text without its terms on a field, for the counts of that field's other values.
 * @example withoutField('status:500 user:(a OR b)', 'user') // 'status:500'
 */
export function withoutField(q: string, field: string): string {
  const named = nameOf(field);
  const terms = readTerms(q);
  if (named === null || terms === null) return q;
  const index = terms.findIndex(({ tree }) => {
    const values = valuesOf(tree);
    return values !== null && isSameField(values, named);
  });
  return index === -1 ? q : withoutField(withoutTerm(q, terms, index), field);
}

/** Whether the text has a term that means the same. */
export function hasTerm(q: string, text: string): boolean {
  const wanted = JSON.stringify(parseQuery(text));
  return (readTerms(q) ?? []).some(({ tree }) => JSON.stringify(tree) === wanted);
}

/**
 * Returns the text with a term in the place of all that are about its field alone.
 * @param text null: without them
 * @example withTerm('status:500 user:a', 'status', 'status:200..300') // 'user:a status:200..300'
 */
export function withTerm(q: string, field: string, text: string | null): string {
  const named = nameOf(field);
  const terms = readTerms(q);
  if (named === null || terms === null) return text ?? '';
  const index = terms.findIndex(({ tree }) => tree === 'all' || isAbout(tree, named));
  if (index !== -1) return withTerm(withoutTerm(q, terms, index), field, text);
  return terms.length === 0 || text === null ? (text ?? q.trim()) : appended(q, terms, text);
}

function isAbout(tree: FilterTree, named: Pick<Values, 'section' | 'field'>): boolean {
  if (isBranch(tree)) return isAbout(tree.left, named) && isAbout(tree.right, named);
  const condition = conditionOf(tree);
  return condition !== null && isSameField(condition, named);
}

function appended(q: string, terms: readonly Term[], text: string): string {
  const isOpen = terms.some((term) => term.isOpen);
  return `${isOpen ? `(${q.trim()})` : q.trim()} ${text}`;
}

function nameOf(field: string): Pick<Values, 'section' | 'field'> | null {
  const named = findNamed(field);
  return named === null ? null : { section: named.section, field: named.name };
}

/** Returns a condition; null: there is no such field. */
function valuesFor(field: string, value: FieldValue, isNot: boolean): Values | null {
  const named = findNamed(field);
  if (named === null) return null;
  const operand = named.type === 'text' && value !== null ? String(value) : value;
  return { section: named.section, field: named.name, isNot, operands: [operand] };
}

function findTerm(
  terms: readonly Term[],
  wanted: Values,
  accepts: (values: Values, wanted: Values) => boolean,
): number {
  return terms.findIndex(({ tree }) => {
    const values = valuesOf(tree);
    return (
      values !== null &&
      values.isNot === wanted.isNot &&
      isSameField(values, wanted) &&
      accepts(values, wanted)
    );
  });
}

function hasAll({ operands }: Values, wanted: Values): boolean {
  return wanted.operands.every((operand) => operands.includes(operand));
}

function replaced(q: string, { from, to }: Term, values: Values): string {
  return q.slice(0, from) + print(values) + q.slice(to);
}

function print({ section, field, isNot, operands }: Values): string {
  const operator = isNot ? 'not-equals' : 'equals';
  const leaves = operands.map((operand): FilterTree => leafOf({ section, field, operator, operand }));
  return printQuery(leaves.reduce((left, right) => ({ left, operator: isNot ? 'and' : 'or', right })));
}
