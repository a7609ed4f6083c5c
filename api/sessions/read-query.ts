/** Checks the bodies of `/v1/session…/query`, and makes them the queries that statements take. */
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import {
  DEFAULT_SESSIONS,
  type SessionMetricsQueryBody,
  type SessionNameQueryBody,
  type SessionQueryBody,
} from '#core/contracts/session.ts';
import { storableSessionText, storableText } from '#core/contracts/storable-text.ts';
import { type Filter, parseFilter } from '#core/filter/mod.ts';

/** A time from `from` up to, without, `to`; null: no bound. */
export type Window = { from: Date | null; to: Date | null };

/** Conditions on the names of a session; null: none. */
export type Names = {
  /** A text in the id or in a name. */
  search: string | null;
  /** A text in a name. */
  contains: string | null;
  equals: string | null;
};

export type SessionsQuery = {
  window: Window;
  filter: Filter;
  names: Names;
  limit: number;
  offset: number;
};

type Body = SessionQueryBody & SessionNameQueryBody & SessionMetricsQueryBody;

/**
 * Returns a query with its filter parsed and its defaults filled in.
 * @throws AssayError invalid_filter, invalid_body
 */
export function readSessionsQuery(body: Partial<Body>): SessionsQuery {
  const { search = '', nameContains = '', nameEquals, limit = DEFAULT_SESSIONS, offset = 0 } = body;
  return {
    window: readWindow(body.timeFilter),
    filter: parseFilter(filterOf(body, { otherwise: 'all' })),
    names: {
      search: search === '' ? null : storableText(search),
      contains: nameContains === '' ? null : storableText(nameContains),
      equals: nameEquals === undefined ? null : storableSessionText(nameEquals),
    },
    limit,
    offset,
  };
}

function readWindow(timeFilter: Body['timeFilter']): Window {
  if (timeFilter === undefined) return { from: null, to: null };
  const { startTimeUnixMs: start, endTimeUnixMs: end } = timeFilter;
  if (end < start)
    throw invalidField(
      'timeFilter.endTimeUnixMs',
      `must be at least startTimeUnixMs, ${start}, but is ${end}`,
    );
  return { from: new Date(start), to: new Date(end) };
}
