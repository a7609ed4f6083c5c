/**
 * Quantiles from the histograms of roll-ups, within their relative error. Rows that no bucket covers are put into the same
 * bins.
 */
import type { Statement } from '#core/filter/mod.ts';
import {
  addBins,
  type Histogram,
  quantilesOf as quantilesOfHistogram,
  type Segment,
} from '#core/rollups/mod.ts';
import { type Group, givenGroups, isSameGroup } from './groups.ts';
import { rollupColumn } from './plan.ts';
import { type QuantileRow, quantilesOf } from './quantiles.ts';
import type { MetricsQuery, Period } from './read-query.ts';
import { bucketOf, draftFor, fromRequests, groupColumns } from './requests.ts';
import { fromBuckets, hasRows, keysOf, type Sources } from './rollup-cells.ts';
import type { CellContext } from './row-cells.ts';

/** A histogram of a bucket and a group, as JSON arrays; `k` as in rows of cells. */
export type HistogramRow = { b: number; k: number | null; metric: string; bins: string; counts: string };

/** Selects the histograms of a period, of these groups and of all others; a bucket and group may have several. */
export function histogramsStatement(
  organizationId: string,
  query: MetricsQuery,
  period: Period,
  groups: readonly Group[],
  { plan, totals }: NonNullable<Sources>,
): Statement {
  const draft = draftFor(organizationId);
  const context = { query, period, draft };
  const columns = metricsOf(query);
  const metrics = draft.parameters.bind(columns, 'text[]');
  const names = query.groupBy.map((_, index) => `g${index}`);
  const buckets = `select ${[...keysOf(context), 'r.metric', 'r.bins', 'r.counts'].join(', ')}
    ${fromBuckets(context, 'rollup_histograms', plan.totals, totals)} and r.metric = any(${metrics})`;
  const rows = hasRows(totals) ? columns.map((column) => histogramsOfRows(context, column, totals)) : [];
  const all = [buckets, ...rows].map((select) => `(${select})`).join(' union all ');
  const join =
    names.length === 0
      ? ''
      : `left join (${givenGroups(groups, names, draft)}) t on ${isSameGroup('p', 't', names)}`;
  const k = names.length === 0 ? 'null::int4' : 'coalesce(t.k, 0)';
  const text = `select p.b, ${k} as k, p.metric, array_to_json(p.bins)::text as bins, array_to_json(p.counts)::text as counts
    from (${all}) p ${join}`;
  return { text, values: draft.parameters.values };
}

type Context = Pick<CellContext, 'query' | 'period' | 'draft'>;

/** Selects the histograms of the rows between buckets: b, g0, …, metric, bins, counts. */
function histogramsOfRows(context: Context, column: string, segments: readonly Segment[]): string {
  const { query, period, draft } = context;
  const names = ['b', ...query.groupBy.map((_, index) => `g${index}`)];
  const keys = [`${bucketOf('r.created_at', period, draft)} as b`, ...groupColumns(query.groupBy, draft)];
  const selected = [...keys, `assay.histogram_bin(${VALUES[column]}) as bin`, 'count(*)::int4 as count'];
  return `select ${names.join(', ')}, '${column}' as metric, array_agg(bin) as bins, array_agg(count) as counts
    from (select ${selected.join(', ')} ${fromRequests(query, segments, draft)} and ${VALUES[column]} is not null
           group by ${[...names, 'bin'].join(', ')}) r
   group by ${names.join(', ')}`;
}

const VALUES: Readonly<Record<string, string>> = {
  latency_ms: 'r.latency_ms',
  ttft_ms: 'r.ttft_ms',
  milli_tokens_per_second:
    'assay.milli_tokens_per_second(r.completion_tokens, r.latency_ms, r.ttft_ms, r.cached_from)',
};

/** The columns of the metrics whose quantiles a query asks for, in the order of `quantilesOf`. */
function metricsOf({ measures }: MetricsQuery): string[] {
  return quantilesOf(measures).map(({ metric }) => rollupColumn(metric)!);
}

/** Returns the quantiles of all buckets and groups, and of their totals, as rows. */
export function quantilesOfHistograms(query: MetricsQuery, rows: readonly HistogramRow[]): QuantileRow[] {
  const metrics = metricsOf(query);
  const places = new Map<string, { b: number | null; k: number | null; histograms: Histogram[] }>();
  for (const row of rows) {
    const [bins, counts] = [JSON.parse(row.bins), JSON.parse(row.counts)] as [number[], number[]];
    const ks = row.k === null ? [null] : [row.k, null];
    for (const b of [row.b, null]) {
      for (const k of ks) {
        const key = `${b}:${k}`;
        let place = places.get(key);
        if (place === undefined) {
          place = { b, k, histograms: metrics.map(() => new Map()) };
          places.set(key, place);
        }
        addBins(place.histograms[metrics.indexOf(row.metric)]!, bins, counts);
      }
    }
  }
  const wanted = quantilesOf(query.measures);
  return [...places.values()].map(({ b, k, histograms }) => ({
    b,
    k,
    ...Object.fromEntries(
      histograms.map((histogram, index) => [
        `q${index}`,
        JSON.stringify(quantilesOfHistogram(histogram, wanted[index]!.shares)),
      ]),
    ),
  }));
}
