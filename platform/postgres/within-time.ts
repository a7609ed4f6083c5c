/** A part of a transaction that may take some time, and no longer. */
import type { TransactionSql } from './connect.ts';

/**
 * Runs `work` in a savepoint in which each statement has `timeoutMs`. When it fails, or takes too long, the transaction is as it was.
 * @throws what `work` throws; Postgres's error 57014 for a statement that took too long
 */
export async function withinTime<Result>(
  tx: TransactionSql,
  timeoutMs: number,
  work: (savepoint: TransactionSql) => Promise<Result>,
): Promise<Result> {
  const done = await tx.savepoint(async (savepoint) => {
    const [before] = await savepoint<{ value: string }[]>`
      select current_setting('statement_timeout') as value,
             set_config('statement_timeout', ${String(Math.ceil(timeoutMs))}, true)`;
    const result = await work(savepoint);
    await savepoint`select set_config('statement_timeout', ${before!.value}, true)`;
    return { result };
  });
  return done.result;
}
