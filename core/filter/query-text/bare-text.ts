/** Text without a field: looked for in both bodies, and compared with the ids of requests and users. */
import { complementOf } from '../fields.ts';
import { type Condition, conditionOf, type FilterTree, isBranch } from './tree.ts';

/** Joined by "or", from the left. Their complements, joined by "and", find the requests that a text does not. */
const PLACES = [
  { section: 'request', field: 'body', operator: 'contains' },
  { section: 'response', field: 'body', operator: 'contains' },
  { section: 'request', field: 'id', operator: 'equals' },
  { section: 'request', field: 'user_id', operator: 'equals' },
] as const;

/** Returns the conditions of a text without a field. */
export function bareText(text: string): Condition[] {
  return PLACES.map((place) => ({ ...place, operand: text }));
}

/** Returns the text that a filter looks for everywhere; null: it is another filter. */
export function bareTextOf(tree: FilterTree): { text: string; isNot: boolean } | null {
  if (!isBranch(tree)) return null;
  const text = conditionOf(tree.right)?.operand;
  if (typeof text !== 'string' || text === '') return null;
  const isNot = tree.operator === 'and';
  let rest: FilterTree = tree;
  for (const [index, place] of [...PLACES.entries()].toReversed()) {
    const isFirst = index === 0;
    if (!isFirst && !(isBranch(rest) && rest.operator === tree.operator)) return null;
    const found: Condition | null = conditionOf(isFirst || !isBranch(rest) ? rest : rest.right);
    const operator = isNot ? complementOf(place.operator) : place.operator;
    if (found?.section !== place.section || found.field !== place.field) return null;
    if (found.operator !== operator || found.operand !== text) return null;
    if (!isFirst && isBranch(rest)) rest = rest.left;
  }
  return { text, isNot };
}
