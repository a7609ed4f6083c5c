import type { Field, NotOrderOperator, OrderOperator, PatternOperator } from './fields.ts';

/**
 * The comparison of a field with an operand. Timestamps are milliseconds since the epoch. `null`, allowed with equals and
 * not-equals only, tests whether the value is missing or present.
 */
export type Comparison =
  | { readonly operator: 'equals' | 'not-equals'; readonly operand: Operand }
  | { readonly operator: OrderOperator | NotOrderOperator; readonly operand: number }
  | { readonly operator: PatternOperator; readonly operand: string };

export type Operand = string | number | boolean | null;

/** One comparison of one field. */
export type Leaf = { readonly kind: 'leaf'; readonly field: Field; readonly comparison: Comparison };

/** Two filters, both or at least one of which a request must pass. */
export type Branch = {
  readonly kind: 'branch';
  readonly operator: 'and' | 'or';
  readonly left: Filter;
  readonly right: Filter;
};

/** A checked filter: every name is known or bounded, every operand fits its field. Deeply frozen. */
export type Filter = { readonly kind: 'all' } | Leaf | Branch;

/** The filter that every request passes. */
export const ALL: Filter = Object.freeze({ kind: 'all' });
