import type { Statement } from '#core/filter/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

/**
 * Runs a statement. Only one that is marked so is kept prepared: after five runs Postgres plans a prepared one without
 * looking at its values, and a common value and a rare one need different plans.
 */
export async function runStatement<Row extends object>(
  tx: TransactionSql,
  { text, values, isPlannedOnce = false }: Statement,
): Promise<Row[]> {
  return tx.unsafe<Row[]>(text, [...values] as never[], { prepare: isPlannedOnce });
}
