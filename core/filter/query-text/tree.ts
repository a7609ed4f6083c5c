/** Filters as JSON, which the text stands for and `parseFilter` accepts. */
import type { Operator } from '../fields.ts';
import type { Operand } from '../nodes.ts';

/** One section, one field, one operator. */
export type LeafTree = {
  readonly [section: string]: { readonly [field: string]: { readonly [operator: string]: Operand } };
};
export type BranchTree = {
  readonly left: FilterTree;
  readonly operator: 'and' | 'or';
  readonly right: FilterTree;
};
/** A filter as callers send it and as it is stored. */
export type FilterTree = 'all' | LeafTree | BranchTree;

/** The parts of a leaf. */
export type Condition = { section: string; field: string; operator: Operator; operand: Operand };

/** Returns a condition as JSON. Computed names make `__proto__` a name like any other. */
export function leafOf({ section, field, operator, operand }: Condition): LeafTree {
  return { [section]: { [field]: { [operator]: operand } } };
}

export function isBranch(tree: FilterTree): tree is BranchTree {
  return typeof tree === 'object' && 'operator' in tree && 'left' in tree;
}

/** Returns the condition of a leaf; null for a branch, and for `all`. */
export function conditionOf(tree: FilterTree): Condition | null {
  if (tree === 'all' || isBranch(tree)) return null;
  for (const [section, fields] of Object.entries(tree)) {
    for (const [field, operators] of Object.entries(fields)) {
      for (const [operator, operand] of Object.entries(operators)) {
        return { section, field, operator: operator as Operator, operand };
      }
    }
  }
  return null;
}
