/** The metrics of a comparison: the scores that both sides have, and the others, each with its options. */
import { quoteValue } from '#core/contracts/check.ts';
import {
  BUILT_IN_METRICS,
  type BuiltInMetric,
  type CompareBody,
  type ComparisonJson,
} from '#core/contracts/comparison.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { Amount } from '#core/experiments/gate/mod.ts';
import type { Confusion } from '#core/scores/mod.ts';
import type { CompareOptions, MetricKind, Run } from '#core/statistics/mod.ts';
import type { MetricTask, Sequence } from './compare-thread.ts';
import { type EvaluatorFacts, type ItemFacts, type Measured, runsOf } from './measured.ts';

/** A metric that is wanted, by its name or the id of its evaluator, with the margin of its own. */
export type WantedMetric = { metric: string; margin: Amount | null };

export type Sides = { baseline: Measured; candidate: Measured };
type Evaluators = ReadonlyMap<string, EvaluatorFacts>;
type LeftOut = ComparisonJson['candidates'][number]['left_out'];

type MetricsOptions = {
  items: ReadonlyMap<string, ItemFacts>;
  evaluators: Evaluators;
  /** By evaluator, how far it agrees with people; null: they rated nothing. */
  confusions: ReadonlyMap<string, Confusion | null>;
  options: Pick<CompareOptions, 'alpha' | 'seed'>;
  /** The margin of scores where all metrics are wanted. */
  margin: number | null;
  wanted: readonly WantedMetric[] | null;
};

/** Returns the metrics that a body asks for; null: all. */
export function wantedOf({ metrics, margin }: CompareBody): WantedMetric[] | null {
  if (metrics === undefined) return null;
  const ofScores: Amount | null = margin === undefined ? null : { unit: 'absolute', value: margin };
  return metrics.map((metric) => ({ metric, margin: isBuiltIn(metric) ? null : ofScores }));
}

const isBuiltIn = (name: string) => BUILT_IN_METRICS.some((metric) => metric === name);

/**
 * Returns the metrics of two sides: the scores that both have in the same version, and the others.
 * @throws AssayError invalid_body for a wanted one that is not to be had
 */
export function metricsOf(
  sides: Sides,
  { items, evaluators, confusions, options, margin, wanted }: MetricsOptions,
): { metrics: MetricTask[]; leftOut: LeftOut } {
  const { baseline, candidate } = sides;
  const leftOut = leftOutOf(sides, evaluators);
  const scored = baseline.evaluators.filter(({ id }) => !leftOut.some((one) => one.evaluator_id === id));
  const all = [
    ...scored.map(({ id }) => ({ id, metric: 'score', name: evaluators.get(id)!.name })),
    ...BUILT_IN_METRICS.map((metric) => ({ id: null, metric, name: metric })),
  ];
  const clustered = (runs: readonly Run[]) =>
    runs.map((run) => ({ ...run, cluster: items.get(run.itemId)?.cluster ?? null }));
  const task = ({ id, metric, name }: (typeof all)[number], own: Amount | null): MetricTask => {
    const runs = ({ scores, ...measured }: Measured) =>
      id === null ? runsOf({ scores, ...measured }, metric as BuiltInMetric) : scores.get(id)!;
    const [before, after] = [runs(baseline), runs(candidate)];
    const values = [...before, ...after];
    return {
      metric,
      evaluator_id: id,
      name,
      baseline: clustered(before),
      candidate: clustered(after),
      ...(id !== null && confusions.has(id) && { confusion: confusions.get(id)! }),
      ...(id !== null && mayEndEarly(sides, id) && { sequence: sequenceOf(candidate) }),
      options: {
        ...options,
        margin: marginOf(own, metric, before),
        kind:
          id === null ? (metric === 'errors' ? 'binary' : 'numeric') : kindOf(evaluators.get(id)!, values),
        direction: id === null ? 'lower' : 'higher',
      },
    };
  };
  if (wanted === null) {
    const ofScores: Amount | null = margin === null ? null : { unit: 'absolute', value: margin };
    return { metrics: all.map((one) => task(one, one.id === null ? null : ofScores)), leftOut };
  }
  const chosen = wanted.map((one) => ({ one, found: findMetric(all, one.metric, leftOut) }));
  return {
    metrics: chosen.map(({ one, found }) => task(found, one.margin)),
    leftOut: [],
  };
}

/** Returns whether a candidate was looked at by this evaluator while it ran, beside this baseline. */
function mayEndEarly({ baseline, candidate }: Sides, evaluatorId: string): boolean {
  return candidate.earlyStop?.evaluatorId === evaluatorId && candidate.baselineId === baseline.experimentId;
}

function sequenceOf({ earlyStop, rows }: Measured): Sequence {
  const inOrder = rows.toSorted((left, right) => left.position - right.position);
  return { range: earlyStop!.range, order: [...new Set(inOrder.map(({ itemId }) => itemId))] };
}

type NamedMetric = { id: string | null; name: string };

/** @throws AssayError invalid_body for a metric that the two sides have not in common */
function findMetric<Found extends NamedMetric>(
  all: readonly Found[],
  metric: string,
  leftOut: LeftOut,
): Found {
  const isIt = ({ id, name }: NamedMetric) => id === metric || name.toLowerCase() === metric.toLowerCase();
  const found = all.find(isIt);
  if (found !== undefined) return found;
  const left = leftOut.find(({ evaluator_id, name }) => isIt({ id: evaluator_id, name }));
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

/** Returns a margin in the units of a metric. A share is one of the baseline's mean; of errors, which are a share, it is one. */
function marginOf(margin: Amount | null, metric: string, baseline: readonly Run[]): number | null {
  if (margin === null) return null;
  if (margin.unit === 'absolute' || metric === 'errors') return margin.value;
  const sum = baseline.reduce((total, { value }) => total + value, 0);
  return baseline.length === 0 ? 0 : Math.abs(margin.value * (sum / baseline.length));
}

/** Returns whether a score passes or fails. */
export const isBinary = (runs: readonly Run[]): boolean =>
  runs.every(({ value }) => value === 0 || value === 1);

/** Returns what the values of a score are: the steps of a judge's scale and of its choices need not be equal. */
function kindOf({ scoringType }: EvaluatorFacts, runs: readonly Run[]): MetricKind {
  if (isBinary(runs)) return 'binary';
  return scoringType === 'LLM-RANGE' || scoringType === 'LLM-CHOICE' ? 'ordinal' : 'numeric';
}
