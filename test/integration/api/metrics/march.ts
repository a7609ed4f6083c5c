/** Requests of March 2026, and what is measured of them. */
import type { Test } from 'tap';
import type { Facets } from '#core/contracts/facets.ts';
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { startTestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

export const QUERY = '/v1/metrics/query';
export const FACETS = '/v1/request/facets';
export const MARCH = { from: '2026-03-01', to: '2026-04-01' };
const LONG = '😀'.repeat(5_000);
export const COUNT = { metric: 'requests', aggregate: 'count' };
/** Starts the API over requests of March 2026; another organization has one, too. */
export async function startMarch(t: Test) {
  const api = await startTestApi(t);
  const { own, other, database } = api;
  const at = (day: number, hour = 12) => new Date(Date.UTC(2026, 2, day, hour));
  const rows = [
    {
      created_at: at(1),
      model: 'a',
      status: 200,
      user_id: 'ann',
      latency_ms: 100,
      properties: { Plan: 'pro' },
    },
    {
      created_at: at(1),
      model: 'a',
      status: 500,
      user_id: 'ann',
      latency_ms: 300,
      properties: { Plan: 'pro' },
    },
    {
      created_at: at(2),
      model: 'b',
      status: 200,
      user_id: 'bob',
      latency_ms: null,
      properties: { Plan: LONG },
    },
    { created_at: at(29, 0), model: 'b', status: 200, user_id: null, latency_ms: 200, total_tokens: 9 },
    {
      created_at: at(29, 22),
      model: '100%_a',
      status: 200,
      user_id: null,
      latency_ms: 400,
      cost_nano: 1_500_000_000,
    },
    { created_at: at(29), model: 'judge', source: 'evaluator', status: 200 },
  ];
  await insertRequests(database.sql, own.organizationId, rows);
  await insertRequests(database.sql, other.organizationId, [{ created_at: at(3), model: 'secret' }]);

  async function ask(body: object, key?: string): Promise<MetricsAnswer> {
    const answer = await api.call(QUERY, { body, ...(key === undefined ? {} : { key }) });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.data as MetricsAnswer;
  }

  async function facets(body: object, key?: string): Promise<Facets> {
    const answer = await api.call(FACETS, { body, ...(key === undefined ? {} : { key }) });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.data as Facets;
  }

  return { api, ask, facets };
}
