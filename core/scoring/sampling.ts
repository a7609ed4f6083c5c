/** Sampling of requests by an evaluator: it depends on the two ids alone, so that a replay picks the same requests. */
import { createHash } from 'node:crypto';

const HUNDRED_PERCENT = 100;
const TWO_TO_48 = 2 ** 48;

/** Returns the point of a request for an evaluator, in [0, 100): evenly spread, and independent between evaluators. */
export function samplingPoint(evaluatorId: string, requestId: string): number {
  const digest = createHash('sha256').update(evaluatorId).update('\0').update(requestId).digest();
  return (digest.readUIntBE(0, 6) / TWO_TO_48) * HUNDRED_PERCENT;
}

/** Returns whether an evaluator that samples `ratePercent` of the requests takes this one. 0 takes none, 100 takes all. */
export function isSampled(evaluatorId: string, requestId: string, ratePercent: number): boolean {
  return samplingPoint(evaluatorId, requestId) < ratePercent;
}
