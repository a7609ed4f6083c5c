import { Facets, FacetsBody } from '#core/contracts/facets.ts';
import { MetricsAnswer, MetricsQueryBody } from '#core/contracts/metrics.ts';
import type { MetricsService } from '../metrics/mod.ts';
import { authorized, type Keys } from './access.ts';
import { jsonBody, reply } from './declare.ts';

export type MetricsRoutesOptions = { keys: Keys; metrics: MetricsService };

const example: MetricsQueryBody = {
  measures: [
    { metric: 'requests', aggregate: 'count' },
    { metric: 'cost', aggregate: 'sum' },
    { metric: 'latency', aggregate: 'p95' },
  ],
  groupBy: ['model'],
  filter: { request: { provider: { equals: 'OPENAI' } } },
  range: { from: '2026-11-01', to: '2026-11-08' },
  bucket: 'day',
  timeZone: 'Europe/Berlin',
};

/** `/v1/metrics/query` and `/v1/request/facets`: sums, means and quantiles over time, and the values of a field. */
export function metricsRoutes({ keys, metrics }: MetricsRoutesOptions) {
  return authorized(keys, 'read', 'Metrics')
    .post('/v1/metrics/query', ({ key, body }) => metrics.query(key.organizationId, body), {
      body: jsonBody(MetricsQueryBody, example),
      response: reply(MetricsAnswer),
      detail: { summary: 'Measures requests over time: sums, means, rates and quantiles, in groups' },
    })
    .post('/v1/request/facets', ({ key, body }) => metrics.facets(key.organizationId, body), {
      body: jsonBody(FacetsBody, {
        field: 'model',
        filter: { response: { status: { gte: 500 } } },
        limit: 10,
      }),
      response: reply(Facets),
      detail: { summary: 'Lists the values of a field with their counts, the commonest first' },
    });
}
