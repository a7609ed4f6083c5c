/** The computing of a comparison, which runs in a thread: a few hundred milliseconds for each metric of 10,000 items. Pure. */
import type { MetricComparisonJson } from '#core/contracts/comparison.ts';
import {
  type CompareOptions,
  type Comparison,
  compareMetrics,
  correctedDifference,
  dividePairs,
  finiteProduct,
  groupPairs,
  type Interval,
  itemMean,
  type Metric,
  type MetricKind,
  meanOf,
  type Pair,
  pairRuns,
  peek,
  type Run,
  scaleForPairs,
  standardError,
  verdictOf,
} from '#core/statistics/mod.ts';
import type { ItemTexts } from './measured.ts';
import type { ChosenMetric } from './metrics.ts';
import { type ItemFacts, itemsOf, runsOf, type Side, type SideTexts, sideOf } from './side.ts';

export type CompareTask = {
  baseline: SideTexts;
  candidate: SideTexts;
  items: ItemTexts;
  /** Ids of items that ask or expect another thing in the versions of both sides. */
  changed: string[];
  metrics: ChosenMetric[];
  options: { alpha: number; seed: number };
  /** Regressed items that are listed for each metric. */
  regressions: number;
};

/** A metric with its pairs. */
type Task = Metric & {
  chosen: ChosenMetric;
  /** Answers of each side without a score. */
  ungraded: { baseline: number; candidate: number };
  alone: MetricComparisonJson['candidate_alone'];
  options: CompareOptions & { alpha: number; margin: number | null };
};

/** Compares all metrics of one candidate with its baseline. */
export function compareInThread({
  metrics,
  options,
  regressions,
  ...texts
}: CompareTask): MetricComparisonJson[] {
  const items = itemsOf(texts.items);
  const changed = new Set(texts.changed);
  const sides = {
    baseline: sideOf(texts.baseline, items, changed),
    candidate: sideOf(texts.candidate, items, changed),
  };
  const tasks = metrics.map((chosen) => taskOf(chosen, sides, options));
  const comparisons = compareMetrics(tasks);
  return tasks.map((task, index) => ({
    ...metricJson(task, comparisons[index]!),
    ...(task.chosen.looks !== undefined && looked(task, task.chosen.looks, sides.candidate)),
    regressions: regressionsOf(task, regressions).map((pair) => withRequests(pair, sides, items)),
  }));
}

type Sides = { baseline: Side; candidate: Side };

function taskOf(chosen: ChosenMetric, { baseline, candidate }: Sides, options: CompareTask['options']): Task {
  const [before, after] = [runsOf(baseline, chosen), runsOf(candidate, chosen)];
  const all = [...before.measured, ...after.measured];
  const alone = candidate.changed.size === 0 ? after : runsOf({ ...candidate, changed: new Set() }, chosen);
  return {
    chosen,
    ungraded: { baseline: before.ungraded, candidate: after.ungraded },
    alone: { ...itemMean(alone.measured), ungraded: alone.ungraded },
    paired: pairRuns(before.measured, after.measured),
    options: {
      ...options,
      ...marginOf(chosen, before.measured),
      kind: kindOf(chosen, all),
      direction: chosen.evaluator === null ? 'lower' : 'higher',
      range: chosen.range ?? seenRange(chosen, all),
      isTested: chosen.isTested,
    },
  };
}

/**
 * Returns a margin in the units of a metric, or as the share of the baseline's mean that it is; of errors, which are a share, it
 * is one. Of scores it is the share of the mean that was measured: what is left of the baseline varies less than all of it, so
 * this errs on the safe side.
 */
function marginOf({ metric, margin }: ChosenMetric, baseline: readonly Run[]) {
  if (margin === null) return { margin: null };
  if (margin.unit === 'absolute' || metric === 'errors') return { margin: margin.value };
  if (metric !== 'score') return { margin: null, marginShare: margin.value };
  const mean = meanOf(Float64Array.from(baseline, ({ value }) => value)) ?? 0;
  return { margin: Math.abs(margin.value * mean) };
}

/**
 * Returns the range of a metric that names none, by its values: of scores from 0 to 1 it is that, else from the smallest to the
 * largest. Null: there is one value, or none.
 */
