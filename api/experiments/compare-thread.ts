/** The computing of a comparison, which runs in a thread: a few hundred milliseconds for each metric of 10,000 items. Pure. */
import type { MetricComparisonJson } from '#core/contracts/comparison.ts';
import type { Confusion } from '#core/scores/mod.ts';
import {
  type Comparison,
  compareMetrics,
  correctedDifference,
  groupPairs,
  type Interval,
  type Metric,
  type Pair,
  pairRuns,
  peek,
  standardError,
  verdictOf,
} from '#core/statistics/mod.ts';

const DEFAULT_ALPHA = 0.05;

/** A metric with its names, and where its runs are found. */
export type MetricTask = Metric &
  Pick<MetricComparisonJson, 'metric' | 'evaluator_id' | 'name'> & {
    /** The evaluator's agreement with people; null: they rated nothing; absent: it does not pass or fail. */
    confusion?: Confusion | null;
    /** Of a candidate that may have ended early by this metric. */
    sequence?: Sequence;
  };

/** The looks at a metric while its experiment ran. */
export type Sequence = {
  range: Interval | null;
  /** The ids of items, in the order in which they were asked. */
  order: string[];
};

export type CompareTask = { metrics: MetricTask[]; regressions: number };

/** A metric as the API shows it, with the ids of regressed items alone. */
export type ComparedMetric = Omit<MetricComparisonJson, 'regressions'> & {
  regressions: { itemId: string; baseline: number; candidate: number; difference: number }[];
};

/** Compares all metrics of one candidate with its baseline. */
export function compareInThread({ metrics, regressions }: CompareTask): ComparedMetric[] {
  const comparisons = compareMetrics(metrics);
  return metrics.map((metric, index) => ({
    ...metricJson(metric, comparisons[index]!),
    regressions: regressionsOf(metric, regressions),
  }));
}

function metricJson(task: MetricTask, comparison: Comparison): Omit<ComparedMetric, 'regressions'> {
  const { metric, evaluator_id, name, options } = task;
  const { means, pValue, table, wilcoxon } = comparison;
  return {
    metric,
    evaluator_id,
    name,
    kind: options.kind,
    direction: options.direction,
    pairs: comparison.pairs,
    groups: comparison.groups,
    missing_baseline: comparison.missingBaseline,
    missing_candidate: comparison.missingCandidate,
    baseline_mean: means?.baseline ?? null,
    candidate_mean: means?.candidate ?? null,
    difference: means?.difference ?? null,
    interval: comparison.interval,
    interval_note: comparison.intervalNote,
    p_value: pValue?.value ?? null,
    p_method: pValue?.method ?? null,
    adjusted_p_value: comparison.adjustedPValue,
    table: table && {
      both: table.both,
      baseline_only: table.baselineOnly,
      candidate_only: table.candidateOnly,
      neither: table.neither,
    },
    wilcoxon: wilcoxon && {
      p_value: wilcoxon.pValue,
      wins: wilcoxon.wins,
      ties: wilcoxon.ties,
      losses: wilcoxon.losses,
    },
    minimum_detectable: comparison.minimumDetectable,
    ...correctedOf(task),
    verdict: comparison.verdict,
    ...(task.sequence !== undefined && looked(task, task.sequence)),
  };
}

/**
 * Returns the interval that holds at each look, and the verdict by it. A p value that was looked at while items came in would
 * find differences by chance, so there is none.
 */
function looked({ baseline, candidate, options }: MetricTask, { range, order }: Sequence) {
  const places = new Map(order.map((itemId, index) => [itemId, index]));
  const placeOf = ({ itemId }: Pair) => places.get(itemId) ?? order.length;
  const pairs = pairRuns(baseline, candidate).pairs.toSorted((left, right) => placeOf(left) - placeOf(right));
  const { sums, sizes } = groupPairs(pairs);
  const { alpha = DEFAULT_ALPHA, margin = null, direction } = options;
  const differences = sums.map((sum, index) => sum / sizes[index]!);
  const { interval, method } = peek(differences, { alpha, margin, direction, range });
  return {
    interval: interval && { ...interval, method },
    interval_note: interval === null ? 'There are too few items' : null,
    p_value: null,
    p_method: null,
    adjusted_p_value: null,
    verdict: verdictOf({ interval, pValue: 0, alpha, margin, direction }),
  };
}

/** Returns the difference that people would have found, by how far the evaluator agrees with them. */
function correctedOf({ baseline, candidate, options, confusion }: MetricTask) {
  if (confusion === undefined) return { corrected: null, corrected_note: null };
  const { pairs } = pairRuns(baseline, candidate);
  const groups = groupPairs(pairs);
  const error = standardError(groups);
  if (error === null) return { corrected: null, corrected_note: 'there are too few items' };
  const { mean: difference } = groups;
  const found = correctedDifference({ difference, error, confusion, alpha: options.alpha ?? DEFAULT_ALPHA });
  return found.difference === null
    ? { corrected: null, corrected_note: found.reason }
    : { corrected: { difference: found.difference, ...found.interval }, corrected_note: null };
}

/** Returns the items in which the candidate lost, the largest loss first. */
function regressionsOf(
  { baseline, candidate, options }: MetricTask,
  limit: number,
): ComparedMetric['regressions'] {
  const sign = options.direction === 'higher' ? 1 : -1;
  return pairRuns(baseline, candidate)
    .pairs.map((pair) => ({
      itemId: pair.itemId,
      baseline: pair.baseline,
      candidate: pair.candidate,
      difference: pair.candidate - pair.baseline,
    }))
    .filter(({ difference }) => sign * difference < 0)
    .sort((a, b) => sign * (a.difference - b.difference))
    .slice(0, limit);
}
