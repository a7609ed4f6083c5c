/** The rules of evaluators that need a look at the others, or at more than one member of a body. */
import { quoteValue } from '#core/contracts/check.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { isImported } from '#core/evaluations/mod.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import type { EvaluatorRow, Templates } from './evaluator-json.ts';
import { findEvaluator, findNameTaken } from './store.ts';
import { checkThreshold } from './threshold.ts';

/** @throws AssayError not_found */
export async function requireEvaluator(
  tx: TransactionSql,
  organizationId: string,
  id: string,
): Promise<EvaluatorRow> {
  const row = await findEvaluator(tx, organizationId, id);
  if (row === undefined) throw unknown('evaluator', id);
  return row;
}

/** @throws AssayError conflict: two evaluators with one score key would write over each other's scores */
export async function refuseTakenName(
  tx: TransactionSql,
  organizationId: string,
  wanted: { name: string; scoreKey: string },
  ownId: string | null,
): Promise<void> {
  const other = await findNameTaken(tx, organizationId, wanted.scoreKey, ownId);
  if (other === undefined) return;
  const message =
    other.name === wanted.name
      ? `There is an evaluator named ${quoteValue(other.name)} already: ${other.evaluator_id}`
      : `The name ${quoteValue(wanted.name)} has the score key ${quoteValue(wanted.scoreKey)}, ` +
        `which is that of the evaluator ${quoteValue(other.name)}: ${other.evaluator_id}`;
  throw new AssayError('conflict', message);
}

/** @throws AssayError conflict for an evaluator that can score nothing by itself */
export function refuseImported({ external_config }: EvaluatorRow): void {
  if (!isImported(external_config?.adapter)) return;
  throw new AssayError(
    'conflict',
    'The judgments of this evaluator are imported: it cannot score requests itself',
  );
}

/** @throws AssayError invalid_body */
export function checkThresholdOf(
  scoringType: ScoringType,
  { llm_template: llmTemplate, code_template: codeTemplate, external_config: externalConfig }: Templates,
  threshold: number | null,
  isKept: boolean,
): void {
  checkThreshold(threshold, { scoringType, llmTemplate, codeTemplate, externalConfig }, isKept);
}
