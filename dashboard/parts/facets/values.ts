/** The rows of a facet: what was counted, and what the query has although it was not. */
import type { Facets } from '#core/contracts/facets.ts';
import type { FieldValue } from '../query-bar/edit.ts';

export type FacetRow = {
  readonly value: FieldValue;
  readonly count: number;
  readonly state: 'included' | 'excluded' | 'free';
};

type Condition = { readonly value: FieldValue; readonly exclude: boolean };

/**
 * Returns the counted values in their order; behind them those of the query that were not counted, with none.
 * @param conditions of the query on the field
 */
export function facetRows(counted: Facets['values'], conditions: readonly Condition[]): FacetRow[] {
  const stateOf = (value: FieldValue): FacetRow['state'] => {
    const found = conditions.find((condition) => condition.value === value);
    if (found === undefined) return 'free';
    return found.exclude ? 'excluded' : 'included';
  };
  const rows = counted.map(({ value, count }) => ({ value, count, state: stateOf(value) }));
  const isNew = ({ value }: Condition, index: number) =>
    !counted.some((one) => one.value === value) &&
    conditions.findIndex((other) => other.value === value) === index;
  const others = conditions.filter(isNew).map(({ value }) => ({ value, count: 0, state: stateOf(value) }));
  return [...rows, ...others];
}
