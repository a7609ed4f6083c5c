/** Metrics: the body of `/v1/metrics/query` and its response. */
import { type Static, Type } from '@sinclair/typebox';
import { EARLIEST_MS, LATEST_MS } from '../filter/mod.ts';
import { filterOrQ } from './filter-or-q.ts';
import { SOURCES } from './log-entry.ts';
import { MAX_PROPERTY_NAME_LENGTH, MAX_SCORE_KEY_LENGTH } from './query.ts';
import { closed, Nullable, OneOf, Timestamp } from './shapes.ts';

/** Maximum measures of one query. */
const MAX_MEASURES = 10;
const MAX_GROUPINGS = 3;
/** Maximum groups of one answer; the others are summed up as one. */
const MAX_GROUPS = 1_000;
export const DEFAULT_GROUPS = 10;
/** Characters; the longest name of the IANA database has 32. */
const MAX_ZONE_LENGTH = 64;

/** Metrics of each request, besides its scores. */
export const METRICS = [
  'requests',
  'errors',
  'cost',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'latency',
  'ttft',
  'tokens_per_second',
  'cache_hits',
  'cost_saved',
  'feedback',
] as const;
export type MetricName = (typeof METRICS)[number];

/** Aggregates of the values of many requests, besides quantiles such as p99.9. */
export const AGGREGATES = ['count', 'sum', 'avg', 'min', 'max', 'rate'] as const;
export type PlainAggregate = (typeof AGGREGATES)[number];

/** Dimensions that requests can be grouped by, besides their properties. */
export const DIMENSIONS = [
  'model',
  'provider',
  'user',
  'status',
  'error_code',
  'api_key',
  'prompt_id',
  'prompt_version',
  'source',
  'path',
  'evaluator',
] as const;
export type DimensionName = (typeof DIMENSIONS)[number];

export const BUCKET_UNITS = ['minute', '5m', 'hour', 'day', 'week', 'month', 'auto', 'none'] as const;
export type BucketUnit = (typeof BUCKET_UNITS)[number];

/** Returns the schema of a text that is one of these names, or fits `open`, which `described` describes. */
export function nameOrOpen<Text extends string>(names: readonly string[], open: string, described: string) {
  return Type.Unsafe<Text>(
    Type.String({
      pattern: `^(?:${names.join('|')}|${open})$`,
      rule: `must be one of ${names.join(', ')}, or ${described}`,
      description: `${names.join(', ')}, or ${described}`,
    }),
  );
}

const Metric = nameOrOpen<MetricName | `score:${string}`>(
  METRICS,
  `score:[\\s\\S]{1,${MAX_SCORE_KEY_LENGTH}}`,
  'score:<key>',
);
const Aggregate = nameOrOpen<PlainAggregate | `p${number}`>(
  AGGREGATES,
  'p(?:0|[1-9][0-9]?)(?:\\.[0-9]{1,2})?',
  'a quantile from p0 to p99.99, such as p99.9',
);
/** The pattern and the description of a property among dimensions. */
export const OPEN_DIMENSION = [
  `property:[\\s\\S]{1,${MAX_PROPERTY_NAME_LENGTH}}`,
  'property:<name>',
] as const;
const Dimension = nameOrOpen<DimensionName | `property:${string}`>(DIMENSIONS, ...OPEN_DIMENSION);

/** A metric, and how its values are summed up. */
const Measure = Type.Object({ metric: Metric, aggregate: Aggregate }, closed);
export type MeasureBody = Static<typeof Measure>;

const Moment = Type.Union(
  [
    Type.String({ maxLength: 40, description: 'RFC 3339, or a date: its first millisecond in UTC' }),
    Type.Integer({ minimum: EARLIEST_MS, maximum: LATEST_MS, description: 'Milliseconds since the epoch' }),
  ],
  { rule: 'must be a time in RFC 3339, a date, or whole milliseconds since the epoch' },
);
export type MomentBody = Static<typeof Moment>;

