/**
 * Sets evaluations aside that nobody can score now, because their evaluator or run is paused, or the budget of the day is spent.
 * Each was claimed once to find that out, some at a time, and those of other evaluators of the organization waited behind them.
 */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { Job } from './job.ts';
import type { NextState } from './transition.ts';

/** Evaluations at the head of an organization's queue that are looked at: as many as one transaction changes in milliseconds. */
const LOOKED_AT = 1_000;

/**
 * Gives a state to the next evaluations of the same evaluator and run, too, where it is one that they would all get.
 * @param tx has locked both, and the organization where its budget matters, so that a change that follows finds these evaluations
 * @param next the state that the claimed evaluation has got
 */
export async function setAside(tx: TransactionSql, job: Job, next: NextState): Promise<void> {
  const { state, dueInMs, errorCode, errorMessage } = next;
  if (state === 'paused') await change(tx, job, tx`state = 'paused'`);
  // No time to wait: the budget was changed since the claim.
  else if (errorCode === 'budget_exhausted' && dueInMs > 0) {
    await change(
      tx,
      job,
      tx`due_at = now() + ${dueInMs}::float8 * interval '1 ms', error_code = ${errorCode}, error_message = ${errorMessage}`,
    );
  }
}

async function change(
  tx: TransactionSql,
  { lane, organizationId, evaluator, runId }: Job,
  assignment: ReturnType<TransactionSql>,
): Promise<void> {
  await tx`
    update assay.evaluations set ${assignment}
     where evaluation_id in (
       select evaluation_id from assay.evaluations
        where state = 'pending' and evaluation_id in (
          select evaluation_id from (
            select evaluation_id, evaluator_id, run_id from assay.evaluations
             where lane = ${lane} and organization_id = ${organizationId} and state = 'pending' and due_at <= now()
             order by priority, due_at limit ${LOOKED_AT}) head
           where evaluator_id = ${evaluator.id} and run_id is not distinct from ${runId}::uuid)
        for update skip locked)`;
}
