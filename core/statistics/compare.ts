/** Compares two sides by one metric, and by several. */
import { bootstrapInterval } from './bootstrap.ts';
import { boundedInterval } from './bounded.ts';
import {
  fewestGroups,
  type Groups,
  groupPairs,
  isConstant,
  isUngrouped,
  standardError,
  unequalGroups,
} from './groups.ts';
import { holmAdjusted } from './holm.ts';
import { mcnemarTest } from './mcnemar.ts';
import { newcombeInterval, type PairedTable } from './newcombe.ts';
import type { Pair, Paired } from './pairs.ts';
import { permutationTest } from './permutation.ts';
import { detectableFromError } from './power.ts';
import { dividePairs, finiteProduct, scaleForPairs } from './scale.ts';
import { type Direction, type Verdict, verdictOf } from './verdict.ts';
import { type Wilcoxon, wilcoxonTest } from './wilcoxon.ts';
import type { Interval } from './wilson.ts';

/** The values of a metric: 0 and 1, ratings whose steps need not be equal, or amounts. */
export type MetricKind = 'binary' | 'ordinal' | 'numeric';

export type CompareOptions = {
  kind: MetricKind;
  direction: Direction;
  /** One less the confidence of the interval, and the largest p of a difference that counts; 0.05 by default. */
  alpha?: number | undefined;
  /** The largest loss that is accepted, in units of the metric; null: none is. */
  margin?: number | null | undefined;
  /** In its place, of a metric of which less is better: the largest loss as a share of the baseline's mean. */
  marginShare?: number | null | undefined;
  /** The smallest and largest value that the metric can have. It bounds the mean when all differences, or nearly all, are equal. */
  range?: Interval | null | undefined;
  /** False: nothing is decided by its p value, so it is none of those that are adjusted together. */
  isTested?: boolean | undefined;
  seed?: number | undefined;
  /** Resamples of the bootstrap at most, and of the permutation test; 10,000 by default. */
  resamples?: number | undefined;
};

export type ComparedInterval = Interval & { method: 'newcombe' | 'bca' | 'unanimous' | 'bounded' };

export type ComparedP = { value: number; method: 'mcnemar mid-p' | 'sign flip, exact' | 'sign flip, drawn' };

/** A comparison by one metric. Differences are candidate less baseline, in units of the metric. */
export type Comparison = {
  pairs: number;
  /** Independent groups: clusters, and items without one. */
  groups: number;
  missingBaseline: number;
  missingCandidate: number;
  /** Means of paired items, and their mean difference; null without pairs. */
  means: { baseline: number; candidate: number; difference: number } | null;
  interval: ComparedInterval | null;
  /** The reason that there is no interval. */
  intervalNote: string | null;
  /** The difference that all groups have, where that is why there is no interval; null: they differ. */
  shared: number | null;
  /** True when the loss is certainly less than a margin that is a share of the baseline's mean; null: the margin is none. */
  isWithinShare: boolean | null;
  pValue: ComparedP | null;
  /** p adjusted for all metrics that are tested together; p itself for one metric, and for one that is not tested. */
  adjustedPValue: number | null;
  /** Counts of a binary metric that was measured once for each item. */
  table: PairedTable | null;
  /** The test of an ordinal metric, which takes items for independent. */
  wilcoxon: Wilcoxon | null;
  /** The smallest difference that as many pairs as these find with a power of 80 %; null when too few or all equal. */
  minimumDetectable: number | null;
  verdict: Verdict;
};

/** The pairs of two sides for one metric. */
export type Metric = { paired: Paired; options: CompareOptions };

const DEFAULT_ALPHA = 0.05;

function alphaOf({ alpha = DEFAULT_ALPHA }: CompareOptions): number {
  return alpha;
}

function tableOf(pairs: readonly Pair[]): PairedTable {
  const table = { both: 0, baselineOnly: 0, candidateOnly: 0, neither: 0 };
  for (const { baseline, candidate } of pairs) {
    if (baseline === candidate) table[baseline === 1 ? 'both' : 'neither'] += 1;
    else table[baseline === 1 ? 'baselineOnly' : 'candidateOnly'] += 1;
  }
  return table;
}

/** Returns whether McNemar's test and Newcombe's interval apply: zeros and ones, independent and measured once. */
function isPlainBinary({ pairs, repetitions }: Paired, groups: Groups, kind: MetricKind): boolean {
  const isBit = (value: number) => value === 0 || value === 1;
  return (
    kind === 'binary' &&
    repetitions === 1 &&
    isUngrouped(groups) &&
    pairs.every(({ baseline, candidate }) => isBit(baseline) && isBit(candidate))
  );
}

