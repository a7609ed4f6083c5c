/** The metrics of a comparison: the scores that both sides have, and the others. */
import { quoteValue } from '#core/contracts/check.ts';
import {
  BUILT_IN_METRICS,
  type BuiltInMetric,
  type CompareBody,
  type ComparisonJson,
} from '#core/contracts/comparison.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { Amount } from '#core/experiments/gate/mod.ts';
import type { Confusion, Interval } from '#core/statistics/mod.ts';
import type { EvaluatorFacts, Measured } from './measured.ts';

/** A metric that is wanted, by its name or the id of its evaluator, with the margin of its own. */
export type WantedMetric = {
  metric: string;
  margin: Amount | null;
  /** False: nothing is decided by its p value. */
  isTested: boolean;
};

export type Sides = { baseline: Measured; candidate: Measured };
type Evaluators = ReadonlyMap<string, EvaluatorFacts>;
type LeftOut = ComparisonJson['candidates'][number]['left_out'];

/** A metric that is compared. */
export type ChosenMetric = {
  metric: 'score' | BuiltInMetric;
  name: string;
  /** The largest loss that is accepted. */
  margin: Amount | null;
  /** False: nothing is decided by its p value, so it is not adjusted together with others. */
  isTested: boolean;
  /** The evaluator of a score; null for other metrics. */
  evaluator: EvaluatorFacts | null;
  /** The lowest and the highest score that its version names; null: it names none. */
  range: Interval | null;
  /** The evaluator's agreement with people; null: they rated nothing; absent: it does not pass or fail. */
  confusion?: Confusion | null;
  /** Present when the candidate may have ended early by this score: the smallest and largest score, if known. */
  looks?: { range: Interval | null };
};

type MetricsOptions = {
  evaluators: Evaluators;
  /** Ranges of scores, by evaluator. */
  ranges: ReadonlyMap<string, Interval | null>;
  /** By evaluator. */
  confusions: ReadonlyMap<string, Confusion | null>;
  /** The margin of scores where all metrics are wanted. */
  margin: number | null;
  wanted: readonly WantedMetric[] | null;
};

/** Returns the metrics that a body asks for; null: all. */
export function wantedOf({ metrics, margin }: CompareBody): WantedMetric[] | null {
  if (metrics === undefined) return null;
  const ofScores: Amount | null = margin === undefined ? null : { unit: 'absolute', value: margin };
  return metrics.map((metric) => ({ metric, margin: isBuiltIn(metric) ? null : ofScores, isTested: true }));
}

const isBuiltIn = (name: string): boolean => BUILT_IN_METRICS.some((metric) => metric === name);

/**
 * Returns the metrics of two sides: the scores that both have in the same version, and the others.
 * @throws AssayError invalid_body for a wanted one that is not to be had
 */
export function metricsOf(
  sides: Sides,
  { evaluators, ranges, confusions, margin, wanted }: MetricsOptions,
): { metrics: ChosenMetric[]; leftOut: LeftOut } {
  const { baseline, candidate } = sides;
  const leftOut = leftOutOf(sides, evaluators);
  const ofScores: Amount | null = margin === null ? null : { unit: 'absolute', value: margin };
  const scores = baseline.evaluators
    .filter(({ id }) => !leftOut.some((one) => one.evaluator_id === id))
    .map(({ id }): ChosenMetric => {
      const evaluator = evaluators.get(id)!;
      return {
        metric: 'score',
        name: evaluator.name,
        margin: ofScores,
        isTested: true,
        evaluator,
        range: ranges.get(id) ?? null,
        ...(confusions.has(id) && { confusion: confusions.get(id)! }),
        ...(mayEndEarly(sides, id) && { looks: { range: candidate.earlyStop!.range } }),
      };
    });
  const others = BUILT_IN_METRICS.map(
    (metric): ChosenMetric => ({
      metric,
      name: metric,
      margin: null,
      isTested: true,
      evaluator: null,
      range: null,
    }),
  );
  const all = [...scores, ...others];
  if (wanted === null) return { metrics: all, leftOut };
  const metrics = wanted.map(({ metric, ...own }) => ({ ...findMetric(all, metric, leftOut), ...own }));
  return { metrics, leftOut: [] };
}

/** Returns whether a candidate was looked at by this evaluator while it ran, beside this baseline. */
function mayEndEarly({ baseline, candidate }: Sides, evaluatorId: string): boolean {
  return candidate.earlyStop?.evaluatorId === evaluatorId && candidate.baselineId === baseline.experimentId;
}

/** @throws AssayError invalid_body for a metric that the two sides have not in common */
function findMetric(all: readonly ChosenMetric[], metric: string, leftOut: LeftOut): ChosenMetric {
  const isIt = (id: string | undefined, name: string) =>
    id === metric || name.toLowerCase() === metric.toLowerCase();
  const found = all.find(({ evaluator, name }) => isIt(evaluator?.id, name));
  if (found !== undefined) return found;
  const left = leftOut.find(({ evaluator_id, name }) => isIt(evaluator_id, name));
  const why =
    left === undefined ? `there are ${all.map(({ name }) => quoteValue(name)).join(', ')}` : left.reason;
  throw new AssayError('invalid_body', `The metric ${quoteValue(metric)} cannot be compared: ${why}`);
}

/** Returns the evaluators whose scores are not comparable, with the reasons. */
function leftOutOf({ baseline, candidate }: Sides, evaluators: Evaluators): LeftOut {
  const differing = baseline.evaluators.flatMap(({ id, version }) => {
    const other = candidate.evaluators.find((one) => one.id === id);
    if (other?.version === version) return [];
    const reason =
      other === undefined
        ? 'The candidate does not use it'
        : `The baseline uses its version ${version}, the candidate its version ${other.version}`;
    return [{ id, reason }];
  });
  const added = candidate.evaluators
    .filter(({ id }) => !baseline.evaluators.some((one) => one.id === id))
    .map(({ id }) => ({ id, reason: 'The baseline does not use it' }));
  return [...differing, ...added].map(({ id, reason }) => ({
    evaluator_id: id,
    name: evaluators.get(id)!.name,
    reason,
  }));
}
