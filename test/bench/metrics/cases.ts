/** The queries that `npm run bench metrics` times. */
import type { MetricsQueryBody } from '#core/contracts/metrics.ts';

export type MetricsCase = {
  name: string;
  path: string;
  body: object;
  /** The body, where rows can be asked the same; null: not. */
  query: MetricsQueryBody | null;
  hasTarget: boolean;
};

const DAY_MS = 86_400_000;
const measure = (metric: string, aggregate: string) =>
  ({ metric, aggregate }) as MetricsQueryBody['measures'][number];
const SUMS = [
  measure('requests', 'count'),
  measure('errors', 'count'),
  measure('cost', 'sum'),
  measure('total_tokens', 'sum'),
];
const QUANTILES = ['p50', 'p95', 'p99'].map((aggregate) => measure('latency', aggregate));

/** @param endMs of the seeded requests */
export function metricsCases(endMs: number): MetricsCase[] {
  const range = (days: number) => ({ from: endMs - days * DAY_MS, to: endMs });
  const one = (name: string, query: MetricsQueryBody, hasTarget = true): MetricsCase => ({
    name,
    path: '/v1/metrics/query',
    body: query,
    query,
    hasTarget,
  });
  const asks = (name: string, path: string, body: object): MetricsCase => ({
    name,
    path,
    body,
    query: null,
    hasTarget: true,
  });
  const status = { response: { status: { gte: 400 } } };
  const plan = { properties: { Plan: { equals: 'pro' } } };
  return [
    one('30 days by day, sums', { measures: SUMS, range: range(30), bucket: 'day' }),
    one('30 days by day, p50 p95 p99', {
      measures: [...SUMS, ...QUANTILES],
      range: range(30),
      bucket: 'day',
    }),
    one('30 days by day in Berlin, p50 p95 p99', {
      measures: [...SUMS, ...QUANTILES],
      range: range(30),
      bucket: 'day',
      timeZone: 'Europe/Berlin',
    }),
    one('90 days by day and model', { measures: SUMS, range: range(90), bucket: 'day', groupBy: ['model'] }),
    one('90 days by model', { measures: SUMS, range: range(90), bucket: 'none', groupBy: ['model'] }),
    one('30 days by day, compared', {
      measures: SUMS,
      range: range(30),
      bucket: 'day',
      compareWith: 'previous',
    }),
    one('24 hours by hour, p50 p95 p99', {
      measures: [...SUMS, ...QUANTILES],
      range: range(1),
      bucket: 'hour',
    }),
    one('7 days by hour', { measures: SUMS, range: range(7), bucket: 'hour' }),
    one('30 days by day, errors by status', {
      measures: SUMS,
      range: range(30),
      bucket: 'day',
      groupBy: ['status'],
      filter: status,
    }),
    one('30 days by day, scores', {
      measures: [measure('score:helpfulness', 'avg'), measure('feedback', 'avg')],
      range: range(30),
      bucket: 'day',
    }),
    one('30 days, p95 by model', {
      measures: [measure('requests', 'count'), measure('latency', 'p95')],
      range: range(30),
      bucket: 'none',
      groupBy: ['model'],
    }),
    one(
      '30 days by day of a property',
      { measures: SUMS, range: range(30), bucket: 'day', filter: plan },
      false,
    ),
    asks('facet of models', '/v1/request/facets', { field: 'model' }),
    asks('facet of statuses', '/v1/request/facets', { field: 'status' }),
    asks('facet of users', '/v1/request/facets', { field: 'user' }),
    asks('facet of a property', '/v1/request/facets', { field: 'property:Plan' }),
    asks('facet of models, under a filter', '/v1/request/facets', { field: 'model', filter: status }),
  ];
}
