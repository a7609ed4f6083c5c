import t from 'tap';
import { parseAnalyticsFilter, parseFilter } from '#core/filter/mod.ts';

const rmt = (fields: object) => ({ request_response_rmt: fields });
const sessions = (fields: object) => ({ sessions_request_response_rmt: fields });

/** Filters of the analytics endpoint, and the same in our own sections. */
const SAME: [object, object][] = [
  [rmt({ request_id: { equals: 'a' } }), { request: { id: { equals: 'a' } } }],
  [rmt({ request_created_at: { gte: '2026-01-31' } }), { request: { created_at: { gte: '2026-01-31' } } }],
  [rmt({ response_created_at: { lt: 0 } }), { response: { created_at: { lt: 0 } } }],
  [rmt({ latency: { gt: 500 } }), { response: { latency: { gt: 500 } } }],
  [rmt({ time_to_first_token: { lte: 9 } }), { response: { time_to_first_token: { lte: 9 } } }],
  [rmt({ status: { 'not-equals': 200 } }), { response: { status: { 'not-equals': 200 } } }],
  [rmt({ user_id: { like: 'u%' } }), { request: { user_id: { like: 'u%' } } }],
  [rmt({ provider: { equals: 'OPENAI' } }), { request: { provider: { equals: 'OPENAI' } } }],
  [rmt({ request_path: { contains: 'chat' } }), { request: { path: { contains: 'chat' } } }],
  [rmt({ prompt_id: { equals: 'p' } }), { request: { prompt_id: { equals: 'p' } } }],
  [rmt({ prompt_version: { equals: '3' } }), { request: { prompt_version: { equals: '3' } } }],
  [rmt({ prompt_tokens: { lt: 5 } }), { response: { prompt_tokens: { lt: 5 } } }],
  [rmt({ completion_tokens: { lt: 5 } }), { response: { completion_tokens: { lt: 5 } } }],
  [rmt({ total_tokens: { lt: 5 } }), { response: { total_tokens: { lt: 5 } } }],
  [rmt({ cost: { gt: 0.5 } }), { response: { cost: { gt: 0.5 } } }],
  [rmt({ request_body: { contains: 'x' } }), { request: { body: { contains: 'x' } } }],
  [rmt({ response_body: { contains: 'x' } }), { response: { body: { contains: 'x' } } }],
  [rmt({ properties: { Plan: { equals: 'pro' } } }), { properties: { Plan: { equals: 'pro' } } }],
  [rmt({ search_properties: { Plan: { ilike: 'p%' } } }), { properties: { Plan: { ilike: 'p%' } } }],
  [
    rmt({ properties: { ['__proto__']: { equals: 'a' } } }),
    { properties: { ['__proto__']: { equals: 'a' } } },
  ],
  [rmt({ scores: { helpful: { gte: 0.5 } } }), { scores: { helpful: { gte: 0.5 } } }],
];

t.test('a field of request_response_rmt is the field of ours that means the same', async (t) => {
  for (const [theirs, ours] of SAME) {
    t.strictSame(parseAnalyticsFilter(theirs), parseFilter(ours), JSON.stringify(theirs));
  }
});

t.test('the model of request_response_rmt is the model that a record shows', async (t) => {
  t.strictSame(parseAnalyticsFilter(rmt({ model: { equals: 'gpt-4o' } })), {
    kind: 'leaf',
    field: { kind: 'column', type: 'text', column: 'model' },
    comparison: { operator: 'equals', operand: 'gpt-4o' },
  });
});

t.test('fields of both kinds stand in one tree, with our own operands and operators', async (t) => {
  const theirs = {
    left: rmt({ status: { equals: 200 } }),
    operator: 'and',
    right: { left: 'all', operator: 'or', right: { request: { model: { equals: 'gpt-4o' } } } },
  };
  const ours = { ...theirs, left: { response: { status: { equals: 200 } } } };
  t.strictSame(parseAnalyticsFilter(theirs), parseFilter(ours));
  t.strictSame(parseAnalyticsFilter('all'), parseFilter('all'));
  t.strictSame(parseAnalyticsFilter({}), parseFilter({}));
});

const FIELDS =
  'model, request_id, request_created_at, response_created_at, latency, time_to_first_token, status, user_id, provider, ' +
  'request_path, prompt_id, prompt_version, prompt_tokens, completion_tokens, total_tokens, cost, request_body, ' +
  'response_body, properties, search_properties, scores';

t.test('a field that we do not have is an error that lists those that there are', async (t) => {
  for (const name of [
    'country_code',
    'cache_enabled',
    'target_url',
    'threat',
    'node_id',
    'constructor',
    '__proto__',
  ]) {
    const filter = JSON.parse(`{"request_response_rmt":{"${name}":{"equals":"x"}}}`);
    t.throws(() => parseAnalyticsFilter(filter), {
      code: 'invalid_filter',
      message: `filter.request_response_rmt.${name} is not a field of request_response_rmt here: use one of ${FIELDS}`,
    });
  }
  t.throws(() => parseAnalyticsFilter(sessions({ session_tag: { equals: 'a' } })), {
    message:
      /^filter\.sessions_request_response_rmt\.session_tag is not a field of sessions_request_response_rmt here: /,
  });
});

t.test('a leaf of these sections obeys the rules of any leaf', async (t) => {
  const broken: [unknown, RegExp][] = [
    [rmt({}), /^filter\.request_response_rmt must hold one field, but is empty: use one of model, /],
    [rmt({ status: { equals: 1 }, latency: { equals: 1 } }), /must hold one field, but holds 2/],
    [{ request_response_rmt: 5 }, /^filter\.request_response_rmt must be an object with one field, but is 5/],
    [
      rmt({ status: { contains: '2' } }),
      /^filter\.request_response_rmt\.status\.contains is not an operator of a number/,
    ],
    [rmt({ status: {} }), /^filter\.request_response_rmt\.status must hold one operator, but is empty/],
    [
      rmt({ status: { equals: '200' } }),
      /^filter\.request_response_rmt\.status\.equals must be a number, but is "200"/,
    ],
    [rmt({ properties: {} }), /^filter\.request_response_rmt\.properties must hold one field, but is empty/],
    [rmt({ properties: 'x' }), /^filter\.request_response_rmt\.properties must be an object with one field/],
    [
      rmt({ scores: { a: { equals: 'x' } } }),
      /^filter\.request_response_rmt\.scores\.a\.equals must be a number/,
    ],
    [{ ...rmt({ status: { equals: 1 } }), request: {} }, /is not a section|must hold one section/],
    [{ users_view: { user_user_id: { equals: 'a' } } }, /^filter\.users_view is not a section/],
  ];
  for (const [filter, message] of broken) {
    t.throws(() => parseAnalyticsFilter(filter), { code: 'invalid_filter', message }, JSON.stringify(filter));
  }
});

t.test('other endpoints do not know these sections', async (t) => {
  t.throws(() => parseFilter(rmt({ status: { equals: 200 } })), {
    message: /^filter\.request_response_rmt is not a section/,
  });
});
