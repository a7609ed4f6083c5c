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

/** Kinds of metrics: 1 for every request, true or false (the mean is a share), and numbers that a request may lack. */
type Kind = 'every' | 'flag' | 'number';

const KINDS: Readonly<Record<MetricName | 'score', Kind>> = {
  requests: 'every',
  errors: 'flag',
  cost: 'number',
  prompt_tokens: 'number',
  completion_tokens: 'number',
  total_tokens: 'number',
  latency: 'number',
  ttft: 'number',
  tokens_per_second: 'number',
  cache_hits: 'flag',
  cost_saved: 'number',
  feedback: 'flag',
  score: 'number',
};

/** Metrics whose sum per minute is meaningful. */
const HAS_RATE: ReadonlySet<string> = new Set<MetricName>([
  'requests',
  'errors',
  'cost',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_hits',
  'cost_saved',
  'feedback',
]);

const AGGREGATES_OF: Readonly<Record<Kind, readonly PlainAggregate[]>> = {
  every: ['count', 'sum', 'rate'],
  flag: ['count', 'sum', 'avg', 'rate'],
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
  const kind = KINDS[metric.name];
  const allowed = AGGREGATES_OF[kind].filter((one) => one !== 'rate' || HAS_RATE.has(metric.name));
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
    case 'rate':
      return ['sum'];
    case 'avg':
      return ['count', 'sum'];
    case 'count':
      return isFlagOfAll(metric) ? ['sum'] : ['count'];
    default:
      return [aggregate];
  }
}

/** Returns whether a metric is true or false for every request: those are counted for which it is true. */
export function isFlagOfAll({ name }: Metric): boolean {
  return name === 'errors' || name === 'cache_hits';
}

/** Returns whether a metric's value is true or false; their sum is the number of those where it is true. */
export function isFlag({ name }: Metric): boolean {
  return KINDS[name] === 'flag';
}
