/** Queries over the demo's calls, each printed as it is sent, with its results. */
import type { Api, RequestRecord } from './api.ts';
import { heading, quiet, say, showRecords, showRequest } from './print.ts';

const QUERY = '/v1/request/query';

type Query = { filter: unknown; sort?: Record<string, string>; limit?: number };

async function find(api: Api, title: string, query: Query): Promise<RequestRecord[]> {
  heading(title);
  const body = { limit: 5, ...query };
  showRequest('POST', QUERY, body);
  const records = await api.call<RequestRecord[]>('POST', QUERY, body);
  const count = await api.call<number>('POST', '/v1/request/count/query', { filter: query.filter });
  showRecords(records);
  if (count > records.length) quiet(`  … and ${count - records.length} more`);
  return records;
}

/** Queries records by filters. */
export async function showQueries(api: Api): Promise<void> {
  await find(api, 'The newest calls', { filter: 'all' });
  await find(api, 'What Alice asked the support feature', {
    filter: {
      left: { request: { user_id: { equals: 'alice' } } },
      operator: 'and',
      right: { properties: { Feature: { equals: 'support' } } },
    },
  });
  await find(api, 'Everything that went wrong', { filter: { response: { status: { gte: 400 } } } });
  await find(api, 'The most expensive calls', { filter: 'all', sort: { cost: 'desc' }, limit: 3 });
  await find(api, 'Slow streams', {
    filter: { response: { time_to_first_token: { gte: 20 } } },
    sort: { time_to_first_token: 'desc' },
    limit: 3,
  });
  await find(api, 'A word anywhere in the answers', { filter: { response: { body: { contains: 'köln' } } } });
  await find(api, 'Any value inside a body, by its path', {
    filter: { values: { 'response.choices.0.finish_reason': { equals: 'tool_calls' } } },
  });
}

/** Adds feedback and scores, and queries records by them. */
export async function showFeedback(api: Api): Promise<void> {
  heading('Rate and score answers, then find them');
  const feature = { properties: { Feature: { equals: 'translate' } } };
  const answered = { response: { status: { equals: 200 } } };
  const filter = { left: feature, operator: 'and', right: answered };
  const translations = await api.call<RequestRecord[]>('POST', QUERY, { filter, limit: 4 });
  for (const [index, { request_id: id }] of translations.entries()) {
    const rating = index % 2 === 0;
    const scores = { fluency: 0.95 - index / 10, polite: true };
    const path = `/v1/request/${id}`;
    await api.call('POST', `${path}/feedback`, { rating });
    await api.call('POST', `${path}/score`, { scores });
    await api.call('PUT', `${path}/property`, { key: 'Reviewed', value: 'yes' });
    if (index > 0) continue;
    showRequest('POST', `${path}/feedback`, { rating });
    showRequest('POST', `${path}/score`, { scores });
    showRequest('PUT', `${path}/property`, { key: 'Reviewed', value: 'yes' });
  }
  const liked = await find(api, 'Rated good, and fluent', {
    filter: {
      left: { feedback: { rating: { equals: true } } },
      operator: 'and',
      right: { scores: { fluency: { gte: 0.7 } } },
    },
  });
  for (const { request_id: id, scores } of liked) say(`  ${id.slice(-6)}  ${JSON.stringify(scores)}`);
}
