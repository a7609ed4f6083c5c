/** An evaluator's verdicts held against people's, for those who correct by its errors. */
import type { Confusion } from '#core/statistics/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { findBasis } from './basis.ts';
import { requireEvaluator } from './rules.ts';
import { countAgreement, findVersion } from './stats-statements.ts';
import { passThreshold } from './threshold.ts';

/**
 * Counts how often a version and people agreed, as its statistics do; null: people rated none of its evaluations.
 * @throws AssayError not_found when the evaluator was removed
 */
export async function findConfusion(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  version: number,
): Promise<Confusion | null> {
  const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
  const found = await findVersion(tx, evaluator, version);
  if (found === undefined) return null;
  const basis = await findBasis(tx, organizationId, evaluatorId);
  const { confusion } = await countAgreement(tx, found, passThreshold(found), basis);
  return Object.values(confusion).some((count) => count > 0) ? confusion : null;
}
