/** The family of totals: sums of all requests at some levels, and histograms. */
import {
  dimensionsOf,
  HISTOGRAM_LEVELS,
  HISTOGRAM_METRICS,
  LEVELS,
  MEASURED,
  ROLLUP_DIMENSIONS,
} from '#core/rollups/mod.ts';
import { BUCKET, type Cells, CREATED_IN_BUCKET, DUE, list, ofEachBucket, PART_OF_BUCKET } from './cells.ts';
import { groupByLevels } from './group-by-levels.ts';

const HISTOGRAM_DIMENSIONS = dimensionsOf(HISTOGRAM_LEVELS);
/** Sums of these may exceed a bigint. */
const NUMERIC = new Set<string>(['cost_nano', 'cost_saved_nano', 'milli_tokens_per_second']);

const READ_COLUMNS = list([
  ...ROLLUP_DIMENSIONS,
  'cached_from',
  ...MEASURED.map((one) =>
    one === 'milli_tokens_per_second'
      ? `assay.milli_tokens_per_second(completion_tokens, latency_ms, ttft_ms, cached_from) as ${one}`
      : one,
  ),
]);

const MEASURE_COLUMNS = [
  'requests',
  'errors',
  'cache_hits',
  ...MEASURED.flatMap((one) => [`${one}_count`, `${one}_sum`, `${one}_min`, `${one}_max`]),
];

/** The sums of rows by all dimensions; adding these up costs less than adding up the rows once for each level. */
const SUMS_OF_ROWS = list([
  'count(*) as requests',
  'count(*) filter (where status >= 400) as errors',
  'count(cached_from) as cache_hits',
  ...MEASURED.flatMap((one) => [
    `count(${one}) as ${one}_count`,
    `sum(${one}) as ${one}_sum`,
    `min(${one}) as ${one}_min`,
    `max(${one}) as ${one}_max`,
  ]),
]);

/** The sums of sums. Nulls instead of zeros take no place. */
const SUMS_OF_SUMS = list([
  'sum(requests)::bigint as requests',
  ...['errors', 'cache_hits'].map((one) => `nullif(sum(${one}), 0)::bigint as ${one}`),
  ...MEASURED.flatMap((one) => [
    `nullif(sum(${one}_count), 0)::bigint as ${one}_count`,
    `nullif(sum(${one}_sum), 0)::${NUMERIC.has(one) ? 'numeric' : 'bigint'} as ${one}_sum`,
    `min(${one}_min)::bigint as ${one}_min`,
    `max(${one}_max)::bigint as ${one}_max`,
  ]),
]);

const totals = groupByLevels(Object.entries(LEVELS), BUCKET);
const bins = groupByLevels(
  HISTOGRAM_LEVELS.map((name) => [name, LEVELS[name]]),
  [...BUCKET, 'metric', 'bin'],
);

const HISTOGRAM_KEY = list([...BUCKET, 'level', 'metric', ...HISTOGRAM_DIMENSIONS]);
const HISTOGRAMS = `
  histograms as (
    select ${HISTOGRAM_KEY}, array_agg(bin order by bin) as bins, array_agg(in_bin order by bin) as counts
      from bins group by ${HISTOGRAM_KEY})`;

/** A pass over the rows for each number costs less than one over three values a row. */
const NUMBERS_OF_ROWS = HISTOGRAM_METRICS.map(
  (metric) => `
    select ${list([...BUCKET, ...HISTOGRAM_DIMENSIONS])}, '${metric}' as metric, assay.histogram_bin(${metric}) as bin, count(*) as in_bin
      from found where ${metric} is not null
     group by ${list([...BUCKET, ...HISTOGRAM_DIMENSIONS])}, assay.histogram_bin(${metric})`,
).join(' union all ');

export const TOTALS: Cells = {
  tables: [
    {
      table: 'rollup_totals',
      from: 'totals',
      columns: [...BUCKET, 'level', ...ROLLUP_DIMENSIONS, ...MEASURE_COLUMNS],
    },
    {
      table: 'rollup_histograms',
      from: 'histograms',
      columns: [...BUCKET, 'level', 'metric', ...HISTOGRAM_DIMENSIONS, 'bins', 'counts'],
    },
  ],
  fromRows: `${DUE},
  found as materialized (
    select due.organization_id, due.begins_at, found.* from ${ofEachBucket('requests', READ_COLUMNS, CREATED_IN_BUCKET)}),
  by_all as (
    select ${list([...BUCKET, ...ROLLUP_DIMENSIONS])}, ${SUMS_OF_ROWS} from found group by ${list([...BUCKET, ...ROLLUP_DIMENSIONS])}),
  totals as (
    select ${list([...BUCKET, `${totals.level} as level`, ...ROLLUP_DIMENSIONS])}, ${SUMS_OF_SUMS} from by_all group by ${totals.sets}),
  numbers as (${NUMBERS_OF_ROWS}),
  bins as (
    select ${list([...BUCKET, `${bins.level} as level`, 'metric', ...HISTOGRAM_DIMENSIONS, 'bin'])}, sum(in_bin)::integer as in_bin
      from numbers group by ${bins.sets}), ${HISTOGRAMS}`,
  fromParts: `${DUE},
  totals as (
    select ${list(['due.organization_id', 'due.begins_at', 'level', ...ROLLUP_DIMENSIONS])}, ${SUMS_OF_SUMS}
      from ${ofEachBucket('rollup_totals', list(['level', ...ROLLUP_DIMENSIONS, ...MEASURE_COLUMNS]), `${PART_OF_BUCKET} and level = any('{${list(Object.keys(LEVELS))}}')`)}
     group by ${list(['due.organization_id', 'due.begins_at', 'level', ...ROLLUP_DIMENSIONS])}),
  bins as (
    select ${list(['due.organization_id', 'due.begins_at', 'level', 'metric', ...HISTOGRAM_DIMENSIONS, 'bin'])}, sum(in_bin)::integer as in_bin
      from ${ofEachBucket('rollup_histograms', list(['level', 'metric', ...HISTOGRAM_DIMENSIONS, 'bins', 'counts']), `${PART_OF_BUCKET} and level = any('{${list(HISTOGRAM_LEVELS)}}')`)}
           cross join lateral unnest(bins, counts) as one (bin, in_bin)
     group by ${list(['due.organization_id', 'due.begins_at', 'level', 'metric', ...HISTOGRAM_DIMENSIONS, 'bin'])}), ${HISTOGRAMS}`,
};
