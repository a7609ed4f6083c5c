/**
 * Values of one indexed column of which a request may have any, as `user:(a OR b)` asks for. Postgres finds the requests of one
 * value in order of time by the index; for several it walks all requests until a page is full, or sorts all that have one.
 */
import { compare } from './compare.ts';
import {
  EQUALITY_INDEXES,
  FEW_ROWS,
  hasIndexedValue,
  type KeySource,
  type Listing,
  requestRows,
} from './key-source.ts';
import type { Comparison, Filter, Leaf } from './nodes.ts';

/** The most values whose lists are merged; with more, Postgres chooses. */
const MOST_ALTERNATIVES = 20;

function isAlternative({ field, comparison }: Leaf): boolean {
  return (
    field.kind === 'column' &&
    EQUALITY_INDEXES.has(field.column) &&
    comparison.operator === 'equals' &&
    comparison.operand !== null
  );
}

/** Returns the leaves of which at least one holds; null: not all are values of an indexed column. */
function joinedByOr(filter: Filter): Leaf[] | null {
  if (filter.kind === 'leaf') return isAlternative(filter) ? [filter] : null;
  if (filter.kind === 'all' || filter.operator === 'and') return null;
  const left = joinedByOr(filter.left);
  const right = left === null ? null : joinedByOr(filter.right);
  return left === null || right === null ? null : [...left, ...right];
}

/**
 * Returns the values of one indexed column of which every match has one, as `user:(a OR b)` asks for; null: there are none. Postgres
 * finds the requests of one value in order of time by the index, but for several it walks all requests, or sorts all of theirs.
 */
export function alternativesOf(filter: Filter): readonly Leaf[] | null {
  if (filter.kind !== 'branch') return null;
  if (filter.operator === 'and') return alternativesOf(filter.left) ?? alternativesOf(filter.right);
  const leaves = joinedByOr(filter);
  if (leaves === null) return null;
  const distinct = new Map(leaves.map((leaf) => [leaf.comparison.operand, leaf]));
  const isOneColumn = leaves.every(({ field }) => columnOf(field) === columnOf(leaves[0]!.field));
  return isOneColumn && distinct.size <= MOST_ALTERNATIVES ? [...distinct.values()] : null;
}

function columnOf(field: Leaf['field']): string | null {
  return field.kind === 'column' ? field.column : null;
}

/** Returns the alternatives by whose index the matches can be walked in order of time; null where Postgres had better not. */
export function alternativesToWalk(filter: Filter): readonly Leaf[] | null {
  return hasIndexedValue(filter) ? null : alternativesOf(filter);
}

/** Returns the source of leaves that `alternativesOf` has returned: the requests of each value in order of time. */
export function alternativesSource(filter: Filter, leaves: readonly Leaf[]): KeySource {
  return {
    yields: 'rows',
    rest: filter,
    few: FEW_ROWS,
    // A list has no fence: Postgres merges the lists in order of time, reads no more of each than a page takes, and no week that the
    // rest of the filter excludes.
    compile: (listing) => {
      const isLimited = listing.tail.startsWith('limit');
      const own = isLimited ? listing : { ...listing, tail: '' };
      const lists = leaves.map(({ field, comparison }) => alternativeRows(field, comparison, own));
      if (lists.length === 1) return lists[0]!;
      return `${lists.map((list) => `(${list})`).join(' union all ')}${isLimited ? ` ${listing.tail}` : ''}`;
    },
  };
}

function alternativeRows(field: Leaf['field'], comparison: Comparison, listing: Listing): string {
  if (field.kind !== 'column') throw new Error(`No index lists the values of a field of kind ${field.kind}`);
  const { direction, parameters } = listing;
  const condition = compare(`r.${field.column}`, field.type, comparison, parameters);
  return requestRows(condition, `r.created_at ${direction}, r.request_id ${direction}`, listing);
}
