/** One page of rows: its keys, and the cursors of its neighbours. */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import {
  findSortedKey,
  type Position,
  type RequestQuery,
  type SortedKey,
  walkKeys,
} from '../requests/mod.ts';

/** Place of a page. `newest`: around the newest request that passes the filter. */
export type PagePlace =
  | { kind: 'first' }
  | { kind: 'after' | 'before'; position: Position }
  | { kind: 'around'; requestId: string }
  | { kind: 'newest' };

/** The keys of a page, and the positions that its neighbours begin behind; null: there are no more requests on that side. */
export type RowPage = { keys: SortedKey[]; next: Position | null; prev: Position | null };

const EMPTY: RowPage = { keys: [], next: null, prev: null };

/** The walks of one page. */
type PageReader = {
  limit: number;
  /** Finds up to `limit` keys and one more. */
  walk(from: Position | null, backwards: boolean): Promise<SortedKey[]>;
};

const behind = (key: SortedKey | undefined): Position | null =>
  key === undefined ? null : { key, isIncluded: false };

/** Finds a page; null when the request that it should be around does not exist. */
export async function findPage(
  tx: TransactionSql,
  organizationId: string,
  query: RequestQuery,
  place: PagePlace,
): Promise<RowPage | null> {
  const reader: PageReader = {
    limit: query.limit,
    walk: (from, backwards) =>
      walkKeys(tx, organizationId, query, { from, backwards, limit: query.limit + 1 }),
  };
  switch (place.kind) {
    case 'first':
      return forwards(reader, null);
    case 'after':
      return forwards(reader, place.position);
    case 'before':
      return backwards(reader, place.position);
    case 'around': {
      const key = await findSortedKey(tx, organizationId, query.sort, place.requestId);
      return key === null ? null : around(reader, key);
    }
    case 'newest': {
      // In an order of time the newest is at one of its ends.
      if (query.sort.field === 'created_at')
        return query.sort.direction === 'desc' ? forwards(reader, null) : backwards(reader, null);
      const byTime: RequestQuery = { ...query, sort: { field: 'created_at', direction: 'desc' } };
      const walk = { from: null, backwards: false, limit: 1 };
      const [newest] = await walkKeys(tx, organizationId, byTime, walk);
      if (newest === undefined) return EMPTY;
      const key = await findSortedKey(tx, organizationId, query.sort, newest.request_id);
      return key === null ? EMPTY : around(reader, key);
    }
  }
}

/** Returns the way back from a position behind which nothing is left: it includes the request that may still be there. */
function backFrom(position: Position | null): Position | null {
  return position === null ? null : { ...position, isIncluded: true };
}

async function forwards({ limit, walk }: PageReader, from: Position | null): Promise<RowPage> {
  const found = await walk(from, false);
  const keys = found.slice(0, limit);
  const next = found.length > limit ? behind(keys.at(-1)) : null;
  // The request at the position was on the page before; whether it still is there costs a statement to find out.
  return { keys, next, prev: from === null ? null : (behind(keys[0]) ?? backFrom(from)) };
}

async function backwards({ limit, walk }: PageReader, from: Position | null): Promise<RowPage> {
  const found = await walk(from, true);
  const keys = found.slice(0, limit).reverse();
  const prev = found.length > limit ? behind(keys[0]) : null;
  return { keys, next: from === null ? null : (behind(keys.at(-1)) ?? backFrom(from)), prev };
}

/** Half of the page is before the place, unless one side has fewer requests than that. */
async function around({ limit, walk }: PageReader, key: SortedKey): Promise<RowPage> {
  const from = await walk({ key, isIncluded: true }, false);
  const before = await walk({ key, isIncluded: false }, true);
  const half = Math.floor(limit / 2);
  const count = Math.min(before.length, Math.max(half, limit - from.length));
  const earlier = before.slice(0, count).reverse();
  const later = from.slice(0, limit - count);
  const keys = [...earlier, ...later];
  return {
    keys,
    next: from.length > later.length ? behind(keys.at(-1)) : null,
    prev: before.length > count ? behind(keys[0]) : null,
  };
}
