/** The list that the address names, and the sessions it finds. */
import type { SessionRow } from '#core/contracts/session.ts';
import { call } from '../../client/call.ts';
import { type Resource, useResource } from '../../client/resource.ts';
import { type Address, useAddress } from '../../state/address.ts';
import { type Range, useRange } from '../../state/range.ts';
import { readPages, stretchOf } from './stretch.ts';

export type SessionQuery = {
  q: string;
  /** A text in the id or a name. */
  search: string;
  /** A name. */
  name: string;
  range: Range & { set: (name: string) => void };
};

export type SessionList = SessionQuery & {
  address: Address;
  /** Pages that are shown. */
  pages: number;
  /** Sessions before the first one that is shown. */
  offset: number;
  sessions: readonly SessionRow[];
  hasMore: boolean;
  rows: Resource<SessionRow[]>;
};

/** Returns what every query of sessions takes. */
export function bodyOf({ q, range }: Pick<SessionQuery, 'q' | 'range'>): Record<string, unknown> {
  return {
    ...(q.trim() === '' ? {} : { q }),
    ...(range.from === 0 ? {} : { timeFilter: { startTimeUnixMs: range.from, endTimeUnixMs: range.to } }),
  };
}

/** Loads sessions. */
export async function loadSessions(
  { search, name, ...query }: SessionQuery,
  place: { offset: number; limit: number },
  signal: AbortSignal,
): Promise<SessionRow[]> {
  const body = {
    ...bodyOf(query),
    ...(search === '' ? {} : { search }),
    ...(name === '' ? {} : { nameEquals: name }),
    ...place,
  };
  return await call<SessionRow[]>('POST', '/v1/session/query', body, signal);
}

/** Reads the address and loads the list. */
export function useSessions(): SessionList {
  const address = useAddress();
  const { query } = address;
  const range = useRange();
  const asked = { q: query.q ?? '', search: query.search ?? '', name: query.name ?? '', range };
  const pages = readPages(query.page);
  const { offset, limit } = stretchOf(pages);
  const key = `sessions ${JSON.stringify([asked.q, asked.search, asked.name, range.name, pages])}`;
  const rows = useResource(key, (signal) =>
    // One more tells whether there are more.
    loadSessions(asked, { offset, limit: limit + 1 }, signal),
  );
  const found = rows.data ?? [];
  return {
    ...asked,
    address,
    pages,
    offset,
    sessions: found.slice(0, limit),
    hasMore: found.length > limit,
    rows,
  };
}
