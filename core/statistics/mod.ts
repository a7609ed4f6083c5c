/** Statistics of experiments: whether a candidate is better than a baseline, and how far people agree. Pure. */
export { type Agreement, cohensKappaOf, fleissKappa } from './agreement.ts';
export {
  type CompareOptions,
  type Comparison,
  compareMetrics,
  type Metric,
  type MetricKind,
} from './compare.ts';
export { decisionOf, PEEK_EVERY, peek } from './confidence-sequence.ts';
export { correctedDifference } from './corrected.ts';
export { groupPairs, standardError } from './groups.ts';
export { krippendorffAlpha, type RatingLevel } from './krippendorff.ts';
export type { Interval } from './newcombe.ts';
export { type Pair, pairRuns, type Run } from './pairs.ts';
export { detectableDifference } from './power.ts';
export { verdictOf } from './verdict.ts';
export { type Preference, settleOrders, winRateOf } from './win-rate.ts';
