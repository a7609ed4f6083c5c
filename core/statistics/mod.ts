/** Statistics of experiments: whether a candidate is better than a baseline, and how far people agree. Pure. */
export { type Agreement, cohensKappaOf, fleissKappa, type Weights } from './agreement.ts';
export {
  type ComparedInterval,
  type ComparedP,
  type CompareOptions,
  type Comparison,
  compareMetric,
  compareMetrics,
  type Metric,
  type MetricKind,
} from './compare.ts';
export {
  type Decision,
  decisionOf,
  PEEK_EVERY,
  type Peek,
  type PeekOptions,
  peek,
} from './confidence-sequence.ts';
export { type Corrected, type CorrectedInput, correctedDifference } from './corrected.ts';
export { type Groups, groupPairs, singleGroups, standardError } from './groups.ts';
export { holmAdjusted } from './holm.ts';
export { krippendorffAlpha, type RatingLevel } from './krippendorff.ts';
export type { Interval, PairedTable } from './newcombe.ts';
export { type Pair, type Paired, pairRuns, type Run } from './pairs.ts';
export { detectableDifference, detectableShare, effectiveCount, type PowerOptions } from './power.ts';
export { type Direction, type Verdict, verdictOf } from './verdict.ts';
export type { Wilcoxon } from './wilcoxon.ts';
export { type Preference, settleOrders, type WinRate, winRateOf } from './win-rate.ts';
