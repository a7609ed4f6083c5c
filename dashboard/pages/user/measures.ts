/** What a user's page asks of the API, and the series of its charts. Pure. */
import type { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import type { Buckets } from '../../parts/chart/buckets.ts';
import type { ChartContent } from '../../parts/chart/series.ts';

const MEASURES = [
  { metric: 'requests', aggregate: 'count' },
  { metric: 'errors', aggregate: 'count' },
  { metric: 'cost', aggregate: 'sum' },
  { metric: 'prompt_tokens', aggregate: 'sum' },
  { metric: 'completion_tokens', aggregate: 'sum' },
  { metric: 'latency', aggregate: 'p50' },
] as const satisfies MetricsQueryBody['measures'];

export type Name = 'requests' | 'errors' | 'cost' | 'prompt_tokens' | 'completion_tokens' | 'latency';

/** Returns the query for the totals and the charts. */
export function userQuery(
  q: string,
  range: { from: number; to: number },
  timeZone: string,
): MetricsQueryBody {
  return { q, measures: [...MEASURES], range, bucket: 'auto', timeZone };
}

function indexOf(name: Name): number {
  return MEASURES.findIndex(({ metric }) => metric === name);
}

/** Returns a measure over the whole range; null: it is not known. */
export function totalOf({ total: { total } }: MetricsAnswer, name: Name): number | null {
  return total[indexOf(name)] ?? null;
}

function valuesOf({ total: { points } }: MetricsAnswer, name: Name): (number | null)[] {
  return points.map((point) => point[indexOf(name) + 1] ?? null);
}

/** Returns the buckets of an answer. */
export function bucketsOf({ total: { points }, range }: MetricsAnswer): Buckets {
  return {
    begins: points.map(([begin]) => begin!),
    from: Date.parse(range.from),
    to: Date.parse(range.to),
  };
}

/** Returns requests over time, those that failed apart. */
export function requestsContent(answer: MetricsAnswer): ChartContent {
  const all = valuesOf(answer, 'requests');
  const errors = valuesOf(answer, 'errors');
  const good = all.map((value, index) => (value === null ? null : value - (errors[index] ?? 0)));
  return {
    title: 'Requests',
    unit: 'count',
    isSum: true,
    series: [
      { key: 'good', label: 'Success', color: 'series-1', values: good },
      { key: 'errors', label: 'Errors', color: 'bad', values: errors },
    ],
  };
}

/** Returns cost over time. */
export function costContent(answer: MetricsAnswer): ChartContent {
  const values = valuesOf(answer, 'cost');
  return {
    title: 'Cost',
    unit: 'dollars',
    isSum: true,
    series: [{ key: 'cost', label: 'Cost', color: 'series-3', values }],
  };
}
