/** The measures of metrics: the aggregates of each metric, and the parts that they need of the requests. */
import { AssayError } from '../contracts/errors.ts';
import {
  AGGREGATES,
  METRICS,
  type MeasureBody,
  type MetricName,
  type PlainAggregate,
} from '../contracts/metrics.ts';
import { storableText } from '../contracts/storable-text.ts';

/** A metric of a request. */
export type Metric =
  | { readonly name: MetricName; readonly scoreKey: null }
  | { readonly name: 'score'; readonly scoreKey: string };

/** A metric with its aggregate; `share` is that of a quantile, from 0 to 1. */
export type Measure = {
  readonly metric: Metric;
  readonly aggregate: PlainAggregate | 'quantile';
  readonly share: number;
};

/**
 * Kinds of metrics: 1 for every request; flags, true or false for every request, whose mean is a share; flags and numbers that
 * a request may lack.
 */
type Kind = 'every' | 'flag' | 'optional-flag' | 'number';

/** The kind of each metric, and whether its sum per minute is meaningful. */
const METRIC_RULES: Readonly<Record<Metric['name'], { kind: Kind; hasRate: boolean }>> = {
  requests: { kind: 'every', hasRate: true },
  errors: { kind: 'flag', hasRate: true },
  cost: { kind: 'number', hasRate: true },
  prompt_tokens: { kind: 'number', hasRate: true },
  completion_tokens: { kind: 'number', hasRate: true },
  total_tokens: { kind: 'number', hasRate: true },
  latency: { kind: 'number', hasRate: false },
  ttft: { kind: 'number', hasRate: false },
  tokens_per_second: { kind: 'number', hasRate: false },
  cache_hits: { kind: 'flag', hasRate: true },
  cost_saved: { kind: 'number', hasRate: true },
  feedback: { kind: 'optional-flag', hasRate: true },
  score: { kind: 'number', hasRate: false },
};

const FLAG_AGGREGATES: readonly PlainAggregate[] = ['count', 'sum', 'avg', 'rate'];
const AGGREGATES_OF: Readonly<Record<Kind, readonly PlainAggregate[]>> = {
  every: ['count', 'sum', 'rate'],
  flag: FLAG_AGGREGATES,
  'optional-flag': FLAG_AGGREGATES,
  number: AGGREGATES,
};

/**
 * Reads a measure.
 * @param path its place in the body
 * @throws AssayError invalid_body when the metric does not have the aggregate
 */
export function readMeasure({ metric: name, aggregate }: MeasureBody, path: string): Measure {
  const plain = METRICS.find((one) => one === name);
  const metric: Metric =
    plain === undefined
      ? { name: 'score', scoreKey: storableText(name.slice('score:'.length)) }
      : { name: plain, scoreKey: null };
  const { kind, hasRate } = METRIC_RULES[metric.name];
  const allowed = AGGREGATES_OF[kind].filter((one) => one !== 'rate' || hasRate);
  const isQuantile = !AGGREGATES.some((one) => one === aggregate);
  if (isQuantile ? kind !== 'number' : !allowed.some((one) => one === aggregate)) {
    const choice =
      kind === 'number' ? `${allowed.join(', ')}, or a quantile such as p99` : allowed.join(', ');
    throw new AssayError(
      'invalid_body',
      `${path}.aggregate must be one of ${choice}, which ${name} has, but is "${aggregate}"`,
    );
  }
  if (!isQuantile) return { metric, aggregate: aggregate as PlainAggregate, share: 0 };
  return { metric, aggregate: 'quantile', share: Number(aggregate.slice(1)) / 100 };
}

/**
 * Parts kept of a metric while its values are summed up: the number of requests with a value; sum, minimum and maximum of
 * these.
 */
export type Part = 'count' | 'sum' | 'min' | 'max';

/** Returns the parts that a measure is computed from; the number of requests is always there. */
export function partsOf({ metric, aggregate }: Measure): Part[] {
  if (metric.name === 'requests') return [];
  switch (aggregate) {
    case 'quantile':
      return [];
    case 'sum':
    case 'rate':
      return metric.name === 'cost' ? ['count', 'sum'] : ['sum'];
    case 'avg':
      return ['count', 'sum'];
    case 'count':
      return isFlagOfAll(metric) ? ['sum'] : ['count'];
    default:
      return [aggregate];
  }
}

const WITH_TOKENS: Measure = {
  metric: { name: 'total_tokens', scoreKey: null },
  aggregate: 'count',
  share: 0,
};

/**
 * Returns the measure of the requests that should have a value of a sum: those with tokens have a cost, unless their price is not known.
 * Where there are some, and none has one, the sum is unknown. Null: a sum without values is 0.
 */
export function expectedBy({ metric, aggregate }: Measure): Measure | null {
  return metric.name === 'cost' && (aggregate === 'sum' || aggregate === 'rate') ? WITH_TOKENS : null;
}

/** Returns whether a metric is true or false for every request: those are counted for which it is true. */
export function isFlagOfAll({ name }: Metric): boolean {
  return METRIC_RULES[name].kind === 'flag';
}

/** Returns whether a metric's value is true or false; their sum is the number of those where it is true. */
export function isFlag({ name }: Metric): boolean {
  return METRIC_RULES[name].kind === 'flag' || METRIC_RULES[name].kind === 'optional-flag';
}
