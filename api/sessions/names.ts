import type { SessionNameRow } from '#core/contracts/session.ts';
import { containing, type Statement } from '#core/filter/mod.ts';
import { type Draft, draftFor, finish } from './conditions.ts';
import type { SessionsQuery } from './read-query.ts';
import { averageOf } from './session-json.ts';

/** A name as the statement returns it. */
export type StoredName = {
  name: string;
  first_at: Date;
  last_at: Date;
  sessions: string;
  latency_ms: string;
  timed_requests: string;
};

/** Selects the names in the requests that a FROM clause finds, the most recently used first. */
export function namesPage(
  organizationId: string,
  { limit, offset, names }: SessionsQuery,
  from: (draft: Draft) => string,
): Statement {
  const draft = draftFor(organizationId);
  const { parameters } = draft;
  const pattern = containing(names.contains ?? '');
  // Grouped by session first: a count of distinct ids would sort all requests.
  const text = `
    select t.name, min(t.first_at) as first_at, max(t.last_at) as last_at, count(*) as sessions,
           sum(t.latency_ms) as latency_ms, sum(t.timed_requests) as timed_requests
      from (
        select r.session_name collate "C" as name, min(r.created_at) as first_at, max(r.created_at) as last_at,
               coalesce(sum(r.latency_ms), 0) as latency_ms, count(r.latency_ms) as timed_requests
          ${from(draft)} and r.session_name is not null
            and r.session_name collate "default" ilike ${parameters.bind(pattern, 'text')}
         group by 1, r.session_id) t
     group by t.name
     order by last_at desc, t.name
     limit ${parameters.bind(limit, 'int8')} offset ${parameters.bind(offset, 'int8')}`;
  return finish(draft, text);
}

/** Returns a name as the API shows it. */
export function nameJson(row: StoredName): SessionNameRow {
  const first = row.first_at.toISOString();
  return {
    name: row.name,
    created_at: first,
    first_used: first,
    last_used: row.last_at.toISOString(),
    session_count: Number(row.sessions),
    avg_latency: averageOf(row.latency_ms, row.timed_requests),
  };
}
