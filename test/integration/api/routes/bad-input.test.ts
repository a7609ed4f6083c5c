import t from 'tap';
import { type CallOptions, startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  await insertRequests(api.database.sql, api.own.organizationId, [{ request_id: 'known' }]);
});

const QUERY = '/v1/request/query';
const query = (body: unknown): [string, CallOptions] => [QUERY, { body }];
const raw = (text: string | Uint8Array): [string, CallOptions] => [QUERY, { raw: text }];
const typed = (contentType: string | null): [string, CallOptions] => [
  QUERY,
  { raw: '{"filter":"all"}', contentType },
];
const score = (body: unknown): [string, CallOptions] => ['/v1/request/known/score', { body }];
const property = (body: unknown): [string, CallOptions] => [
  '/v1/request/known/property',
  { method: 'PUT', body },
];

/** A wrong call, its status and its sentence. */
const REFUSALS: [what: string, call: [string, CallOptions], status: number, sentence: string][] = [
  // The caller
  [
    'no key',
    [QUERY, { key: null, raw: '{' }],
    401,
    'An API key is required: send it as Authorization: Bearer <key>',
  ],
  [
    'another scheme',
    [QUERY, { key: null, headers: { authorization: 'Basic YTpi' }, body: {} }],
    401,
    'An API key is required: send it as Authorization: Bearer <key>',
  ],
  [
    'an unknown key',
    [QUERY, { key: `sk-assay-${'0'.repeat(43)}`, raw: '{' }],
    401,
    'This API key is not valid',
  ],
  ['a key of absurd length', [QUERY, { key: 'x'.repeat(5_000), raw: '{' }], 401, 'This API key is not valid'],

  // Where
  ['an unknown path', ['/v1/requests', {}], 404, 'There is no GET /v1/requests here'],
  ['another method', [QUERY, { method: 'PUT', raw: '{' }], 405, 'PUT is not allowed here; use POST'],
  ['a query by GET', [QUERY, {}], 405, 'GET is not allowed here; use POST'],
  [
    'a record by POST',
    ['/v1/request/known', { raw: '{}' }],
    405,
    'POST is not allowed here; use GET or DELETE',
  ],
  [
    'a property by POST',
    ['/v1/request/known/property', { raw: '{}' }],
    405,
    'POST is not allowed here; use PUT',
  ],
  ['an unknown id', ['/v1/request/unknown', {}], 404, 'There is no request with the id "unknown"'],
  [
    'a rating of an unknown id',
    ['/v1/request/unknown/feedback', { body: { rating: true } }],
    404,
    'There is no request with the id "unknown"',
  ],
  [
    'a score of an unknown id',
    ['/v1/request/unknown/score', { body: { scores: { a: 1 } } }],
    404,
    'There is no request with the id "unknown"',
  ],
  [
    'a property of an unknown id',
    ['/v1/request/unknown/property', { method: 'PUT', body: { key: 'a', value: 'b' } }],
    404,
    'There is no request with the id "unknown"',
  ],
  ['an id with NUL', ['/v1/request/a%00b', {}], 404, 'There is no request with the id "a\\u0000b"'],

  // In which form
  ['no content type', typed(''), 415, 'The content-type must be application/json, but there is none'],
  [
    'a form',
    typed('application/x-www-form-urlencoded'),
    415,
    'The content-type must be application/json, but it is "application/x-www-form-urlencoded"',
  ],
  [
    'text',
    typed('text/plain;charset=UTF-8'),
    415,
    'The content-type must be application/json, but it is "text/plain"',
  ],
  [
    'Latin-1',
    typed('application/json; charset=iso-8859-1'),
    415,
    'The charset must be utf-8, but it is "iso-8859-1"',
  ],
  [
    'compressed',
    [QUERY, { raw: 'x', headers: { 'content-encoding': 'gzip' } }],
    415,
    'The body must be sent as it is, but its content-encoding is "gzip"',
  ],
  [
    'more than 1 MiB',
    raw(`{"filter":"${'a'.repeat(1024 * 1024)}"}`),
    413,
    'The request body is larger than the 1048576 bytes allowed',
  ],
  ['no body', raw(' '), 400, 'The body is empty, but must be JSON'],
  ['half a body', raw('{"filter":'), 400, 'The body is not valid JSON: it ends too early, at position 10'],
  ['a comma too many', raw('{"filter":"all",}'), 400, 'The body is not valid JSON, from position 16 on'],
  ['NaN', raw('{"filter":"all","limit":NaN}'), 400, 'The body is not valid JSON'],
  ['bytes that are no UTF-8', raw(Uint8Array.of(0x22, 0xff, 0x22)), 400, 'The body is not UTF-8'],
  [
    'a name twice',
    raw('{"filter":{"request":{"path":{"equals":"a"}},"request":{"path":{"equals":"b"}}}}'),
    400,
    'The body names "request" twice in one object: only one of them could count',
  ],
  ['a list', query([]), 400, 'body must be an object, but is []'],
  ['a text', query('all'), 400, 'body must be an object, but is "all"'],

  // Queries
  ['no filter', query({}), 400, 'filter is required, or q in its place'],
  [
    'a wrong filter',
    query({ filter: { request: { modle: {} } } }),
    400,
    'filter.request.modle is not a field of request: use one of id, created_at, user_id, path, model, model_used, provider, api_key_id, source, prompt_id, prompt_version, session_id, session_name, session_path, body',
  ],
  ['an unknown field', query({ filter: 'all', limits: 5 }), 400, 'limits is not a known field'],
  ['limit 0', query({ filter: 'all', limit: 0 }), 400, 'limit must be at least 1, but is 0'],
  ['limit 101', query({ filter: 'all', limit: 101 }), 400, 'limit must be at most 100, but is 101'],
  ['half a limit', query({ filter: 'all', limit: 1.5 }), 400, 'limit must be a whole number, but is 1.5'],
  [
    'a limit in words',
    query({ filter: 'all', limit: '10' }),
    400,
    'limit must be a whole number, but is "10"',
  ],
  ['a null limit', query({ filter: 'all', limit: null }), 400, 'limit must be a whole number, but is null'],
  ['an offset below 0', query({ filter: 'all', offset: -1 }), 400, 'offset must be at least 0, but is -1'],
  [
    'an offset beyond numbers',
    query({ filter: 'all', offset: 1e300 }),
    400,
    'offset must be at most 9007199254740991, but is 1e+300',
  ],
  [
    'an unknown sort',
    query({ filter: 'all', sort: { model: 'asc' } }),
    400,
    'sort.model is not a known field: use one of created_at, latency, cost, tokens, prompt_tokens, completion_tokens, time_to_first_token',
  ],
  [
    'no sort',
    query({ filter: 'all', sort: {} }),
    400,
    'sort must hold exactly one field of created_at, latency, cost, tokens, prompt_tokens, completion_tokens, time_to_first_token, but is {}',
  ],
  [
    'two sorts',
    query({ filter: 'all', sort: { cost: 'asc', latency: 'asc' } }),
    400,
    'sort must hold exactly one field of created_at, latency, cost, tokens, prompt_tokens, completion_tokens, time_to_first_token, but is {"cost":"asc","latency":"asc"}',
  ],
  [
    'a sort sideways',
    query({ filter: 'all', sort: { cost: 'up' } }),
    400,
    'sort.cost must be one of "asc", "desc", but is "up"',
  ],
  [
    'a flag in words',
    query({ filter: 'all', isCached: 'yes' }),
    400,
    'isCached must be true or false, but is "yes"',
  ],
  [
    'a wrong count',
    ['/v1/request/count/query', { body: { filter: 5 } }],
    400,
    'filter must be "all", a leaf or a branch, but is 5',
  ],

  // Ids
  ['no ids', ['/v1/request/query-ids', { body: {} }], 400, 'requestIds is required'],
  [
    'ids that are numbers',
    ['/v1/request/query-ids', { body: { requestIds: [1] } }],
    400,
    'requestIds.0 must be a string, but is 1',
  ],
  [
    '1001 ids',
    ['/v1/request/query-ids', { body: { requestIds: Array(1_001).fill('a') } }],
    400,
    'requestIds must hold at most 1000 items, but holds 1001',
  ],

  // Changes
  [
    'a rating of 1',
    ['/v1/request/known/feedback', { body: { rating: 1 } }],
    400,
    'rating must be true or false, but is 1',
  ],
  ['no rating', ['/v1/request/known/feedback', { body: {} }], 400, 'rating is required'],
  [
    'more than a rating',
    ['/v1/request/known/feedback', { body: { rating: true, note: 'x' } }],
    400,
    'note is not a known field',
  ],
  ['no scores', score({ scores: {} }), 400, 'scores must hold 1 to 100 fields, but holds 0'],
  [
    'a score in words',
    score({ scores: { quality: 'good' } }),
    400,
    'scores.quality must be a number or a boolean, but is "good"',
  ],
  [
    'a score beyond numbers',
    ['/v1/request/known/score', { raw: '{"scores":{"a":1e400}}' }],
    400,
    'scores.a must be a number or a boolean, but is Infinity',
  ],
  [
    'a score with a long name',
    score({ scores: { ['k'.repeat(101)]: 1 } }),
    400,
    `scores["${'k'.repeat(79)}…] must have a name of 1 to 100 characters`,
  ],
  [
    'too many scores',
    score({ scores: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, 1])) }),
    400,
    'scores must hold 1 to 100 fields, but holds 101',
  ],
  ['a property without a name', property({ key: '', value: 'a' }), 400, 'key must not be empty'],
  ['a property without a value', property({ key: 'a' }), 400, 'value is required'],
  ['a property of a number', property({ key: 'a', value: 1 }), 400, 'value must be a string, but is 1'],
  [
    'a property with a long value',
    property({ key: 'a', value: 'x'.repeat(10_001) }),
    400,
    'value must have at most 10000 characters, but has 10001',
  ],
];

