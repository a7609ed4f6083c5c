/** Chooses the source of an answer: the cheapest roll-up that has all dimensions of the query, else rows. */
import type { MetricName } from '#core/contracts/metrics.ts';
import type { Filter } from '#core/filter/mod.ts';
import { isFlag, isFlagOfAll, type Measure, type Metric, type Part } from '#core/metrics/mod.ts';
import {
  HISTOGRAM_LEVELS,
  HISTOGRAM_METRICS,
  LEVELS,
  type Level,
  type MEASURED,
  ROLLUP_DIMENSIONS,
  type RollupDimension,
  SCORE_LEVELS,
  VALUE_MEASURED,
} from '#core/rollups/mod.ts';
import type { ValueDimension } from '#platform/rollups/mod.ts';
import type { Dimension, MetricsQuery } from './read-query.ts';

/** The columns of roll-ups that groups are read from. */
const DIMENSION_COLUMNS: Readonly<Partial<Record<Dimension['name'], RollupDimension>>> = {
  model: 'model',
  provider: 'provider',
  status: 'status',
  api_key: 'api_key_id',
  prompt_id: 'prompt_id',
  prompt_version: 'prompt_version',
  source: 'source',
  path: 'path',
};

/**
 * The columns of roll-ups that hold a metric's parts, by their prefix. Each metric needs some, because plans do not ask whether
 * they are there: flags have one of their own name, feedback and scores have rows of their own.
 */
const MEASURED_COLUMNS: Readonly<
  Record<Exclude<MetricName, 'requests' | 'errors' | 'cache_hits' | 'feedback'>, (typeof MEASURED)[number]>
> = {
  cost: 'cost_nano',
  cost_saved: 'cost_saved_nano',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  total_tokens: 'total_tokens',
  latency: 'latency_ms',
  ttft: 'ttft_ms',
  tokens_per_second: 'milli_tokens_per_second',
};

/** The levels of roll-ups that answer a query. */
export type Plan = {
  /** The level of totals: always read, because they have the number of requests. */
  readonly totals: Level;
  /** The level of scores and feedback; null: not needed. */
  readonly scores: Level | null;
  /** The users or the property whose values are the groups; null: totals have the groups. */
  readonly values: ValueDimension | null;
};

/** Returns the column of roll-ups with a metric's parts; null: there is none. */
export function rollupColumn({ name }: Metric): (typeof MEASURED)[number] | null {
  return (MEASURED_COLUMNS as Partial<Record<Metric['name'], (typeof MEASURED)[number]>>)[name] ?? null;
}

/** Writes a part of a metric in a row `r` of totals or values. */
export function rollupPart(metric: Metric, part: Part): string {
  if (isScored(metric)) return 'null::numeric';
  if (isFlagOfAll(metric)) return part === 'count' ? 'r.requests' : `r.${metric.name}`;
  return `r.${rollupColumn(metric)}_${part}`;
}

const LEVELS_IN_ORDER = Object.keys(LEVELS) as Level[];

/** Returns the levels that answer a query; null: only rows can. */
export function planOf(query: MetricsQuery): Plan | null {
  const values = valuesOf(query);
  if (values !== null) return { totals: 'source', scores: null, values };
  const dimensions = new Set<RollupDimension>(['source']);
  for (const { name } of query.groupBy) {
    const column = DIMENSION_COLUMNS[name];
    if (column === undefined) return null;
    dimensions.add(column);
  }
  if (!addColumns(query.filter, dimensions)) return null;

  const quantiles = query.measures.filter(({ aggregate }) => aggregate === 'quantile');
  const isOrderedByQuantile =
    query.groupBy.length > 0 && query.measures[query.order.measure]!.aggregate === 'quantile';
  if (isOrderedByQuantile || quantiles.some((measure) => !hasHistogram(measure))) return null;

  const totals = levelOf(LEVELS_IN_ORDER, dimensions);
  if (totals === null) return null;
  if (quantiles.length > 0 && !HISTOGRAM_LEVELS.some((level) => level === totals)) return null;
  if (!query.measures.some(({ metric }) => isScored(metric))) return { totals, scores: null, values: null };
  const scores = levelOf(SCORE_LEVELS, dimensions);
  return scores === null ? null : { totals, scores, values: null };
}

/** Returns the dimension of values that a query is grouped by; null unless roll-ups have all of its measures by value. */
function valuesOf({
  groupBy: [dimension, ...others],
  filter,
  measures,
}: MetricsQuery): ValueDimension | null {
  if (dimension === undefined || others.length > 0 || filter.kind !== 'all') return null;
  if (!measures.every(isMeasuredByValue)) return null;
  if (dimension.name === 'property') return { dimension: 'property', name: dimension.property };
  return dimension.name === 'user' ? { dimension: 'user', name: '' } : null;
}

function isMeasuredByValue({ metric, aggregate }: Measure): boolean {
  if (aggregate === 'min' || aggregate === 'max' || aggregate === 'quantile') return false;
  if (metric.name === 'requests' || metric.name === 'errors') return true;
  return VALUE_MEASURED.some((column) => column === rollupColumn(metric));
}

/** Returns whether a metric is in the roll-ups of scores and feedback. */
export function isScored({ name }: Measure['metric']): boolean {
  return name === 'score' || name === 'feedback';
}

function hasHistogram({ metric }: Measure): boolean {
  const column = rollupColumn(metric);
  return !isFlag(metric) && HISTOGRAM_METRICS.some((one) => one === column);
}

/** Returns the first level that has all dimensions. */
function levelOf(levels: readonly Level[], wanted: ReadonlySet<RollupDimension>): Level | null {
  const has = (level: Level) => {
    const own: readonly RollupDimension[] = LEVELS[level];
    return [...wanted].every((dimension) => own.includes(dimension));
  };
  return levels.find(has) ?? null;
}

const FILTER_COLUMNS: ReadonlySet<string> = new Set(ROLLUP_DIMENSIONS);

/** Adds the columns that a filter compares. Returns whether roll-ups have them all. */
function addColumns(filter: Filter, columns: Set<RollupDimension>): boolean {
  if (filter.kind === 'all') return true;
  if (filter.kind === 'branch') return addColumns(filter.left, columns) && addColumns(filter.right, columns);
  const { field } = filter;
  if (field.kind !== 'column' && field.kind !== 'whole-number') return false;
  if (!FILTER_COLUMNS.has(field.column)) return false;
  columns.add(field.column as RollupDimension);
  return true;
}
