import { containing } from '#core/filter/mod.ts';
import type { Sql, TransactionSql } from '../postgres/mod.ts';
import { OF_KEY, readShown, shownValue } from './counter-key.ts';
import type { Unit } from './types.ts';

/** Use of one window of a counter. Amounts are in the counter's unit, nano-dollars for cents. */
export type CounterUsage = {
  apiKeyId: string | null;
  unit: Unit;
  /** '' for all calls; `*` for the overflow counter, of the values beyond the organization's maximum. */
  segment: string;
  /** First 256 characters of the user's id or the property's value. */
  value: string;
  /** It counts the key's own policy, apart from those that calls name. */
  isOfKey: boolean;
  windowS: number;
  /** The quota of the latest request. */
  quota: number;
  /** Includes open reservations. */
  used: number;
  /** Held by gateways: for calls under way, prefetched for later ones, and for ended calls that are not settled yet. */
  reserved: number;
  /** Time until nothing counts any more. */
  resetMs: number;
};

/** Which counters are read; all that are in use unless it says otherwise. */
type UsageChoice = {
  /** The value of a user or a property whose counters alone are read. */
  value?: string | null;
  /** A text that the segment, the value or the key has, in any case. */
  search?: string;
  /** True when `search` looks in the names of keys, too. */
  hasKeyNames?: boolean;
};

type UsageRow = {
  api_key_id: string | null;
  unit: Unit;
  segment: string;
  value: string;
  window_s: number;
  quota: number;
  used: number;
  reserved: number;
  reset_ms: number;
};

/**
 * Reads the windows of an organization in which something counts now, those nearest to their quota first.
 * @param sql may have the role `assay_api`, in a transaction of the organization
 */
export async function readUsage(
  sql: Sql | TransactionSql,
  organizationId: string,
  limit: number,
  { value = null, search = '', hasKeyNames = false }: UsageChoice = {},
): Promise<CounterUsage[]> {
  const shown = value === null ? null : shownValue(value);
  const rows = await sql<UsageRow[]>`
    select c.api_key_id, c.unit, c.segment, c.value, (w).window_s, (w).quota::float8, used::float8, reserved::float8,
           (assay.limit_free_at(w, now_ms, 0) - now_ms)::float8 as reset_ms
      from assay.limit_counters c
     cross join lateral (
       select greatest(c.seen_ms, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)) t (now_ms)
     cross join lateral unnest(c.windows) held
     cross join lateral (select assay.limit_slide(held, now_ms)) s (w)
     cross join lateral (select assay.limit_used(w)) u (used)
     cross join lateral (
       select coalesce(sum(r.estimate_nano), 0) from assay.limit_reservations r
        where r.organization_id = c.organization_id and r.counter_key = c.counter_key
          and r.settled_nano is null and r.expires_at > clock_timestamp()) o (reserved)
     where c.organization_id = ${organizationId} and c.expires_at > clock_timestamp() and used > 0
       and (${shown}::text is null or (c.segment <> '' and c.value = ${shown}))
       and (${search} = '' or concat_ws(E'\\n', replace(c.segment, ${OF_KEY}, ''), case when c.segment <> '' then c.value end,
              c.api_key_id::text, (
              select concat_ws(E'\\n', k.prefix, case when ${hasKeyNames} then k.name end) from assay.api_keys k
               where k.key_id = c.api_key_id and k.organization_id = c.organization_id)) ilike ${containing(search)})
     order by used::float8 / (w).quota desc, c.unit, c.segment, c.value
     limit ${limit}`;
  return rows.map((row) => ({
    apiKeyId: row.api_key_id,
    unit: row.unit,
    ...readShown(row),
    windowS: row.window_s,
    quota: row.quota,
    used: row.used,
    reserved: row.reserved,
    resetMs: row.reset_ms,
  }));
}
