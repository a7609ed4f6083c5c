import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import type { EvaluationState } from '#core/scoring/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';

/**
 * Shorter, and a process that was frozen or cut off for a moment loses its work; longer, and the work of a dead process
 * waits longer. Processes renew their leases every third of this.
 */
export const LEASE_MS = 60_000;

/** Identity of a lease. */
export type Lease = Pick<Job, 'evaluationId' | 'claim'>;

/** Renews leases, except those that were lost to another claim. */
export async function renewLeases(sql: Sql, leases: readonly Lease[]): Promise<void> {
  await updateLeases(sql, leases, { state: 'running', dueInMs: LEASE_MS, uncounted: 0 });
}

/**
 * Releases leases at once, for other processes, because this one ends; the attempt does not count. This process cannot
 * settle these evaluations any more: failures from now on are caused by its own shutdown.
 */
export async function releaseLeases(sql: Sql, leases: readonly Lease[]): Promise<void> {
  await updateLeases(sql, leases, { state: 'pending', dueInMs: 0, uncounted: 1 });
  await sql`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
}

async function updateLeases(
  sql: Sql,
  leases: readonly Lease[],
  { state, dueInMs, uncounted }: { state: EvaluationState; dueInMs: number; uncounted: number },
): Promise<void> {
  await sql`
    update assay.evaluations e
       set state = ${state}, due_at = now() + ${dueInMs} * interval '1 ms', attempts = attempts - ${uncounted}::int4
      from unnest(${leases.map((one) => one.evaluationId)}::int8[], ${leases.map((one) => one.claim)}::int4[])
        as held (evaluation_id, claim)
     where e.evaluation_id = held.evaluation_id and e.claims = held.claim and e.state = 'running'`;
}
