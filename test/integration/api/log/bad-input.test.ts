import t from 'tap';
import { type CallOptions, startTestApi, type TestApi } from '../../../support/api.ts';

const LOG = '/v1/log/request';
const MAX_BODY_BYTES = 400_000;

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t, { environment: { MAX_BODY_BYTES: String(MAX_BODY_BYTES) } });
});

const BEGUN = '2026-03-01T12:00:00.000Z';
const ENDED = '2026-03-01T12:00:01.250Z';
const REQUEST = { body: {}, created_at: BEGUN };
const RESPONSE = { body: {}, status: 200, created_at: ENDED };
const GOOD = { provider: 'openai', model: 'gpt-4o-mini', request: REQUEST, response: RESPONSE };

const raw = (text: string | Uint8Array): CallOptions => ({ raw: text });
/** The good call with something else in it. */
const but = (more: object): CallOptions => ({ body: { ...GOOD, ...more } });
const request = (more: object) => but({ request: { ...REQUEST, ...more } });
const response = (more: object) => but({ response: { ...RESPONSE, ...more } });
const begun = (created_at: unknown) => request({ created_at });
const ended = (created_at: unknown) => response({ created_at });

const PROVIDERS =
  'provider must be one of openai, anthropic, azure, google, mistral, groq, deepseek, xai, together, openrouter, custom, ' +
  'or another name of 1 to 64 letters, digits, spaces and "._-" that begins with a letter or a digit, but is ';
const CREATED_AT =
  'request.created_at must be an RFC 3339 timestamp like "2026-01-31T12:00:00.000Z" or milliseconds since the epoch, ' +
  'from 2020-01-01T00:00:00.000Z to a day from now, but is ';
const ANSWERED_AT =
  'response.created_at must be an RFC 3339 timestamp or milliseconds since the epoch, ' +
  `from request.created_at (${BEGUN}) to 7 days later, but is `;
const TOMORROW = Date.now() + 86_460_000;

