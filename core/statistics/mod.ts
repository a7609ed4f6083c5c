/**
 * Statistics: whether a candidate is better than a baseline, how far people agree, how far a judge can be trusted, and what
 * follows for its pass rate. Pure.
 */
export { type Agreement, cohensKappa, fleissKappa } from './agreement.ts';
export {
  type CompareOptions,
  type Comparison,
  compareMetrics,
  type Metric,
  type MetricKind,
} from './compare.ts';
export { decisionOf, PEEK_EVERY, peek } from './confidence-sequence.ts';
export {
  accuracyOf,
  type Confusion,
  kappaInterval,
  kappaOf,
  totalOf,
  trueNegativeRate,
  truePositiveRate,
} from './confusion.ts';
export { correctedDifference } from './corrected.ts';
export { groupPairs, standardError } from './groups.ts';
export { krippendorffAlpha, type RatingLevel } from './krippendorff.ts';
export { middleOf } from './middle.ts';
export { itemMean, type Pair, pairRuns, type Run } from './pairs.ts';
export { type Correction, correctedPassRate, correctedPassRateInterval } from './pass-rate.ts';
export { detectableDifference } from './power.ts';
export { dividePairs, finiteProduct, meanOf, sampleDeviation, scaleForPairs } from './scale.ts';
export { verdictOf } from './verdict.ts';
export { type Interval, type Rate, rateOf } from './wilson.ts';
export { type Preference, settleOrders, winRateOf } from './win-rate.ts';
