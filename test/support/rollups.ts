/** Roll-ups in tests: what a process would do by and by, done at once. */
import { noteChange } from '#platform/changes/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import { applyNext } from '../../sinks/feed/run-sink.ts';
import { ROLLUPS } from '../../sinks/rollups/mod.ts';
import { recompute } from '../../sinks/rollups/recompute.ts';
import { TASKS } from '../../sinks/rollups/tasks.ts';
import { waitFor } from './assay.ts';
import { feedMetrics } from './counting-sink.ts';
import { silentLog } from './world.ts';

const metrics = feedMetrics();

/** Registers the sink, which then begins with a scan at its first batch. */
export async function registerRollups(sql: Sql): Promise<void> {
  await sql`insert into assay.sinks (name, cluster) values (${ROLLUPS.name}, assay.cluster_identifier()) on conflict do nothing`;
}

/** Notes stored requests of one organization, as ingest does. */
export async function noteStored(
  tx: TransactionSql,
  added: readonly { organizationId: string; createdAt: Date; requestId: string }[],
): Promise<void> {
  const keys = added.map(({ createdAt, requestId }) => ({ createdAt, requestId }));
  await noteChange(tx, { organizationId: added[0]!.organizationId, kind: 'record', keys });
}

/** Applies a batch of changes. */
export async function applyChanges(sql: Sql, size = { changes: 1_000, keys: 10_000 }): Promise<string> {
  return await applyNext({ sql, log: silentLog, feedMetrics: metrics, sink: ROLLUPS }, size);
}

/** Applies until every change is applied. Transactions of other tests on the same server may hold changes back for a moment. */
export async function applyAllChanges(sql: Sql): Promise<void> {
  await waitFor('all changes to be applied', async () => {
    await applyChanges(sql);
    const [left] = await sql<{ isDone: boolean }[]>`
      select not exists (select from assay.changes c where (c.xid, c.seq) > (s.cursor_xid, s.cursor_seq)) as "isDone"
        from assay.sinks s where name = ${ROLLUPS.name}`;
    return left?.isDone === true;
  });
}

/** Recomputes everything that is stale, without waiting for buckets to be over and quiet; returns how many buckets. */
export async function recomputeAll(sql: Sql, limit = 100): Promise<number> {
  let recomputed = 0;
  for (const task of TASKS) {
    for (;;) {
      const done = await recompute({ sql, task, limit, isPatient: false, organizationId: null });
      if (done?.buckets.length === 0) break;
      recomputed += done?.buckets.length ?? 0;
    }
  }
  return recomputed;
}
