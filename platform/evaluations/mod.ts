/** Evaluations as all roles see them that schedule them. */
import type { TransactionSql } from '../postgres/mod.ts';

export { type JudgmentPrice, meanCostSoFar, readJudgmentPrices } from './judgment-prices.ts';

/** The condition on an evaluation `e` that its run, or its experiment, had no money left for: another one may make it. */
export const LEFT_FOR_WANT_OF_MONEY = `(e.state = 'skipped' and e.error_code = 'run_budget_spent')`;

/**
 * Ends an insert of evaluations `e` by a run or an experiment: what is there stays, but what another one had no money left for
 * is made by this one. The count of claims goes on, so that no process that held it before can settle it.
 */
export function orTakeOver(tx: TransactionSql) {
  return tx`
    on conflict (organization_id, request_id, created_at, evaluator_id, version, probe, baseline_id, is_baseline_first) do update
       set run_id = excluded.run_id, priority = excluded.priority, state = 'pending', due_at = excluded.due_at,
           scheduled_at = excluded.scheduled_at, attempts = 0, error_code = null, error_message = null, finished_at = null
     where ${tx.unsafe(LEFT_FOR_WANT_OF_MONEY)}`;
}
