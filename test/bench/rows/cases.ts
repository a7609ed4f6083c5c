/** The pages and counts that `npm run bench rows` times. */
import type { Seeded } from '../seed/cluster.ts';
import { SeededRecords } from '../seed/rows.ts';

export type RowCase = {
  name: string;
  body: object;
  /** Held to the target. */
  isIndexed: boolean;
  /** One page alone: neither a deep one nor the same by query. */
  isSingle: boolean;
  /** Another path than that of rows. */
  path?: string;
};

/** The cases over a seeded organization. */
export function rowCases(seeded: Seeded): RowCase[] {
  const middle = new SeededRecords(seeded).at(Math.floor(seeded.requests / 2));
  const lists = (name: string, filter: unknown, more: object = {}): RowCase => ({
    name,
    body: { filter, ...more },
    isIndexed: true,
    isSingle: false,
  });
  const single = (name: string, more: object): RowCase => ({ ...lists(name, 'all', more), isSingle: true });
  const counts = (name: string, filter: unknown, more: object = { atMost: 10_001 }): RowCase => ({
    name,
    path: '/v1/request/count/query',
    body: { filter, ...more },
    isIndexed: false,
    isSingle: true,
  });
  const plan = { properties: { Plan: { equals: 'pro' } } };
  const failed = { response: { status: { gte: 400 } } };
  return [
    lists('all', 'all'),
    single('around a request', { around: middle.requestId }),
    single('newest', { around: 'newest' }),
    single('newest, by latency', { around: 'newest', sort: { latency: 'desc' } }),
    single('200 rows, few columns', {
      limit: 200,
      columns: [
        'request_created_at',
        'response_status',
        'model',
        'delay_ms',
        'cost',
        'preview_in',
        'preview_out',
      ],
    }),
    single('properties and scores by name', {
      columns: [
        'request_created_at',
        'property:Plan',
        'property:Feature',
        'score:helpfulness',
        'scores',
        'preview_in',
      ],
    }),
    single('keys and evaluations', { columns: ['api_key_prefix', 'evaluations_pending'] }),
    ...['latency', 'cost', 'tokens'].flatMap((field) =>
      ['desc', 'asc'].map((direction) =>
        lists(`sort by ${field} ${direction}`, 'all', { sort: { [field]: direction } }),
      ),
    ),
    lists('created_at lt', { request: { created_at: { lt: middle.createdAt } } }),
    lists('created_at asc', 'all', { sort: { created_at: 'asc' } }),
    lists('id equals', { request: { id: { equals: middle.requestId } } }),
    lists('user_id equals, common', { request: { user_id: { equals: 'user-0' } } }),
    lists('user_id equals, rare', { request: { user_id: { equals: 'user-49999' } } }),
    lists('user_id equals, unknown', { request: { user_id: { equals: 'nobody' } } }),
    lists('user_id present', { request: { user_id: { 'not-equals': null } } }),
    lists('request.model equals, common', { request: { model: { equals: 'gpt-4o-mini' } } }),
    lists('request.model equals, rare', { request: { model: { equals: 'grok-code-fast' } } }),
    lists('response.model equals', { response: { model: { equals: 'gpt-4o-2026-01-01' } } }),
    lists('prompt_id equals', { request: { prompt_id: { equals: 'prompt-7' } } }),
    lists('session_id equals', { request: { session_id: { equals: 'session-77' } } }),
    lists('status equals 200', { response: { status: { equals: 200 } } }),
    lists('status equals 503', { response: { status: { equals: 503 } } }),
    lists('status gte 400', failed),
    lists('status not-equals 200', { response: { status: { 'not-equals': 200 } } }),
    lists('status equals 418, none', { response: { status: { equals: 418 } } }),
    lists('latency gt, common', { response: { latency: { gt: 2_000 } } }),
    lists('latency gt, rare', { response: { latency: { gt: 30_000 } } }),
    lists('cost gt, common', { response: { cost: { gt: 0.001 } } }),
    lists('cost gt, rare', { response: { cost: { gt: 0.1 } } }),
    lists('total_tokens gt, rare', { response: { total_tokens: { gt: 20_000 } } }),
    lists('feedback.rating equals', { feedback: { rating: { equals: true } } }),
    lists('feedback present', { feedback: { rating: { 'not-equals': null } } }),
    lists('property equals, common', plan),
    lists('property equals, one of 1,000', { properties: { Feature: { equals: 'feature-900' } } }),
    lists('property equals, none', { properties: { Plan: { equals: 'none' } } }),
    lists('two properties', {
      left: plan,
      operator: 'and',
      right: { properties: { Region: { equals: 'eu-1' } } },
    }),
    lists('property and status', {
      left: plan,
      operator: 'and',
      right: { response: { status: { equals: 500 } } },
    }),
    lists('property, sort by latency', plan, { sort: { latency: 'desc' } }),
    lists('score gt, common', { scores: { helpfulness: { gt: 0.5 } } }),
    lists('score equals', { scores: { accuracy: { equals: 1 } } }),
    lists('score gt, none', { scores: { helpfulness: { gt: 2 } } }),
    lists('isScored', 'all', { isScored: true }),
    lists('isCached', 'all', { isCached: true }),
    lists('isPartOfExperiment', 'all', { isPartOfExperiment: true }),
    counts('count all, atMost 10,001', 'all'),
    counts('count status gte 400, atMost 10,001', failed),
    counts('count a common property, atMost 10,001', plan),
    counts('count all, exact', 'all', {}),
  ];
}
