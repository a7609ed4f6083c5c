/** Lists the buckets of one organization that have requests or cells. */
import type { FamilyName } from '#core/rollups/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { CELLS } from './cells/mod.ts';

/** Buckets of a family and a grain, younger than an age. */
export type WantedBuckets = {
  organizationId: string;
  family: FamilyName;
  grainSeconds: number;
  /** Null: of any age. */
  oldestMs: number | null;
};

/**
 * Returns the beginnings of the buckets whose rows are not dropped, in ascending order. Skips from one bucket to the next by an
 * index, without reading the requests between.
 */
export async function findBuckets(
  sql: Sql,
  { organizationId, family, grainSeconds, oldestMs }: WantedBuckets,
): Promise<Date[]> {
  const stored = CELLS[family].tables
    .map(
      ({ table }) =>
        `select begins_at from assay.${table} where organization_id = $1 and grain_seconds = $2 and begins_at >= since.at`,
    )
    .join(' union ');
  const rows = await sql.unsafe<{ beginsAt: Date }[]>(
    `with recursive since as (
       select greatest(now() - $3::bigint * interval '1 ms', min(monday)) as at from assay.rollup_weeks() as monday
     ), leap as (
       select (select min(r.created_at) from assay.requests r where r.organization_id = $1 and r.created_at >= since.at) as at
         from since
        union all
       select (select min(r.created_at) from assay.requests r
                where r.organization_id = $1 and r.created_at >= date_bin($2 * interval '1 second', leap.at, 'epoch') + $2 * interval '1 second')
         from leap where leap.at is not null
     )
     select begins_at as "beginsAt" from (
       select date_bin($2 * interval '1 second', leap.at, 'epoch') as begins_at from leap where leap.at is not null
        union
       select stored.begins_at from since cross join lateral (${stored}) stored) both_kinds
      where begins_at >= (select at from since) order by 1`,
    [organizationId, grainSeconds, oldestMs],
  );
  return rows.map(({ beginsAt }) => beginsAt);
}