t.test('an invalid call of the API is refused with its status and a sentence', async (t) => {
  for (const [what, [path, options], status, sentence] of REFUSALS) {
    const answer = await api.call(path, options);
    t.strictSame({ status: answer.status, ...answer.body }, { status, data: null, error: sentence }, what);
    t.match(answer.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
    t.match(answer.headers.get('content-type'), 'application/json');
    if (status === 401) t.equal(answer.headers.get('www-authenticate'), 'Bearer');
    if (status === 405)
      t.match(answer.headers.get('allow'), /^(GET|POST|PUT|DELETE)(, (GET|POST|PUT|DELETE))*$/);
  }
});

t.test('a call of the API without the needed scope is refused before its body is read', async (t) => {
  const [reader, writer, caller] = await Promise.all([
    api.own.keyWith(['read']),
    api.own.keyWith(['write']),
    api.own.keyWith(['gateway']),
  ]);
  const lacks = (scope: string) => ({
    data: null,
    error: `This API key lacks the scope ${scope}, which this call needs`,
  });
  const READS = [QUERY, '/v1/request/query-ids', '/v1/request/count/query'];
  for (const path of READS) {
    for (const key of [writer, caller]) {
      const answer = await api.call(path, { key, raw: '{', contentType: 'text/plain' });
      t.strictSame([answer.status, answer.body], [403, lacks('read')], path);
    }
  }
  t.equal((await api.call('/v1/request/known', { key: writer })).status, 403);
  const WRITES: [string, string][] = [
    ['POST', 'feedback'],
    ['POST', 'score'],
    ['PUT', 'property'],
  ];
  for (const [method, name] of WRITES) {
    for (const key of [reader, caller]) {
      const answer = await api.call(`/v1/request/known/${name}`, { method, key, raw: '{' });
      t.strictSame([answer.status, answer.body], [403, lacks('write')], name);
    }
  }
});

t.test('JSON bodies are read under their other content types', async (t) => {
  const TYPES = [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/vnd.api+json',
  ];
  for (const contentType of TYPES) t.equal((await api.call(...typed(contentType))).status, 200, contentType);
  t.equal((await api.call(QUERY, { raw: '\ufeff{"filter":"all"}' })).status, 200, 'with a byte order mark');
});

t.test('a deeply nested body or filter is refused with a sentence', async (t) => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  for (const body of [
    deep,
    `{"filter":${deep}}`,
    `{"filter":"all","limit":${deep}}`,
    `{"filter":{"request":{"path":{"equals":${deep}}}}}`,
  ]) {
    t.equal((await api.call(...raw(body))).status, 400);
  }
});
