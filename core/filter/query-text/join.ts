/** Makes trees of two-sided branches out of lists. */
import { MAX_DEPTH } from '../limits.ts';
import type { FilterTree } from './tree.ts';

/** Expression of a text: conditions, in lists of any length. */
export type Expression =
  | { readonly kind: 'tree'; readonly tree: FilterTree }
  | { readonly kind: 'list'; readonly operator: 'and' | 'or'; readonly items: readonly Expression[] };

type Joined = { readonly tree: FilterTree; readonly depth: number };

/**
 * Returns an expression as a filter; null: it would be too deep. `a b c` becomes `(a b) c`, so that every filter can be
 * written; where that is deeper than filters may be, all lists become balanced trees.
 */
export function joined(expression: Expression): FilterTree | null {
  for (const join of [joinFromLeft, joinBalanced]) {
    const { tree, depth } = joinWith(join, expression);
    if (depth <= MAX_DEPTH) return tree;
  }
  return null;
}

type Join = (operator: 'and' | 'or', items: readonly Joined[]) => Joined;

function joinWith(join: Join, expression: Expression): Joined {
  if (expression.kind === 'tree') return { tree: expression.tree, depth: 0 };
  return join(
    expression.operator,
    expression.items.map((item) => joinWith(join, item)),
  );
}

function both(operator: 'and' | 'or', left: Joined, right: Joined): Joined {
  const tree = { left: left.tree, operator, right: right.tree };
  return { tree, depth: 1 + Math.max(left.depth, right.depth) };
}

const joinFromLeft: Join = (operator, items) => items.reduce((left, right) => both(operator, left, right));

const joinBalanced: Join = (operator, items) => {
  if (items.length === 1) return items[0]!;
  const half = Math.ceil(items.length / 2);
  return both(
    operator,
    joinBalanced(operator, items.slice(0, half)),
    joinBalanced(operator, items.slice(half)),
  );
};
