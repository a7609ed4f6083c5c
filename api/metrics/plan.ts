/** Decides where a query is answered from: the cheapest roll-up that has all of its dimensions, else rows. */
import type { Filter } from '#core/filter/mod.ts';
import { isFlag, type Measure } from '#core/metrics/mod.ts';
import {
  HISTOGRAM_LEVELS,
  HISTOGRAM_METRICS,
  LEVELS,
  type Level,
  type MEASURED,
  type RollupDimension,
  SCORE_LEVELS,
} from '#core/rollups/mod.ts';
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

/** The columns of roll-ups that hold a metric's parts, by their prefix. */
const MEASURED_COLUMNS: Readonly<Partial<Record<Measure['metric']['name'], (typeof MEASURED)[number]>>> = {
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
  /** Of totals: always read, because they have the number of requests. */
  readonly totals: Level;
  /** Of scores and feedback; null: not needed. */
  readonly scores: Level | null;
};

/** Returns the column of roll-ups with a metric's parts; null: it has none. */
export function rollupColumn({ name }: Measure['metric']): (typeof MEASURED)[number] | null {
  return MEASURED_COLUMNS[name] ?? null;
}

/** Returns the levels that answer a query; null: only rows do. */
export function planOf(query: MetricsQuery): Plan | null {
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
  if (!query.measures.some(({ metric }) => isScored(metric))) return { totals, scores: null };
  const scores = levelOf(SCORE_LEVELS, dimensions);
  return scores === null ? null : { totals, scores };
}

/** Returns whether a metric is in the roll-ups of scores and feedback. */
export function isScored({ name }: Measure['metric']): boolean {
  return name === 'score' || name === 'feedback';
}

function hasHistogram({ metric }: Measure): boolean {
  const column = rollupColumn(metric);
  return !isFlag(metric) && HISTOGRAM_METRICS.some((one) => one === column);
}

const LEVELS_IN_ORDER = Object.keys(LEVELS) as Level[];

/** Returns the first level that has all dimensions. */
function levelOf(levels: readonly Level[], wanted: ReadonlySet<RollupDimension>): Level | null {
  const has = (level: Level) => {
    const own: readonly RollupDimension[] = LEVELS[level];
    return [...wanted].every((dimension) => own.includes(dimension));
  };
  return levels.find(has) ?? null;
}

const FILTER_COLUMNS: ReadonlySet<string> = new Set<RollupDimension>([
  'provider',
  'model',
  'status',
  'prompt_id',
  'prompt_version',
  'path',
]);

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
