/** The queries that `npm run bench metrics` times. */
import type { FacetsBody } from '#core/contracts/facets.ts';
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
const ERRORS = { response: { status: { gte: 400 } } };
const PLAN = { properties: { Plan: { equals: 'pro' } } };
const RARE = { properties: { Feature: { equals: 'feature-999' } } };
const IN_BODIES = { request: { body: { contains: 'ticket' } } };
const QUANTILES = ['p50', 'p95', 'p99'].map((aggregate) => measure('latency', aggregate));

/**
 * @param endMs of the seeded requests
 * @param toMs until when queries ask
 */
export function metricsCases(endMs: number, toMs: number): MetricsCase[] {
  const range = (days: number) => ({ from: endMs - days * DAY_MS, to: toMs });
  const one = (name: string, query: MetricsQueryBody, hasTarget = true): MetricsCase => ({
    name,
    path: '/v1/metrics/query',
    body: query,
    query,
    hasTarget,
  });
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
      filter: ERRORS,
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
      { measures: SUMS, range: range(30), bucket: 'day', filter: PLAN },
      false,
    ),
    ...facetCases(range(30)),
  ];
}

function facetCases(range: { from: number; to: number }): MetricsCase[] {
  const one = (name: string, body: FacetsBody, hasTarget = true): MetricsCase => ({
    name: `facet of ${name}`,
    path: '/v1/request/facets',
    body,
    query: null,
    hasTarget,
  });
  return [
    one('models', { field: 'model' }),
    one('models, 30 days', { field: 'model', range }),
    one('models, by a text', { field: 'model', search: 'GPT' }),
    one('statuses', { field: 'status' }),
    one('users', { field: 'user' }),
    one('users, by a text', { field: 'user', search: 'user-77' }),
    one('a property', { field: 'property:Plan' }),
    one('a property with 1,000 values', { field: 'property:Feature', limit: 1_000 }),
    one('models, errors', { field: 'model', filter: ERRORS }),
    // Filters that roll-ups lack: the newest requests are counted, or all that pass when they are few.
    one('models, a common property', { field: 'model', filter: PLAN }),
    one('models, a rare property', { field: 'model', filter: RARE }),
    one('models, slow ones', { field: 'model', filter: { response: { latency: { gt: 2_000 } } } }),
    one('models, a text in bodies', { field: 'model', filter: IN_BODIES }, false),
    one('a property, errors', { field: 'property:Feature', filter: ERRORS }),
    one('users, errors', { field: 'user', filter: ERRORS }),
  ];
}
