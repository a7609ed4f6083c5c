/**
 * Walks the requests of a query in the order of its sort, from a position on, in either direction. An index is entered at the
 * position, so that page 1,000 costs as much as page 1, and new requests do not shift the others.
 */
import type { SortField } from '#core/contracts/query.ts';
import { MAX_ROWS } from '#core/contracts/rows.ts';
import { type KeySource, Parameters, type Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { fromFound } from './conditions.ts';
import type { RequestQuery } from './query.ts';
import { SORT_COLUMNS } from './sort-columns.ts';
import { type SortedKey, sortValue } from './sorted-key.ts';
import { findOrderedSource, findShortSource } from './sources.ts';
import { runStatement } from './statement.ts';

/** A place in the order of a sort: where a request is, or was. */
export type Position = {
  key: SortedKey;
  /** Whether a request in this very place belongs to the walk. */
  isIncluded: boolean;
};

/**
 * A walk: towards the end of the sort's order, or `backwards`; `from` null: from the end where it begins. `limit` is at most
 * that of a page and one more.
 */
export type Walk = { from: Position | null; backwards: boolean; limit: number };

/** Requests with a value come before those without one, in every sort; `both` is the whole order. */
type Part = 'valued' | 'null' | 'both';

type Order = { field: SortField; direction: 'asc' | 'desc' };

function orderOf({ sort }: RequestQuery, { backwards }: Walk): Order {
  const isAscending = (sort.direction === 'asc') !== backwards;
  return { field: sort.field, direction: isAscending ? 'asc' : 'desc' };
}

/**
 * Returns the parts of an order that are walked one after the other. No index holds a whole order behind a position: nulls
 * are at its end, and an index that is read backwards begins with them. A short list needs no index.
 */
function partsOf({ sort }: RequestQuery, { from, backwards }: Walk, isShort: boolean): Part[] {
  if (sort.field === 'created_at' || isShort) return ['both'];
  if (from === null) return backwards ? ['null', 'valued'] : ['valued', 'null'];
  if (backwards) return from.key.value === null ? ['null', 'valued'] : ['valued'];
  return from.key.value === null ? ['null'] : ['valued', 'null'];
}

/** Finds the keys of a walk, in its order. */
export async function walkKeys(
  tx: TransactionSql,
  organizationId: string,
  query: RequestQuery,
  walk: Walk,
): Promise<SortedKey[]> {
  const short = await findShortSource(tx, organizationId, query);
  const source = short ?? findOrderedSource(query);
  const keys: SortedKey[] = [];
  for (const part of partsOf(query, walk, source !== null)) {
    const rest = { ...walk, limit: walk.limit - keys.length };
    const statement = walkStatement(organizationId, query, source, rest, part);
    keys.push(...(await runStatement<SortedKey>(tx, statement)).slice(0, rest.limit));
    if (keys.length === walk.limit) break;
  }
  return keys;
}

/** Returns whether a query finds all requests. */
function isUnfiltered({ filter, isCached, isPartOfExperiment, isScored }: RequestQuery): boolean {
  return filter.kind === 'all' && !isCached && !isPartOfExperiment && !isScored;
}

/**
 * Selects the keys of one part of a walk. Of all requests: as many keys as the longest page needs, from an index alone, so
 * that Postgres knows their number without values, and plans once. Planning over all partitions takes longer than all else
 * that Postgres does for a page.
 */
function walkStatement(
  organizationId: string,
  query: RequestQuery,
  source: KeySource | null,
  walk: Walk,
  part: Part,
): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const order = orderOf(query, walk);
  const column = SORT_COLUMNS[order.field];
  const isByTime = order.field === 'created_at';
  const behind =
    walk.from === null
      ? () => null
      : isByTime
        ? timeBound(walk.from, order, parameters)
        : valueBound(walk.from, order, part, walk.backwards, parameters);
  const conditions = [behind('r')];
  if (part === 'valued') conditions.push(`r.${column} is not null`);
  if (part === 'null') conditions.push(`r.${column} is null`);
  const from = fromFound(query, source, {
    organization,
    parameters,
    columns: isByTime ? 'r.created_at, r.request_id' : `r.created_at, r.request_id, r.${column}`,
    joins: false,
    also: conditions.filter((condition) => condition !== null),
    direction: order.direction,
    bound: isByTime ? behind : () => null,
  });
  const isPlannedOnce = source === null && isUnfiltered(query);
  const limit = isPlannedOnce ? MAX_ROWS + 1 : parameters.bind(walk.limit, 'int8');
  const text =
    `select r.created_at, r.request_id, ${sortValue(query.sort)} as value ${from} order by ${orderBy(order, part, walk.backwards, source)} ` +
    `limit ${limit}`;
  return { text, values: parameters.values, isPlannedOnce };
}

/** Writes a condition on the columns of a table; null: there is none. */
type Bound = (table: string) => string | null;

/** Bounds the time by itself, because Postgres prunes partitions by it. */
function timeBound({ key, isIncluded }: Position, { direction }: Order, parameters: Parameters): Bound {
  const time = parameters.bind(key.created_at.toISOString(), 'timestamptz');
  const id = parameters.bind(key.request_id, 'text');
  const sign = direction === 'asc' ? '>' : '<';
  return (table) =>
    `${table}.created_at ${sign}= ${time} and ` +
    `(${table}.created_at, ${table}.request_id) ${sign}${isIncluded ? '=' : ''} (${time}, ${id})`;
}

/** Returns the bound of a part that the position lies in; a part that is entered at its beginning has none. */
function valueBound(
  { key, isIncluded }: Position,
  { field, direction }: Order,
  part: Part,
  backwards: boolean,
  parameters: Parameters,
): Bound {
  const column = SORT_COLUMNS[field];
  const sign = `${direction === 'asc' ? '>' : '<'}${isIncluded ? '=' : ''}`;
  if (key.value === null) {
    if (part === 'valued') return () => null;
    const id = parameters.bind(key.request_id, 'text');
    const amongNulls = (table: string) => `${table}.${column} is null and ${table}.request_id ${sign} ${id}`;
    return (table) =>
      backwards && part === 'both'
        ? `(${amongNulls(table)} or ${table}.${column} is not null)`
        : amongNulls(table);
  }
  if (part === 'null') return () => null;
  const value = parameters.bind(key.value, 'int8');
  const id = parameters.bind(key.request_id, 'text');
  const amongValues = (table: string) =>
    `(${table}.${column}, ${table}.request_id) ${sign} (${value}, ${id})`;
  return (table) =>
    !backwards && part === 'both'
      ? `(${amongValues(table)} or ${table}.${column} is null)`
      : amongValues(table);
}

/** Orders nulls as the index, read in this direction, has them, so that no sort is needed. */
function orderBy(
  { field, direction }: Order,
  part: Part,
  backwards: boolean,
  source: KeySource | null,
): string {
  // Keys that an index yields in order of time need no sort either.
  if (field === 'created_at') {
    const table = source?.yields === 'keys' ? 'k' : 'r';
    return `${table}.created_at ${direction}, ${table}.request_id ${direction}`;
  }
  const areNullsFirst = part === 'both' ? backwards : direction === 'asc';
  const nulls = areNullsFirst ? 'first' : 'last';
  return `r.${SORT_COLUMNS[field]} ${direction} nulls ${nulls}, r.request_id ${direction}`;
}
