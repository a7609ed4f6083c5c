/** Which requests an evaluator samples: a matter of the two ids alone, so that a replay picks the same ones. */
import { createHash } from 'node:crypto';

const HUNDRED_PERCENT = 100;
const TWO_TO_48 = 2 ** 48;

/** Where a request lies for an evaluator, from 0 up to and without 100: evenly, and another for each evaluator. */
export function samplingPoint(evaluatorId: string, requestId: string): number {
  const digest = createHash('sha256').update(evaluatorId).update('\0').update(requestId).digest();
  return (digest.readUIntBE(0, 6) / TWO_TO_48) * HUNDRED_PERCENT;
}

/** Whether an evaluator that samples `ratePercent` of the requests takes this one. 0 takes none, 100 all. */
export function isSampled(evaluatorId: string, requestId: string, ratePercent: number): boolean {
  return samplingPoint(evaluatorId, requestId) < ratePercent;
}
