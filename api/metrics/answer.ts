/** Assembles the rows of statements into series: every bucket of every group, in order. */
import type { MetricsPeriod, MetricsSeries, MetricsSummary } from '#core/contracts/metrics.ts';
import { expectedBy, isFlagOfAll, type Measure, type Metric, type Part } from '#core/metrics/mod.ts';
import { nanoToUsd } from '../requests/mod.ts';
import type { CellRow, NameOf } from './cells.ts';
import type { Group } from './groups.ts';
import type { QuantileRow, QuantilesOf } from './quantiles.ts';
import type { MetricsQuery, Period } from './read-query.ts';
import { keyOf } from './requests.ts';

/** Results of the statements of one period. */
export type Found = {
  readonly period: Period;
  readonly cells: readonly CellRow[];
  readonly nameOf: NameOf;
  readonly quantiles: readonly QuantileRow[];
};

type Place = { readonly b: number | null; readonly k: number | null };
const placeOf = ({ b, k }: Place) => `${b ?? ''}:${k ?? ''}`;

/** Returns the groups to show, as ranked by the cells. */
export function groupsOf(cells: readonly CellRow[], groupings: number): Group[] {
  return cells
    .filter(({ b, k }) => b === null && k !== null && k > 0)
    .sort((one, other) => one.k! - other.k!)
    .map((row) => Array.from({ length: groupings }, (_, index) => row[`g${index}`] as string | null));
}

/**
 * Returns a function that turns results into periods. `k` is the group's number in the rows; rates count minutes up to
 * `asOfMs`.
 */
export function periodMaker(query: MetricsQuery, quantilesOf: QuantilesOf, asOfMs: number) {
  const { measures } = query;
  return ({ period, cells, nameOf, quantiles }: Found) => {
    const cellAt = new Map(cells.map((row) => [placeOf(row), row]));
    const quantilesAt = new Map(quantiles.map((row) => [placeOf(row), row]));
    const valuesAt = (place: Place, fromMs: number, toMs: number): (number | null)[] => {
      const cell = cellAt.get(placeOf(place));
      const row = quantilesAt.get(placeOf(place));
      const minutes = minutesOf(fromMs, toMs, asOfMs);
      return measures.map((measure) =>
        measure.aggregate === 'quantile'
          ? quantileIn(row, measure, quantilesOf)
          : valueIn(measure, cell, nameOf, minutes),
      );
    };
    const { begins, range } = period;
    return {
      has: (k: number) => cellAt.has(placeOf({ b: null, k })),
      at: (k: number | null): MetricsPeriod => ({
        points: begins.map((begin, b) => {
          const toMs = begins[b + 1] ?? range.toMs;
          return [begin, ...valuesAt({ b, k }, Math.max(begin, range.fromMs), toMs)];
        }),
        total: valuesAt({ b: null, k }, range.fromMs, range.toMs),
      }),
    };
  };
}

/** Returns the minutes of a time span that have passed; all of them for a span in the future. */
function minutesOf(fromMs: number, toMs: number, asOfMs: number): number {
  const until = asOfMs > fromMs ? Math.min(toMs, asOfMs) : toMs;
  return (until - fromMs) / 60_000;
}

/** Divisors of the whole numbers in which metrics are summed up. */
const SCALES: ReadonlyMap<string, number> = new Map([
  ['cost', 1e9],
  ['cost_saved', 1e9],
  ['tokens_per_second', 1e3],
]);
const scaleOf = ({ metric: { name } }: Measure) => SCALES.get(name) ?? 1;

function quantileIn(row: QuantileRow | undefined, measure: Measure, quantilesOf: QuantilesOf): number | null {
  const index = quantilesOf.findIndex(({ key }) => key === keyOf(measure.metric));
  const array = row?.[`q${index}`];
  if (typeof array !== 'string') return null;
  const value = (JSON.parse(array) as (number | null)[])[quantilesOf[index]!.shares.indexOf(measure.share)]!;
  return value === null ? null : value / scaleOf(measure);
}

function valueIn(
  measure: Measure,
  cell: CellRow | undefined,
  nameOf: NameOf,
  minutes: number,
): number | null {
  const { metric, aggregate } = measure;
  const partOf = (of: Metric, name: Part) => (cell?.[nameOf(of, name)] as string | null | undefined) ?? null;
  const part = (name: Part): string | null =>
    metric.name === 'requests' ? (cell?.n ?? null) : partOf(metric, name);
  const scaled = (text: string | null): number | null => {
    if (text === null) return null;
    const scale = scaleOf(measure);
    return scale === 1e9 ? nanoToUsd(text) : Number(text) / scale;
  };
  const expected = expectedBy(measure);
  const isUnknown = () =>
    expected !== null &&
    Number(part('count') ?? 0) === 0 &&
    Number(partOf(expected.metric, 'count') ?? 0) > 0;
  switch (aggregate) {
    case 'count':
      return Number(part(isFlagOfAll(metric) ? 'sum' : 'count') ?? 0);
    case 'sum':
      return isUnknown() ? null : (scaled(part('sum')) ?? 0);
    case 'rate':
      return isUnknown() ? null : (scaled(part('sum')) ?? 0) / minutes;
    case 'avg': {
      const count = Number(part('count') ?? 0);
      if (count === 0) return null;
      // Divided before it becomes USD: a mean of nano-dollars has a fraction.
      return Number(part('sum') ?? 0) / count / scaleOf(measure);
    }
    case 'min':
    case 'max':
      return scaled(part(aggregate));
    case 'quantile':
      return null;
  }
}

type PeriodAt = ReturnType<ReturnType<typeof periodMaker>>;

/** Returns a series for each group, one for all other groups together, and the total. */
export function seriesOf(
  query: MetricsQuery,
  groups: readonly Group[],
  now: PeriodAt,
  before: PeriodAt | null,
): { series: MetricsSeries[]; other: MetricsSummary | null; total: MetricsSummary } {
  const summary = (k: number | null): MetricsSummary => ({
    ...now.at(k),
    ...(before === null ? {} : { previous: before.at(k) }),
  });
  const total = summary(null);
  if (query.groupBy.length === 0) return { series: [{ group: {}, ...total }], other: null, total };
  const hasOther = now.has(0) || before?.has(0) === true;
  return {
    series: groups.map((group, index) => ({
      group: groupJson(query, group),
      ...summary(index + 1),
    })),
    other: hasOther ? summary(0) : null,
    total,
  };
}

function groupJson({ groupBy }: MetricsQuery, group: Group): Record<string, string | number | null> {
  return Object.fromEntries(
    groupBy.map(({ name, label }, index) => {
      const value = group[index] ?? null;
      return [label, name === 'status' && value !== null ? Number(value) : value];
    }),
  );
}
