import { EVALUATION_STATES, type EvaluationState } from '#core/evaluations/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/**
 * Writes the condition that an evaluation `e` is in one of some states. They are part of the text: Postgres uses an index of some
 * states only where it knows, while it plans, that no others are asked for.
 */
export function isInState(tx: TransactionSql, states: readonly EvaluationState[]) {
  const known = EVALUATION_STATES.filter((state) => states.includes(state));
  return tx.unsafe(`e.state in (${known.map((state) => `'${state}'`).join(', ')})`);
}
