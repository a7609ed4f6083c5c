/** The requests of a batch's events, and those of them that pass a webhook's filter. */
import type { RequestKey } from '#core/contracts/changes.ts';
import { compileFilter, Parameters, parseFilter, type Statement } from '#core/filter/mod.ts';
import { type TransactionSql, withinTime } from '#platform/postgres/mod.ts';

/** Facts of a request that its events need. */
export type Facts = { apiKeyId: string | null; userId: string | null; errorCode: string | null };

type OwnedKey = RequestKey & { organizationId: string };

/** Returns a name of a request, unique within its organization. */
export function nameOfKey({ createdAt, requestId }: RequestKey): string {
  return `${createdAt.getTime()} ${requestId}`;
}

/**
 * Reads the facts of requests: one for each key, null for requests that are gone, and for judges' calls, which raise no events.
 */
export async function readFacts(tx: TransactionSql, keys: readonly OwnedKey[]): Promise<(Facts | null)[]> {
  if (keys.length === 0) return [];
  const rows = await tx<(Facts & { isThere: boolean })[]>`
    select r.request_id is not null as "isThere", r.api_key_id as "apiKeyId", r.user_id as "userId",
           r.error_code as "errorCode"
      from unnest(${keys.map(({ organizationId }) => organizationId)}::uuid[],
                  ${keys.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
                  ${keys.map(({ requestId }) => requestId)}::text[])
             with ordinality as k (organization_id, created_at, request_id, position)
      left join lateral (
        select request_id, api_key_id, user_id, error_code from assay.requests r
         where r.organization_id = k.organization_id and r.created_at = k.created_at and r.request_id = k.request_id
           and r.source <> 'evaluator' offset 0) r on true
     order by k.position`;
  return rows.map(({ isThere, ...facts }) => (isThere ? facts : null));
}

/**
 * Returns the keys that pass a filter. It runs in a savepoint, within a time: a filter that Postgres refuses, or that takes
 * too long, leaves the transaction as it was.
 * @throws AssayError for a filter that another version of Assay has stored; the errors of Postgres
 */
export async function passFilter(
  tx: TransactionSql,
  organizationId: string,
  filter: unknown,
  keys: readonly RequestKey[],
  timeoutMs: number,
): Promise<RequestKey[]> {
  const { text, values } = filterStatement(organizationId, filter, keys);
  const rows = await withinTime(tx, timeoutMs, (savepoint) =>
    savepoint.unsafe<{ position: number }[]>(text, [...values] as never[], { prepare: false }),
  );
  return rows.map(({ position }) => keys[position - 1]!);
}

function filterStatement(organizationId: string, filter: unknown, keys: readonly RequestKey[]): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const times = keys.map(({ createdAt }) => createdAt.toISOString());
  const ids = keys.map(({ requestId }) => requestId);
  const table = `unnest(${parameters.bind(times, 'text[]')}::timestamptz[], ${parameters.bind(ids, 'text[]')})`;
  const within = inWeeksOf(keys, parameters);
  // Fenced, so that each key is looked up by the primary key, whatever Postgres estimates for the filter. Planned for the weeks
  // of the keys: with years of weeks, planning alone would take the time of all filters.
  const text = `
    select k.position::int4 as position
      from ${table} with ordinality as k (created_at, request_id, position)
     cross join lateral (
       select * from assay.requests r where r.organization_id = ${organization} and r.created_at = k.created_at
          and r.request_id = k.request_id and ${within('r.created_at')} offset 0) r
     where ${compileFilter(parseFilter(filter), parameters, { joins: false, within })}`;
  return { text, values: parameters.values };
}

const WEEK_MS = 7 * 24 * 3_600_000;

/** Returns what writes that a time is in the weeks of the keys, counted from the epoch; partitions overlap two of them at most. */
function inWeeksOf(keys: readonly RequestKey[], parameters: Parameters): (createdAt: string) => string {
  const weeks = new Set(keys.map(({ createdAt }) => Math.floor(createdAt.getTime() / WEEK_MS)));
  const bound = (week: number) => parameters.bind(new Date(week * WEEK_MS).toISOString(), 'timestamptz');
  const spans = [...weeks].map((week) => [bound(week), bound(week + 1)] as const);
  return (createdAt) =>
    `(${spans.map(([from, to]) => `${createdAt} >= ${from} and ${createdAt} < ${to}`).join(' or ')})`;
}