/**
 * Returns the bounds of the mean when all groups have the same difference d: groups of another one have a share of at most
 * q = 1 − (α/2)^(1/G), or they would have been seen (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934; J. A. Hanley and
 * A. Lippman-Hand's rule of three, JAMA 249, 1983), and at most the largest difference of the range. Groups count alike.
 */
function unanimousInterval(groups: Groups, alpha: number, range: Interval): Interval {
  const share = 1 - (alpha / 2) ** (1 / groups.sums.length);
  const span = range.high - range.low;
  return {
    low: groups.mean - share * (groups.mean + span),
    high: groups.mean + share * (span - groups.mean),
  };
}

function intervalOf(
  groups: Groups,
  table: PairedTable | null,
  options: CompareOptions,
): Pick<Comparison, 'interval' | 'intervalNote'> {
  const alpha = alphaOf(options);
  // Newcombe's interval is too narrow for so few as well: one or two items pass for not worse in up to 20 and 16 %.
  const isEnough = groups.sums.length >= fewestGroups(alpha);
  const plain = table === null || !isEnough ? null : newcombeInterval(table, alpha);
  if (plain !== null) return { interval: { ...plain, method: 'newcombe' }, intervalNote: null };
  const range = options.range ?? (options.kind === 'binary' ? { low: 0, high: 1 } : null);
  const unequal = unequalGroups(groups).length;
  const isBoundable = options.kind === 'binary' || unequal === 0;
  if (range !== null && groups.sums.length > 1 && isConstant(groups) && isBoundable) {
    return {
      interval: { ...unanimousInterval(groups, alpha, range), method: 'unanimous' },
      intervalNote: null,
    };
  }
  const { seed = 0, resamples } = options;
  // Groups that are so few cannot be called different, and do not show how far others may differ: of ten ratings two of which differ, BCa takes
  // a loss of just the margin for not worse in 28 % of experiments.
  const few = fewestGroups(alpha);
  if (isEnough && !isConstant(groups) && unequal < few) {
    if (range === null)
      return { interval: null, intervalNote: `fewer than ${few} independent items or clusters differ` };
    const bounded = boundedInterval(groups, { alpha, range, seed, draws: resamples });
    return { interval: { ...bounded, method: 'bounded' }, intervalNote: null };
  }
  const result = bootstrapInterval(groups, { alpha, seed, resamples });
  if (result.interval === null) return { interval: null, intervalNote: result.reason };
  return { interval: { ...result.interval, method: 'bca' }, intervalNote: null };
}

function pValueOf(groups: Groups, table: PairedTable | null, options: CompareOptions): ComparedP | null {
  if (groups.pairs === 0) return null;
  if (table !== null) {
    return { value: mcnemarTest(table.baselineOnly, table.candidateOnly).midP, method: 'mcnemar mid-p' };
  }
  const { pValue, method } = permutationTest(groups, {
    seed: options.seed ?? 0,
    permutations: options.resamples,
  });
  return { value: pValue, method: method === 'exact' ? 'sign flip, exact' : 'sign flip, drawn' };
}

function meansOf(pairs: readonly Pair[], difference: number): Comparison['means'] {
  if (pairs.length === 0) return null;
  const mean = (side: 'baseline' | 'candidate') =>
    pairs.reduce((sum, pair) => sum + pair[side], 0) / pairs.length;
  return { baseline: mean('baseline'), candidate: mean('candidate'), difference };
}

function minimumDetectable(groups: Groups, alpha: number): number | null {
  const error = standardError(groups);
  return error === null || isConstant(groups)
    ? null
    : detectableFromError(error, groups.sums.length, { alpha });
}

/**
 * Returns whether the candidate's mean is certainly less than the baseline's and a share of it: by the differences from as many
 * times the baseline, because that mean is itself an estimate. With a margin of what was measured, a loss of just half of the
 * baseline's mean would pass in 5 % of experiments, and of all of it in 8 %.
 */
function staysWithin({ pairs }: Paired, share: number, options: CompareOptions): boolean {
  const scaled = pairs.map((pair) => ({ ...pair, baseline: pair.baseline * (1 + share) }));
  const { seed = 0, resamples } = options;
  const { interval } = bootstrapInterval(groupPairs(scaled), { alpha: alphaOf(options), seed, resamples });
  return interval !== null && interval.high < 0;
}

