/** The queries that `npm run bench query` times. */

/** One query to time. */
export type QueryCase = {
  name: string;
  path: string;
  body: object;
  indexed: boolean;
  /** Held to this instead of the usual target. */
  targetMs?: number;
};

/** A request in the middle of the set, for filters that look for one. */
export type Sample = { request_id: string; created_at: string; user_id: string; conversation: string };

/** The usual queries; `indexed` ones are held to the target. */
export function queryCases(sample: Sample, count: number): QueryCase[] {
  const lists = (name: string, filter: unknown, more: object = {}, indexed = true): QueryCase => ({
    name,
    path: '/v1/request/query',
    body: { filter, ...more },
    indexed,
  });
  const counts = (name: string, filter: unknown): QueryCase => ({
    name,
    path: '/v1/request/count/query',
    body: { filter },
    indexed: false,
  });
  const asks = (name: string, path: string, body: object): QueryCase => ({
    name,
    path,
    body,
    indexed: false,
  });
  const dayOf = Math.floor(Date.parse(sample.created_at) / 1_000);
  const timeFilter = { startTimeUnixSeconds: dayOf, endTimeUnixSeconds: dayOf + 86_400 };
  const plan = { properties: { Plan: { equals: 'pro' } } };
  return [
    lists('all', 'all'),
    lists('request.id equals', { request: { id: { equals: sample.request_id } } }),
    lists('request.created_at lt', { request: { created_at: { lt: sample.created_at } } }),
    lists('request.created_at equals', { request: { created_at: { equals: sample.created_at } } }),
    lists('request.user_id equals', { request: { user_id: { equals: sample.user_id } } }),
    lists('request.user_id equals, unknown', { request: { user_id: { equals: 'nobody' } } }),
    lists('request.model equals, common', { request: { model: { equals: 'gpt-4o' } } }),
    lists('request.model equals, rare', { request: { model: { equals: 'grok-4' } } }),
    lists('response.model equals, rare', { response: { model: { equals: 'grok-4' } } }),
    lists('request.prompt_id equals', { request: { prompt_id: { equals: 'prompt-1' } } }),
    lists('request.session_id equals, common', { request: { session_id: { equals: 'long-1' } } }),
    lists('request.session_id equals, rare', { request: { session_id: { equals: 'session-7' } } }),
    lists('request.prompt_id present', { request: { prompt_id: { 'not-equals': null } } }),
    lists('response.status equals 200', { response: { status: { equals: 200 } } }),
    lists('response.status equals 418, rare', { response: { status: { equals: 418 } } }),
    lists('response.status gte 400', { response: { status: { gte: 400 } } }),
    lists('response.status not-equals 200', { response: { status: { 'not-equals': 200 } } }),
    lists('response.latency gt, common', { response: { latency: { gt: 4_000 } } }),
    lists('response.latency gt, 0.1 %', { response: { latency: { gt: 60_000 } } }),
    lists('response.latency gt, rare', { response: { latency: { gt: 400_000 } } }),
    lists('response.cost gt, common', { response: { cost: { gt: 0.0001 } } }),
    lists('response.cost gt, rare', { response: { cost: { gt: 5 } } }),
    lists('response.total_tokens gt, rare', { response: { total_tokens: { gt: 2_800 } } }),
    lists('feedback.rating equals', { feedback: { rating: { equals: true } } }),
    lists('feedback.created_at gte', { feedback: { created_at: { gte: sample.created_at } } }),
    lists('properties equals, common', plan),
    lists('properties equals, rare', { properties: { conversation: { equals: sample.conversation } } }),
    lists('properties equals, absent', { properties: { plan: { equals: 'none' } } }),
    lists('scores gt, common', { scores: { helpfulness: { gt: 0.5 } } }),
    lists('scores equals', { scores: { helpfulness: { equals: 1 } } }),
    lists('scores gt, none', { scores: { helpfulness: { gt: 2 } } }),
    lists('isScored', 'all', { isScored: true }),
    lists('isCached', 'all', { isCached: true }),
    lists('isPartOfExperiment', 'all', { isPartOfExperiment: true }),
    lists('limit 100', 'all', { limit: 100 }),
    ...['latency', 'cost', 'tokens'].flatMap((field) =>
      ['desc', 'asc'].map((direction) =>
        lists(`sort by ${field} ${direction}`, 'all', { sort: { [field]: direction } }),
      ),
    ),
    lists('property, sort by latency desc', plan, { sort: { latency: 'desc' } }),
    lists('properties and status', {
      left: plan,
      operator: 'and',
      right: { response: { status: { equals: 500 } } },
    }),
    lists('sort by prompt_tokens desc (no index)', 'all', { sort: { prompt_tokens: 'desc' } }, false),
    lists(
      'request.provider equals, rare (no index)',
      { request: { provider: { equals: 'XAI' } } },
      {},
      false,
    ),
    lists(
      'request.body contains, common (no index)',
      { request: { body: { contains: 'QUESTION' } } },
      {},
      false,
    ),
    lists(
      'values equals, common (no index)',
      { values: { 'response.choices.0.finish_reason': { equals: 'stop' } } },
      {},
      false,
    ),
    lists('offset at nine tenths', 'all', { offset: Math.floor(count * 0.9) }, false),
    counts('count all', 'all'),
    counts('count response.status gte 400', { response: { status: { gte: 400 } } }),
    counts('count properties equals, common', plan),
    asks('users', '/v1/user/query', {}),
    asks('one user', '/v1/user/query', { userIds: [sample.user_id] }),
    asks('metrics of users', '/v1/user/metrics/query', {}),
    asks('metrics of users, a day', '/v1/user/metrics/query', { timeFilter }),
    asks('names of properties', '/v1/property/query', {}),
    asks('values of a property, a few', '/v1/property/plan/search', { searchTerm: 'pro' }),
    asks('values of a property, many', '/v1/property/conversation/search', { searchTerm: '77' }),
    ...sessionCases(sample),
  ];
}

/** The bound for the first pages of sessions, whose totals are of all their requests. */
const SESSION_TARGET_MS = 50;

function sessionCases(sample: Sample): QueryCase[] {
  const endTimeUnixMs = Date.now();
  const since = (days: number) => ({ startTimeUnixMs: endTimeUnixMs - days * 86_400_000, endTimeUnixMs });
  const one = (name: string, path: string, body: object, targetMs?: number): QueryCase => ({
    name,
    path: `/v1/session/${path}`,
    body,
    indexed: targetMs !== undefined,
    ...(targetMs === undefined ? {} : { targetMs }),
  });
  const user = { request: { user_id: { equals: sample.user_id } } };
  return [
    ...[30, 7, 1].flatMap((days) => [
      one(`sessions of ${days} days`, 'query', { timeFilter: since(days), limit: 50 }, SESSION_TARGET_MS),
      one(`session metrics of ${days} days`, 'metrics/query', { timeFilter: since(days) }, SESSION_TARGET_MS),
    ]),
    one('sessions, offset 100,000', 'query', { timeFilter: since(30), offset: 100_000 }),
    one('sessions by name', 'query', { timeFilter: since(30), nameEquals: 'session name 7' }),
    one('sessions by search, rare', 'query', { timeFilter: since(30), search: 'SESSION-12345' }),
    one('sessions of a user', 'query', { timeFilter: since(30), filter: user }),
    one('session metrics of a user', 'metrics/query', { timeFilter: since(30), filter: user }),
    one('session names', 'name/query', { timeFilter: since(30) }),
  ];
}
