/** Reopens evaluations that failed or were cancelled: the same rows become pending again, and their failures stay noted. */
import { type Static, Type } from '@sinclair/typebox';
import { closed } from '#core/contracts/shapes.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import type { EvaluationState } from '#core/scoring/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { isUuid } from '#platform/process/ids.ts';
import { announceEvaluations } from './announce-work.ts';
import type { EvaluatorRetryBody } from './bodies.ts';
import { type ChangedEvaluation, changedColumns, noteEvaluations } from './changes.ts';
import type { Context } from './context.ts';
import { requireEvaluator } from './rules.ts';
import { isInState } from './state-condition.ts';

export const RetriedJson = Type.Object({ retried: Type.Integer() }, { ...closed, $id: 'Retried' });
export type RetriedJson = Static<typeof RetriedJson>;

/** Which evaluations; those of an evaluator, or a single one. */
type Which = { states: readonly EvaluationState[] } & (
  | { evaluationId: string }
  | (Omit<EvaluatorRetryBody, 'states'> & { evaluatorId: string; endedBy: Date })
);

const BATCH_SIZE = 5_000;
/** Five million evaluations; the rest is left to a second call. */
const MAX_BATCHES = 1_000;

function condition(tx: TransactionSql, which: Which) {
  if ('evaluationId' in which) return tx`e.evaluation_id = ${which.evaluationId}`;
  const { evaluatorId, version, runId, errorCode, endedBy } = which;
  return tx`
    e.evaluator_id = ${evaluatorId} and e.finished_at <= ${endedBy}
    ${version === undefined ? tx`` : tx`and e.version = ${version}`}
    ${runId === undefined ? tx`` : tx`and e.run_id = ${runId}`}
    ${errorCode === undefined ? tx`` : tx`and e.error_code = ${storableText(errorCode)}`}`;
}

/**
 * Reopens evaluations, at most a batch. The count of claims goes on, so that no process that held one before can settle it.
 * An evaluation of a paused run waits with its run. An imported judgment stays: its failure was elsewhere.
 * @returns their number
 */
export async function reopen(
  tx: TransactionSql,
  organizationId: string,
  which: Which,
  at: Date,
): Promise<number> {
  const rows = await tx<ChangedEvaluation[]>`
    with failed as materialized (
      select evaluation_id, claims, finished_at, error_code, error_message from assay.evaluations e
       where e.organization_id = ${organizationId} and ${isInState(tx, which.states)} and e.imported_at is null
         and ${condition(tx, which)}
       limit ${BATCH_SIZE} for update
    ), noted as (
      -- Those that ended before attempts were noted. The others have their last one there already.
      insert into assay.evaluation_attempts (evaluation_id, claim, organization_id, ended_at, error_code, error_message)
      select evaluation_id, claims, ${organizationId}::uuid, coalesce(finished_at, now()), error_code, error_message
        from failed where error_code is not null
      on conflict do nothing
    )
    update assay.evaluations e
       set due_at = ${at}, attempts = 0, error_code = null, error_message = null, finished_at = null,
           state = case when exists (select from assay.evaluation_runs r where r.run_id = e.run_id and r.state = 'paused')
                        then 'paused' else 'pending' end
      from failed where e.evaluation_id = failed.evaluation_id
    returning ${changedColumns(tx)}`;
  await noteEvaluations(tx, organizationId, rows);
  if (rows.length > 0) await announceEvaluations(tx);
  return rows.length;
}

/** Reopens the evaluations of an evaluator that pass `body`, a batch per transaction. */
export async function reopenAll(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  organizationId: string,
  evaluatorId: string,
  body: EvaluatorRetryBody,
): Promise<RetriedJson> {
  const endedBy = await inOrganization(sql, organizationId, async (tx) => {
    await requireEvaluator(tx, organizationId, evaluatorId);
    // By the clock that ends evaluations. One that fails again while the others are reopened is left alone.
    const [row] = await tx<{ now: Date }[]>`select now() + interval '1 ms' as now`;
    return row!.now;
  });
  // A text that cannot be an id matches no evaluation.
  if (body.runId !== undefined && !isUuid(body.runId)) return { retried: 0 };
  let retried = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const reopened = await inOrganization(sql, organizationId, (tx) =>
      reopen(tx, organizationId, { ...body, evaluatorId, endedBy }, new Date(clock.now())),
    );
    retried += reopened;
    if (reopened < BATCH_SIZE) break;
  }
  return { retried };
}