/** Returns the comparison with a verdict by an adjusted p value. */
function decided(comparison: Comparison, options: CompareOptions, adjusted: number | null): Comparison {
  const { margin = null, marginShare = null } = options;
  const { isWithinShare } = comparison;
  const mean = comparison.means?.baseline ?? 0;
  const verdict = verdictOf({
    interval: comparison.interval,
    shared: comparison.shared,
    pValue: adjusted ?? 1,
    alpha: alphaOf(options),
    margin: marginShare === null ? margin : marginShare * Math.abs(mean),
    ...(isWithinShare !== null && { isWithinMargin: isWithinShare }),
    direction: options.direction,
  });
  return { ...comparison, adjustedPValue: adjusted, verdict };
}

/**
 * Compares a candidate with a baseline by one metric, over the items that both have. Independent items with one 0 or 1 on
 * each side are compared by McNemar's test (mid-p) and Newcombe's interval; everything else by the BCa bootstrap and the
 * sign-flip test, by cluster. An interval is of the level 1 − α, not adjusted for other metrics. Fewer groups than
 * `fewestGroups` have none, unless all differences are equal and the metric has a range.
 * @internal Exported so that tests and benchmarks compare by one metric.
 */
export function compareMetric({ paired, options }: Metric): Comparison {
  const scale = scaleForPairs(paired.pairs);
  if (scale === 1) return multiplied(compareScaled({ paired, options }), 1);
  const { range, margin } = options;
  const scaled: Metric = {
    paired: { ...paired, pairs: dividePairs(paired.pairs, scale) },
    options: {
      ...options,
      range: range && { low: range.low / scale, high: range.high / scale },
      margin: margin == null ? null : margin / scale,
    },
  };
  return multiplied(compareScaled(scaled), scale);
}

/** Returns a comparison of values that were divided, in units of the metric. */
function multiplied(comparison: Comparison, scale: number): Comparison {
  const times = (value: number) => finiteProduct(value, scale);
  const { means, interval, shared, minimumDetectable: detectable } = comparison;
  return {
    ...comparison,
    means: means && {
      baseline: times(means.baseline),
      candidate: times(means.candidate),
      difference: times(means.difference),
    },
    interval: interval && { ...interval, low: times(interval.low), high: times(interval.high) },
    shared: shared === null ? null : times(shared),
    minimumDetectable: detectable === null ? null : times(detectable),
  };
}

/** Compares by one metric whose values have powers within a double. */
function compareScaled({ paired, options }: Metric): Comparison {
  const { pairs, missingBaseline, missingCandidate } = paired;
  const { marginShare = null } = options;
  const groups = groupPairs(pairs);
  const table = isPlainBinary(paired, groups, options.kind) ? tableOf(pairs) : null;
  const pValue = pValueOf(groups, table, options);
  const isOrdinal = options.kind === 'ordinal' && pairs.length > 0;
  const bounds = intervalOf(groups, table, options);
  const isShared = bounds.interval === null && groups.sums.length > 1 && isConstant(groups);
  const comparison: Comparison = {
    pairs: pairs.length,
    groups: groups.sums.length,
    missingBaseline,
    missingCandidate,
    means: meansOf(pairs, groups.mean),
    ...bounds,
    shared: isShared ? groups.mean : null,
    isWithinShare: marginShare === null ? null : staysWithin(paired, marginShare, options),
    pValue,
    adjustedPValue: null,
    table,
    wilcoxon: isOrdinal ? wilcoxonTest(pairs.map((pair) => pair.candidate - pair.baseline)) : null,
    minimumDetectable: minimumDetectable(groups, alphaOf(options)),
    verdict: 'undecided',
  };
  return decided(comparison, options, pValue?.value ?? null);
}

/**
 * Compares by several metrics. Their p values are adjusted together by Holm's method, and `better` and `worse` need an
 * adjusted p of α at most. Intervals stay as they are: one may leave out 0 while the verdict is `undecided`, because among
 * many metrics one such interval is expected by chance. `not_worse` is not adjusted, see `verdictOf`.
 */
export function compareMetrics(metrics: readonly Metric[]): Comparison[] {
  const comparisons = metrics.map(compareMetric);
  const tested = comparisons.flatMap(({ pValue }, index) =>
    pValue === null || metrics[index]!.options.isTested === false ? [] : [{ index, pValue }],
  );
  const adjusted = holmAdjusted(tested.map(({ pValue }) => pValue.value));
  const byIndex = new Map(tested.map(({ index }, rank) => [index, adjusted[rank]!]));
  return comparisons.map((one, index) =>
    decided(one, metrics[index]!.options, byIndex.get(index) ?? one.pValue?.value ?? null),
  );
}
