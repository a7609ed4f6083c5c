/**
 * Marks buckets as stale whose requests have changed. The mark of a bucket gets a new number at each change, so that a
 * recomputation removes only the mark that it has seen.
 */
import { FAMILIES_OF_CHANGE, type FamilyName, GRAINS } from '#core/rollups/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Change } from '../feed/mod.ts';

/** The length of the finest buckets: requests of the same one need one mark. */
const FINEST_MS = 10_000;

type Moment = { organizationId: string; family: FamilyName; atMs: number };

/** Returns the ten-second buckets of changes, each once. */
function momentsOf(changes: readonly Change[]): Moment[] {
  const moments = new Map<string, Moment>();
  for (const { organizationId, kind, keys } of changes) {
    const spans = new Set(keys.map(({ createdAt }) => Math.floor(createdAt.getTime() / FINEST_MS)));
    for (const family of FAMILIES_OF_CHANGE[kind]) {
      for (const span of spans) {
        moments.set(`${organizationId} ${family} ${span}`, {
          organizationId,
          family,
          atMs: span * FINEST_MS,
        });
      }
    }
  }
  return [...moments.values()];
}

/** All grains, as the columns of a table. */
const ALL_GRAINS = Object.entries(GRAINS).flatMap(([family, grains]) =>
  grains.map(({ seconds, keptMs }) => ({ family, seconds, keptMs })),
);

/** A FROM item: the grains with their columns family, seconds, length and kept (null: for ever). */
export function grainTable(tx: TransactionSql) {
  return tx`(
    select family, seconds, seconds * interval '1 second' as length, kept_ms * interval '1 ms' as kept
      from unnest(${ALL_GRAINS.map(({ family }) => family)}::text[], ${ALL_GRAINS.map(({ seconds }) => seconds)}::integer[],
                  ${ALL_GRAINS.map(({ keptMs }) => keptMs)}::bigint[]) as given (family, seconds, kept_ms)) as grain`;
}

/** Inserts in a fixed order, so that two transactions that mark the same buckets cannot deadlock. */
export function upsertMarks(tx: TransactionSql, buckets: ReturnType<typeof grainTable>) {
  return tx`
    insert into assay.rollup_stale (organization_id, family, grain_seconds, begins_at)
    select distinct organization_id, family, seconds, begins_at from (${buckets}) as bucket order by 1, 2, 3, 4
    on conflict (organization_id, family, grain_seconds, begins_at)
    do update set mark = nextval('assay.rollup_marks'), marked_at = now()`;
}

/**
 * Marks the buckets of changed requests in all grains that are kept. Users and properties of an old day are recomputed from half
 * hours, which are no longer there: all of them are marked, and so made again.
 */
export async function markStale(tx: TransactionSql, changes: readonly Change[]): Promise<void> {
  const moments = momentsOf(changes);
  if (moments.length === 0) return;
  await upsertMarks(
    tx,
    tx`
      select m.organization_id, grain.family, grain.seconds, begun.begins_at
        from unnest(${moments.map(({ organizationId }) => organizationId)}::uuid[], ${moments.map(({ family }) => family)}::text[],
                    ${moments.map(({ atMs }) => new Date(atMs).toISOString())}::timestamptz[]) as m (organization_id, family, at)
        join ${grainTable(tx)} on grain.family = m.family
       cross join lateral (
         select date_bin(grain.length, m.at, 'epoch') as begins_at
          where grain.kept is null or date_bin(grain.length, m.at, 'epoch') >= now() - grain.kept
          union
         select generate_series(date_bin('1 day', m.at, 'epoch'), date_bin('1 day', m.at, 'epoch') + interval '23:30', grain.length)
          where m.family = 'values' and grain.seconds = 1800
            and date_bin(grain.length, m.at, 'epoch') < now() - grain.kept) as begun`,
  );
}
