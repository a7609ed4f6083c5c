/** Marks all buckets as stale, found by a scan: for the first start, after changes were missed, and to rebuild. */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { grainTable, upsertMarks } from './mark.ts';

/**
 * Marks every bucket that has requests, or cells from requests that are gone; null: of all organizations. Skips from one bucket
 * to the next by an index, without reading the requests between.
 * @returns the number of marks
 */
export async function markAllStale(tx: TransactionSql, organizationId: string | null): Promise<number> {
  const { count } = await upsertMarks(
    tx,
    tx`
      with recursive leap as (
        select o.organization_id, step.length, (
                 select min(created_at) from assay.requests r
                  where r.organization_id = o.organization_id and r.created_at >= step.since) as at
          from assay.organizations o
         cross join (values (interval '10 seconds', now() - interval '2 hours'), ('1 minute', now() - interval '2 days'),
                            ('30 minutes', '-infinity')) as step (length, since)
         where ${organizationId}::uuid is null or o.organization_id = ${organizationId}::uuid
         union all
        select leap.organization_id, leap.length, (
                 select min(created_at) from assay.requests r
                  where r.organization_id = leap.organization_id
                    and r.created_at >= date_bin(leap.length, leap.at, 'epoch') + leap.length)
          from leap where leap.at is not null
      ), cells as (
        select organization_id, 'totals' as family, grain_seconds, begins_at from assay.rollup_totals
         union select organization_id, 'values', grain_seconds, begins_at from assay.rollup_values
         union select organization_id, 'scores', grain_seconds, begins_at from assay.rollup_scores
      )
      select leap.organization_id, grain.family, grain.seconds, begun.begins_at
        from leap
        join ${grainTable(tx)}
          on grain.length = leap.length or (grain.length > leap.length and leap.length = interval '30 minutes')
       cross join lateral (select date_bin(grain.length, leap.at, 'epoch') as begins_at) as begun
       where leap.at is not null
         and (grain.kept is null or begun.begins_at >= now() - grain.kept
              or (grain.family = 'values' and grain.seconds = 1800))
       union
      select organization_id, family, grain_seconds, begins_at from cells
       where (${organizationId}::uuid is null or organization_id = ${organizationId}::uuid)
         and date_trunc('week', begins_at, 'UTC') in (select assay.rollup_weeks())`,
  );
  return count;
}
