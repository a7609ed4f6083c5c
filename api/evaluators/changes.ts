/** Notes in the change feed evaluations that have got an outcome, or lost it by being reopened. */
import type { RequestKey } from '#core/contracts/changes.ts';
import type { EvaluationState } from '#core/scoring/mod.ts';
import { noteChange } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** An evaluation, as returned by the statement that changed it. */
export type ChangedEvaluation = RequestKey & {
  evaluationId: string;
  evaluatorId: string;
  state: EvaluationState;
  score: number | null;
  isProbe: boolean;
};

/** Writes the columns of a `ChangedEvaluation`, of the table `e`. */
export function changedColumns(tx: TransactionSql) {
  return tx`
    e.evaluation_id::text as "evaluationId", e.evaluator_id as "evaluatorId", e.created_at as "createdAt",
    e.request_id as "requestId", e.state, e.score, e.probe <> '' as "isProbe"`;
}

export async function noteEvaluations(
  tx: TransactionSql,
  organizationId: string,
  changed: readonly ChangedEvaluation[],
): Promise<void> {
  await noteChange(tx, {
    organizationId,
    kind: 'evaluation',
    keys: changed,
    details: changed.map(({ evaluationId, evaluatorId, state, score, isProbe }) => ({
      evaluation_id: evaluationId,
      evaluator_id: evaluatorId,
      state,
      score,
      is_probe: isProbe,
    })),
  });
}
