import type { TransactionSql } from '#platform/postgres/mod.ts';
import { requireEvaluator } from './evaluators.ts';
import { findVersion } from './stats-statements.ts';
import { boundsOf } from './threshold.ts';

/**
 * Returns the lowest and the highest score that a version of an evaluator can give; null: they are not known.
 * @throws AssayError not_found
 */
export async function findScoreRange(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  version: number,
): Promise<{ low: number; high: number } | null> {
  const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
  const found = await findVersion(tx, evaluator, version);
  return found === undefined ? null : boundsOf(found);
}
