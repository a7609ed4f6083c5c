/** Rebuilds all roll-ups. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '#platform/postgres/mod.ts';
import { markAllStale } from './mark-all.ts';
import { recompute } from './recompute.ts';
import { TASKS } from './tasks.ts';

/** Buckets of one transaction. */
const AT_ONCE = 10;
/** Wait for a process that is recomputing. */
const TAKEN_MS = 100;

/** Numbers of buckets. */
export type Rebuilt = {
  recomputed: number;
  /** Left to the sinks, because their requests changed meanwhile. */
  stale: number;
};

/**
 * Marks every bucket as stale and recomputes it, without the pauses of the sinks' loop. Until a bucket is done, queries read
 * its rows. A rebuild that is broken off is finished by the sinks.
 * @param organizationId null: all organizations
 */
export async function rebuildRollups(sql: Sql, organizationId: string | null): Promise<Rebuilt> {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await markAllStale(tx, organizationId);
  });
  const [{ mark }] = await sql<[{ mark: string }]>`select last_value as mark from assay.rollup_marks`;
  let recomputed = 0;
  for (const task of TASKS) {
    for (;;) {
      const options = { sql, task, limit: AT_ONCE, isPatient: false, organizationId, newestMark: mark };
      const done = await recompute(options);
      if (done === null) await sleep(TAKEN_MS);
      else if (done.buckets.length === 0) break;
      else recomputed += done.buckets.length;
    }
  }
  const [{ stale }] = await sql<[{ stale: number }]>`
    select count(*)::integer as stale from assay.rollup_stale
     where ${organizationId}::uuid is null or organization_id = ${organizationId}::uuid`;
  return { recomputed, stale };
}
