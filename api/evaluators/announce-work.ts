import { EVALUATIONS_CHANNEL, RUNS_CHANNEL } from '#core/contracts/channels.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** Tells the evaluators processes, once the transaction is committed, that evaluations are due. */
export async function announceEvaluations(tx: TransactionSql): Promise<void> {
  await tx`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
}

/** Tells them that a run may have a page to schedule. */
export async function announceRuns(tx: TransactionSql): Promise<void> {
  await tx`select pg_notify(${RUNS_CHANNEL}, '')`;
}
