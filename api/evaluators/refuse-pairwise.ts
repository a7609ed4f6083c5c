import { AssayError } from '#core/contracts/errors.ts';
import type { ScoringType } from '#core/evaluations/mod.ts';

/** @throws AssayError invalid_body for an evaluator that judges pairs where one is needed that judges single answers */
export function refusePairwise(scoringType: ScoringType): void {
  if (scoringType !== 'LLM-PAIRWISE') return;
  throw new AssayError(
    'invalid_body',
    'An evaluator of the type LLM-PAIRWISE judges the pairs of two experiments only',
  );
}