/** A wrong call, its status and its sentence. */
const REFUSALS: [what: string, call: CallOptions, status: number, sentence: string][] = [
  // Who, where, in which form
  ['no key', { key: null, raw: '{' }, 401, 'An API key is required: send it as Authorization: Bearer <key>'],
  ['an unknown key', { key: `sk-assay-${'0'.repeat(43)}`, raw: '{' }, 401, 'This API key is not valid'],
  ['GET', {}, 405, 'GET is not allowed here; use POST'],
  [
    'text',
    { body: GOOD, contentType: 'text/plain' },
    415,
    'The content-type must be application/json, but it is "text/plain"',
  ],
  [
    'compressed',
    { raw: 'x', headers: { 'content-encoding': 'gzip' } },
    415,
    'The body must be sent as it is, but its content-encoding is "gzip"',
  ],
  [
    'more than MAX_BODY_BYTES',
    request({ body: { text: 'x'.repeat(MAX_BODY_BYTES) } }),
    413,
    'The request body is larger than the 400000 bytes allowed',
  ],
  ['no body', raw(''), 400, 'The body is empty, but must be JSON'],
  ['half a body', raw('{"provider":'), 400, 'The body is not valid JSON: it ends too early, at position 12'],
  ['bytes that are no UTF-8', raw(Uint8Array.of(0x22, 0xff, 0x22)), 400, 'The body is not UTF-8'],
  [
    'too deep',
    raw(`{"request":{"body":{"a":${'['.repeat(100_001)}${']'.repeat(100_001)}}}}`),
    400,
    'The body is nested deeper than 100000 levels',
  ],
  [
    'a name twice',
    raw('{"request":{"body":{"a":1,"a":2}},"request":{}}'),
    400,
    'The body names "request" twice in one object: only one of them could count',
  ],
  [
    'a body twice',
    raw('{"request":{"body":{},"path":"/","body":{}}}'),
    400,
    'The body names "body" twice in one object: only one of them could count',
  ],
  ['a list', { body: [GOOD] }, 400, `body must be an object, but is ${JSON.stringify([GOOD]).slice(0, 80)}…`],

  // Fields
  ['nothing', { body: {} }, 400, 'provider is required'],
  ['no model', but({ model: undefined }), 400, 'model is required'],
  ['no request', but({ request: undefined }), 400, 'request is required'],
  ['no response', but({ response: undefined }), 400, 'response is required'],
  ['an unknown field', but({ organization_id: 'x' }), 400, 'organization_id is not a known field'],
  ['an unknown part', request({ headers: {} }), 400, 'request.headers is not a known field'],
  ['an unknown timing', but({ timing: { ttft: 1 } }), 400, 'timing.ttft is not a known field'],
  ['a provider of 1', but({ provider: 1 }), 400, 'provider must be a string, but is 1'],
  ['no provider', but({ provider: '' }), 400, `${PROVIDERS}""`],
  ['a provider with NUL', but({ provider: 'open\u0000ai' }), 400, `${PROVIDERS}"open\\u0000ai"`],
  ['a long provider', but({ provider: 'x'.repeat(65) }), 400, `${PROVIDERS}"${'x'.repeat(65)}"`],
  ['an empty model', but({ model: '' }), 400, 'model must not be empty'],
  [
    'a long model',
    but({ model: 'é'.repeat(129) }),
    400,
    'model must have at most 256 bytes as UTF-8, but has 258',
  ],
  ['no request body', request({ body: undefined }), 400, 'request.body is required'],
  ['a request body of text', request({ body: '{}' }), 400, 'request.body must be an object, but is "{}"'],
  ['a request body of a list', request({ body: [] }), 400, 'request.body must be an object, but is []'],
  ['no response body', response({ body: undefined }), 400, 'response.body is required'],
  [
    'a response body of null',
    response({ body: null }),
    400,
    'response.body must be an object or a string, but is null',
  ],
  [
    'a response body of a list',
    response({ body: [] }),
    400,
    'response.body must be an object or a string, but is []',
  ],
  [
    'a path without a slash',
    request({ path: 'https://api.openai.com/v1' }),
    400,
    'request.path must begin with "/", but is "https://api.openai.com/v1"',
  ],
  ['no status', response({ status: undefined }), 400, 'response.status is required'],
  [
    'a status in words',
    response({ status: 'ok' }),
    400,
    'response.status must be a whole number, but is "ok"',
  ],
  ['a status below 0', response({ status: -1 }), 400, 'response.status must be at least 0, but is -1'],
  ['a status of 600', response({ status: 600 }), 400, 'response.status must be at most 599, but is 600'],

  // Moments
  ['no moment', begun(undefined), 400, 'request.created_at is required'],
  ['a null moment', begun(null), 400, `${CREATED_AT}null`],
  ['a moment in words', begun('yesterday'), 400, `${CREATED_AT}"yesterday"`],
  ['a date', begun('2026-03-01'), 400, `${CREATED_AT}"2026-03-01"`],
  ['30 February', begun('2026-02-30T00:00:00Z'), 400, `${CREATED_AT}"2026-02-30T00:00:00Z"`],
  ['seconds', begun(1_772_366_400), 400, `${CREATED_AT}1772366400`],
  ['before 2020', begun('2019-12-31T23:59:59.999Z'), 400, `${CREATED_AT}"2019-12-31T23:59:59.999Z"`],
  ['the far future', begun(TOMORROW), 400, `${CREATED_AT}${TOMORROW}`],
  ['no end', ended(undefined), 400, 'response.created_at is required'],
  [
    'an end before the beginning',
    ended('2026-03-01T11:59:59.999Z'),
    400,
    `${ANSWERED_AT}"2026-03-01T11:59:59.999Z"`,
  ],
  ['an end a month later', ended('2026-04-01T12:00:00Z'), 400, `${ANSWERED_AT}"2026-04-01T12:00:00Z"`],
  ['an end in words', ended({}), 400, `${ANSWERED_AT}{}`],
  [
    'a first token before the call',
    but({ timing: { time_to_first_token: -1 } }),
    400,
    'timing.time_to_first_token must be at least 0, but is -1',
  ],
  [
    'a first token after the last',
    but({ timing: { time_to_first_token: 1_251 } }),
    400,
    'timing.time_to_first_token must be at most the 1250 ms from request.created_at to response.created_at, but is 1251',
  ],

  // Labels
  ['a user of 5', but({ user_id: 5 }), 400, 'user_id must be a string or null, but is 5'],
  [
    'a long user',
    but({ user_id: '界'.repeat(342) }),
    400,
    'user_id must have at most 1024 bytes as UTF-8, but has 1026',
  ],
  [
    'a user of many NULs, each of which is stored as three bytes',
    but({ user_id: '\u0000'.repeat(342) }),
    400,
    'user_id must have at most 1024 bytes as UTF-8, but has 1026',
  ],
  [
    'a user that is named more often than anybody looks',
    raw(JSON.stringify(GOOD).replace('"body":{}', `"body":{${'"user":"a",'.repeat(10_000)}"user":"a"}`)),
    400,
    'request.body must name "user" once, but names it many times',
  ],
  [
    'a long user in the body',
    request({ body: { user: 'x'.repeat(1_025) } }),
    400,
    'request.body.user must have at most 1024 bytes as UTF-8, but has 1025',
  ],
  [
    'a long session',
    but({ session_id: 'x'.repeat(1_025) }),
    400,
    'session_id must have at most 1024 bytes as UTF-8, but has 1025',
  ],
  [
    'an id of our own',
    but({ request_id: 'mine' }),
    400,
    'request_id must be a UUID or a ULID, but is "mine"',
  ],
  ['an id of 5', but({ request_id: 5 }), 400, 'request_id must be a string or null, but is 5'],
  ['properties as a list', but({ properties: [] }), 400, 'properties must be an object or null, but is []'],
  [
    'a property of 1',
    but({ properties: { 'a\nb': 1 } }),
    400,
    'properties["a\\nb"] must be a string, but is 1',
  ],
  [
    'a property without a name',
    but({ properties: { '': 'x' } }),
    400,
    'properties[""] must have a name of 1 to 200 characters',
  ],
  [
    'a property with a long name',
    but({ properties: { ['n'.repeat(201)]: 'x' } }),
    400,
    `properties["${'n'.repeat(79)}…] must have a name of 1 to 200 characters`,
  ],
  [
    'a property with a long value',
    but({ properties: { a: 'x'.repeat(10_001) } }),
    400,
    'properties.a must have at most 10000 characters, but has 10001',
  ],
  [
    'too many properties',
    but({ properties: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, 'x'])) }),
    400,
    'properties must hold at most 100 fields, but holds 101',
  ],
];

t.test('an invalid call to log a request is refused with its status and a sentence', async (t) => {
  for (const [what, options, status, sentence] of REFUSALS) {
    const answer = await api.call(LOG, options);
    t.strictSame({ status: answer.status, ...answer.body }, { status, data: null, error: sentence }, what);
    t.match(answer.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
    if (status === 401) t.equal(answer.headers.get('www-authenticate'), 'Bearer');
    if (status === 405) t.equal(answer.headers.get('allow'), 'POST');
  }
  t.equal((await api.call(`${LOG}/`, { body: GOOD })).status, 200, 'the good call is good');
  t.equal((await api.call('/v1/log', { body: GOOD })).status, 404);
});

t.test('logging a request requires the scope write before the body is read', async (t) => {
  for (const scope of ['read', 'gateway'] as const) {
    const key = await api.own.keyWith([scope]);
    const answer = await api.call(LOG, { key, raw: '{', contentType: 'text/plain' });
    t.strictSame(
      [answer.status, answer.body],
      [403, { data: null, error: 'This API key lacks the scope write, which this call needs' }],
    );
  }
  const key = await api.own.keyWith(['write']);
  t.equal((await api.call(LOG, { key, body: GOOD })).status, 200);
});