/** Selection of calls by their origin. */
export const Sources = Type.Array(OneOf(SOURCES), {
  minItems: 1,
  maxItems: SOURCES.length,
  uniqueItems: true,
  description: 'Default: gateway, api and playground; not the calls that evaluators and experiments make',
});

/** Range of the times of requests. */
export const TimeRange = Type.Object(
  { from: Moment, to: Moment },
  { ...closed, description: 'From the start up to, but not including, the end' },
);

/** The body of a query for metrics. */
export const MetricsQueryBody = Type.Object(
  {
    measures: Type.Array(Measure, { minItems: 1, maxItems: MAX_MEASURES }),
    groupBy: Type.Optional(Type.Array(Dimension, { maxItems: MAX_GROUPINGS, uniqueItems: true })),
    ...filterOrQ,
    sources: Type.Optional(Sources),
    range: TimeRange,
    bucket: Type.Optional(
      Type.Unsafe<BucketUnit>({
        ...OneOf(BUCKET_UNITS),
        description:
          'Default: auto, the finest of at most 200 buckets. Hours, days, weeks (from Monday) and months are local',
      }),
    ),
    timeZone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_ZONE_LENGTH,
        description: 'A name of the IANA database, such as Europe/Berlin. Default: UTC',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_GROUPS, description: `Groups. Default: ${DEFAULT_GROUPS}` }),
    ),
    orderBy: Type.Optional(
      Type.Object(
        {
          measure: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: MAX_MEASURES - 1,
              description: 'An index into measures. Default: 0',
            }),
          ),
          direction: Type.Optional(OneOf(['asc', 'desc'] as const)),
        },
        {
          ...closed,
          description: 'The groups that are shown, and their order. Default: the first measure, desc',
        },
      ),
    ),
    compareWith: Type.Optional(Type.Literal('previous')),
  },
  closed,
);
export type MetricsQueryBody = Static<typeof MetricsQueryBody>;

const Value = Nullable(Type.Number());
const Values = Type.Array(Value, { description: 'One value a measure' });
const Points = Type.Array(Type.Array(Value), {
  description: 'Buckets: when each begins, in milliseconds since the epoch, then one value a measure',
});
const period = { points: Points, total: Values };
const Period = Type.Object(period, closed);
const series = { ...period, previous: Type.Optional(Period) };
const Summary = Type.Object(series, { ...closed, $id: 'MetricsSummary' });
export type MetricsPeriod = Static<typeof Period>;
export type MetricsSummary = Static<typeof Summary>;

/** One group over time. */
export const MetricsSeries = Type.Object(
  {
    group: Type.Record(Type.String(), Nullable(Type.Union([Type.String(), Type.Integer()])), {
      description: 'A value for each grouping; null: the requests that have none',
    }),
    ...series,
  },
  { ...closed, $id: 'MetricsSeries' },
);
export type MetricsSeries = Static<typeof MetricsSeries>;

const Range = Type.Object({ from: Timestamp, to: Timestamp }, closed);

/** The answer to a query for metrics. */
export const MetricsAnswer = Type.Object(
  {
    series: Type.Array(MetricsSeries),
    other: Type.Unsafe<MetricsSummary | null>({
      ...Nullable(Summary),
      description: 'All other groups as one; null: there are none',
    }),
    total: Type.Unsafe<MetricsSummary>({ ...Summary, description: 'All groups together' }),
    bucket: OneOf(BUCKET_UNITS.filter((unit) => unit !== 'auto')),
    timeZone: Type.String(),
    range: Range,
    previousRange: Nullable(Range),
    exact: Type.Boolean({ description: 'False when a quantile comes from a histogram' }),
    error: Nullable(Type.Number(), 'The largest relative error of quantiles; null when exact'),
    source: OneOf(['rows', 'rollup'] as const),
    asOf: Timestamp,
  },
  closed,
);
export type MetricsAnswer = Static<typeof MetricsAnswer>;
