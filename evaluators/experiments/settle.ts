/** Settles runs of experiments: renews and gives back leases, and writes what came of a call. */
import { EXPERIMENTS_CHANNEL } from '#core/contracts/channels.ts';
import { completeExperiment } from '#platform/experiments/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { LEASE_MS } from '../queue/mod.ts';
import type { ExperimentJob } from './job.ts';

/** Time in which the record of a call that was cut off is stored, so that the next claim finds it. */
const RELEASED_DUE_MS = 5_000;

/** The state of a run after its call. */
export type RunResult = {
  state: 'completed' | 'error' | 'skipped' | 'pending';
  /** Delay until a pending run is due. */
  dueInMs: number;
  errorCode: string | null;
  errorMessage: string | null;
  /** Why the whole experiment pauses; null: it goes on. */
  pause: string | null;
  /** The item is not to blame: nothing stays reserved for the call, and the attempt does not count. */
  isUncounted: boolean;
};

/**
 * Writes the result of a run.
 * @returns whether this process still had the lease, so that it was written
 */
export async function settleRun(sql: Sql, job: ExperimentJob, result: RunResult): Promise<boolean> {
  const { experimentId, itemId, repetition, claim, callId, organizationId } = job;
  const { state, dueInMs, errorCode, errorMessage, pause, isUncounted } = result;
  return await sql.begin(async (tx) => {
    const written = await tx`
      update assay.experiment_runs
         set state = ${state}, due_at = now() + ${dueInMs}::float8 * interval '1 ms',
             attempts = attempts - case when ${isUncounted} then 1 else 0 end,
             call_id = case when ${isUncounted} then null else call_id end,
             request_id = case when ${state} = 'completed' then call_id end,
             error_code = ${errorCode}, error_message = ${errorMessage},
             finished_at = case when ${state} = 'pending' then null else now() end
       where experiment_id = ${experimentId} and item_id = ${itemId} and repetition = ${repetition}
         and claims = ${claim} and state = 'running'
      returning 1`;
    if (isUncounted) {
      await tx`
        update assay.experiment_calls set begun_at = null
         where organization_id = ${organizationId} and request_id = ${callId} and not is_recorded`;
    }
    if (written.length === 0) return false;
    if (pause !== null) {
      await tx`
        update assay.experiments set state = 'paused', paused_reason = ${pause}, updated_at = now()
         where experiment_id = ${experimentId} and state = 'running'`;
    }
    if (state !== 'pending') await completeExperiment(tx, experimentId);
    return true;
  });
}

/** Renews leases, except those that were lost to another claim. */
export async function renewRuns(sql: Sql, jobs: readonly ExperimentJob[]): Promise<void> {
  await updateLeases(sql, jobs, { state: 'running', dueInMs: LEASE_MS, uncounted: 0 });
}

/**
 * Gives leases back, because this process ends. Their calls may have been made: the next claim looks for the records.
 */
export async function releaseRuns(sql: Sql, jobs: readonly ExperimentJob[]): Promise<void> {
  await updateLeases(sql, jobs, { state: 'pending', dueInMs: RELEASED_DUE_MS, uncounted: 1 });
  await sql`select pg_notify(${EXPERIMENTS_CHANNEL}, '')`;
}

async function updateLeases(
  sql: Sql,
  jobs: readonly ExperimentJob[],
  { state, dueInMs, uncounted }: { state: 'running' | 'pending'; dueInMs: number; uncounted: number },
): Promise<void> {
  await sql`
    update assay.experiment_runs r
       set state = ${state}, due_at = now() + ${dueInMs} * interval '1 ms', attempts = r.attempts - ${uncounted}::int4
      from unnest(${jobs.map((one) => one.experimentId)}::uuid[], ${jobs.map((one) => one.itemId)}::text[],
                  ${jobs.map((one) => one.repetition)}::int2[], ${jobs.map((one) => one.claim)}::int4[])
        as held (experiment_id, item_id, repetition, claim)
     where r.experiment_id = held.experiment_id and r.item_id = held.item_id and r.repetition = held.repetition
       and r.claims = held.claim and r.state = 'running'`;
}
