/** Changes many evaluations at once, a batch per transaction: transactions stay short, and workers get rows in between. */
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { announceEvaluations } from './announce-work.ts';
import { type ChangedEvaluation, changedColumns, noteEvaluations } from './changes.ts';
import type { Context } from './context.ts';

/** The evaluations that change, and to which state. */
export type StateChange =
  /** Paused evaluations become pending again, except for those of runs that are paused themselves. */
  | { kind: 'evaluator-resumed'; evaluatorId: string }
  /** Evaluations that wait for the budget of the next day become due. */
  | { kind: 'budget-changed'; evaluatorId: string }
  /** Pending and paused evaluations end as skipped. */
  | { kind: 'evaluator-deleted'; evaluatorId: string }
  /** Pending evaluations become paused. */
  | { kind: 'run-paused'; runId: string }
  | { kind: 'run-resumed'; runId: string }
  /** Evaluations that have not begun are cancelled. */
  | { kind: 'run-cancelled'; runId: string };

const BATCH_SIZE = 5_000;
/** Five million evaluations; the rest is left to a second call. */
const MAX_BATCHES = 1_000;

/** Makes a change and returns the number of evaluations it changed. A row that is locked is running, or done. */
export async function setStates(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  organizationId: string,
  change: StateChange,
): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const changed = await inOrganization(sql, organizationId, (tx) =>
      changeBatch(tx, organizationId, change, new Date(clock.now())),
    );
    total += changed;
    if (changed < BATCH_SIZE) break;
  }
  return total;
}

async function changeBatch(
  tx: TransactionSql,
  organizationId: string,
  change: StateChange,
  at: Date,
): Promise<number> {
  const rows = await tx<ChangedEvaluation[]>`
    update assay.evaluations e set ${assignment(tx, change, at)}
    where e.evaluation_id in (
      select e.evaluation_id from assay.evaluations e
      where e.organization_id = ${organizationId} and ${condition(tx, change)}
      limit ${BATCH_SIZE} for update skip locked)
    returning ${changedColumns(tx)}`;
  // Other changes only move evaluations that wait between states: they had no outcome before, and have none after.
  const isEnd = change.kind === 'run-cancelled' || change.kind === 'evaluator-deleted';
  if (isEnd) await noteEvaluations(tx, organizationId, rows);
  const isDue = !isEnd && change.kind !== 'run-paused';
  if (isDue && rows.length > 0) await announceEvaluations(tx);
  return rows.length;
}

function assignment(tx: TransactionSql, { kind }: StateChange, at: Date) {
  switch (kind) {
    case 'evaluator-resumed':
    case 'run-resumed':
      return tx`state = 'pending', due_at = ${at}`;
    case 'budget-changed':
      // By the clock that they became due at, so that a batch does not find those of the one before.
      return tx`due_at = now()`;
    case 'evaluator-deleted':
      return tx`state = 'skipped', error_code = 'evaluator_deleted', error_message = 'The evaluator was deleted',
        finished_at = ${at}`;
    case 'run-paused':
      return tx`state = 'paused'`;
    case 'run-cancelled':
      return tx`state = 'cancelled', finished_at = ${at}`;
  }
}

function condition(tx: TransactionSql, change: StateChange) {
  switch (change.kind) {
    case 'evaluator-resumed':
      return tx`e.evaluator_id = ${change.evaluatorId} and e.state = 'paused' and not exists (
        select from assay.evaluation_runs r where r.run_id = e.run_id and r.state = 'paused')`;
    case 'budget-changed':
      return tx`e.state = 'pending' and e.error_code = 'budget_exhausted' and e.due_at > now() and ${openOf(tx, change.evaluatorId)}`;
    case 'evaluator-deleted':
      return tx`e.state in ('pending', 'paused') and ${openOf(tx, change.evaluatorId)}`;
    case 'run-paused':
      return tx`e.run_id = ${change.runId} and e.state = 'pending'`;
    case 'run-resumed':
      return tx`e.run_id = ${change.runId} and e.state = 'paused' and exists (
        select from assay.evaluators v where v.evaluator_id = e.evaluator_id and v.paused_reason is null)`;
    case 'run-cancelled':
      return tx`e.run_id = ${change.runId} and e.state in ('pending', 'paused')`;
  }
}

/**
 * Selects the evaluations of an evaluator that have not ended, in the order of their index. Without it, Postgres expects as many among
 * those of one evaluator as among all, and reads all evaluations of all organizations to find that one with a long history has none.
 */
function openOf(tx: TransactionSql, evaluatorId: string) {
  return tx`e.evaluator_id = ${evaluatorId} and e.finished_at is null order by e.evaluator_id, e.version, e.finished_at`;
}