function seenRange({ evaluator }: ChosenMetric, runs: readonly Run[]): Interval | null {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { value } of runs) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (evaluator !== null && low >= 0 && high <= 1) return { low: 0, high: 1 };
  return low < high ? { low, high } : null;
}

/** Returns what the values of a metric are: the steps of a judge's scale and of its choices need not be equal. */
function kindOf({ metric, evaluator }: ChosenMetric, runs: readonly Run[]): MetricKind {
  if (evaluator === null) return metric === 'errors' ? 'binary' : 'numeric';
  if (runs.every(({ value }) => value === 0 || value === 1)) return 'binary';
  return evaluator.scoringType === 'LLM-RANGE' || evaluator.scoringType === 'LLM-CHOICE'
    ? 'ordinal'
    : 'numeric';
}

function metricJson(task: Task, comparison: Comparison): Omit<MetricComparisonJson, 'regressions'> {
  const { chosen, options, ungraded, alone } = task;
  const { means, pValue, table, wilcoxon } = comparison;
  return {
    metric: chosen.metric,
    evaluator_id: chosen.evaluator?.id ?? null,
    name: chosen.name,
    kind: options.kind,
    direction: options.direction,
    pairs: comparison.pairs,
    groups: comparison.groups,
    missing_baseline: comparison.missingBaseline,
    missing_candidate: comparison.missingCandidate,
    ungraded_baseline: ungraded.baseline,
    ungraded_candidate: ungraded.candidate,
    baseline_mean: means?.baseline ?? null,
    candidate_mean: means?.candidate ?? null,
    candidate_alone: alone,
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
  };
}

/**
 * Returns the interval that holds at each look, and the verdict by it. A p value that was looked at while items came in would
 * find differences by chance, so there is none.
 */
function looked({ paired, options }: Task, { range }: { range: Interval | null }, { runs }: Side) {
  const places = new Map<string, number>();
  for (const [index, itemId] of runs.itemIds.entries())
    places.set(itemId, Math.min(places.get(itemId) ?? Number.POSITIVE_INFINITY, runs.positions[index]!));
  const pairs = paired.pairs.toSorted((left, right) => places.get(left.itemId)! - places.get(right.itemId)!);
  const scale = scaleForPairs(pairs);
  const { sums, sizes } = groupPairs(dividePairs(pairs, scale));
  const { alpha, margin, direction } = options;
  const differences = sums.map((sum, index) => sum / sizes[index]!);
  const { interval: scaled, method } = peek(differences, {
    alpha,
    margin: margin === null ? null : margin / scale,
    direction,
    range: range && { low: range.low / scale, high: range.high / scale },
  });
  const interval = scaled && {
    low: finiteProduct(scaled.low, scale),
    high: finiteProduct(scaled.high, scale),
  };
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
function correctedOf({ paired, options, chosen: { confusion } }: Task) {
  if (confusion === undefined) return { corrected: null, corrected_note: null };
  const groups = groupPairs(paired.pairs);
  const error = standardError(groups);
  if (error === null) return { corrected: null, corrected_note: 'there are too few items' };
  const { mean: difference } = groups;
  const found = correctedDifference({ difference, error, confusion, alpha: options.alpha });
  return found.difference === null
    ? { corrected: null, corrected_note: found.reason }
    : { corrected: { difference: found.difference, ...found.interval }, corrected_note: null };
}

/** Returns the pairs in which the candidate lost, the largest loss first. */
function regressionsOf({ paired, options }: Task, limit: number): Pair[] {
  const sign = options.direction === 'higher' ? 1 : -1;
  const lossOf = ({ baseline, candidate }: Pair) => sign * (baseline - candidate);
  return paired.pairs
    .filter((pair) => lossOf(pair) > 0)
    .sort((left, right) => lossOf(right) - lossOf(left))
    .slice(0, limit);
}

/** Returns a regressed item with what callers call it, and its first requests. */
function withRequests(
  { itemId, baseline, candidate }: Pair,
  sides: Sides,
  items: ReadonlyMap<string, ItemFacts>,
): MetricComparisonJson['regressions'][number] {
  return {
    item_id: itemId,
    external_id: items.get(itemId)?.externalId ?? null,
    baseline,
    candidate,
    difference: finiteProduct(candidate - baseline, 1),
    baseline_request_id: sides.baseline.requests.get(itemId) ?? null,
    candidate_request_id: sides.candidate.requests.get(itemId) ?? null,
  };
}
