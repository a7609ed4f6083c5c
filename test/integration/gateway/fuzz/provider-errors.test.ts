/** Provider errors that are no JSON reach the client in its dialect, with the status and the headers for retries. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import t from 'tap';
import { startWorld } from './sockets.ts';

const world = await startWorld(t);

const body = (model: string) =>
  Buffer.from(JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }));
const GPT = body('gpt-4o-mini');
const CLAUDE = body('claude-sonnet-4-5');

const WAYS = [
  { what: "OpenAI's own", path: '/v1/chat/completions', asked: GPT, dialect: 'openai' },
  {
    what: "Anthropic's behind chat completions",
    path: '/v1/chat/completions',
    asked: CLAUDE,
    dialect: 'openai',
  },
  { what: "Anthropic's own", path: '/v1/messages', asked: CLAUDE, dialect: 'anthropic' },
  { what: "OpenAI's behind Messages", path: '/v1/messages', asked: GPT, dialect: 'anthropic' },
  { what: "OpenAI's of a response", path: '/v1/responses', asked: GPT, dialect: 'openai' },
  { what: "OpenAI's of an embedding", path: '/v1/embeddings', asked: GPT, dialect: 'openai' },
] as const;

/** The error type of each status; Anthropic's are the same but for those below. */
const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  418: 'invalid_request_error',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'service_unavailable',
  520: 'api_error',
  529: 'overloaded_error',
  599: 'api_error',
};
const ANTHROPIC_TYPES: Record<number, string> = { 503: 'overloaded_error' };

const TOLD = {
  'retry-after': '7',
  'retry-after-ms': '6500',
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '0',
  'x-ratelimit-reset-tokens': '1m3s',
};

for (const { what, path, asked, dialect } of WAYS) {
  t.test(`errors in plain text get the type of their status: ${what}`, async () => {
    for (const [name, usual] of Object.entries(TYPES)) {
      const status = Number(name);
      const type = dialect === 'openai' ? usual : (ANTHROPIC_TYPES[status] ?? usual);
      const given = await world.send({
        path,
        body: asked,
        behaviour: {
          kind: 'bytes',
          status,
          body: 'upstream said "no"\n',
          headers: { 'content-type': 'text/plain', 'content-language': 'en', etag: '"1"', ...TOLD },
        },
      });
      strictEqual(given.status, status);
      strictEqual(given.headers['content-type'], 'application/json');
      strictEqual(given.headers['content-length'], String(given.bytes.length));
      strictEqual(given.headers.etag, undefined, 'what described the page is gone with it');
      for (const [header, value] of Object.entries(TOLD)) strictEqual(given.headers[header], value, header);
      const { error, ...around } = JSON.parse(given.bytes.toString());
      strictEqual(error.type, type, name);
      match(error.message, /upstream said "no"$/);
      if (dialect === 'openai') deepStrictEqual([around, error.param, error.code], [{}, null, null]);
      else deepStrictEqual([around, Object.keys(error)], [{ type: 'error' }, ['type', 'message']]);
      const record = await world.gateway.record(given.id);
      strictEqual(record.status, status);
      strictEqual(record.cost_nano, null);
    }
  });

  t.test(`an error page of a megabyte is cut to its beginning: ${what}`, async () => {
    const given = await world.send({
      path,
      body: asked,
      behaviour: {
        kind: 'bytes',
        status: 500,
        body: '<p>é'.repeat(250_000),
        headers: { 'content-type': 'text/html' },
      },
    });
    const { error } = JSON.parse(given.bytes.toString());
    ok(error.message.length < 2_100, `${error.message.length} characters`);
    match(error.message, /…$/);
  });
}

t.test('a JSON error is relayed unchanged, with its retry and rate-limit headers', async (t) => {
  const told =
    '{ "error" : {"message":"slow down", "type":"requests","param":null,"code":"rate_limit_exceeded", "x":1.0} }';
  const given = await world.send({
    path: '/v1/chat/completions',
    body: GPT,
    behaviour: {
      kind: 'bytes',
      status: 429,
      body: told,
      headers: { 'content-type': 'application/json', ...TOLD },
    },
  });
  t.equal(given.bytes.toString(), told);
  t.match(given.headers, TOLD);
});

t.test('an error status with an event stream is relayed as a plain error', async (t) => {
  for (const { path, asked } of WAYS) {
    const given = await world.send({
      path,
      body: asked,
      behaviour: {
        kind: 'bytes',
        status: 429,
        body: 'data: {"error":{"message":"slow down"}}\n\n',
        headers: { 'content-type': 'text/event-stream', ...TOLD },
      },
    });
    t.equal(given.status, 429);
    t.equal(given.headers['content-type'], 'application/json');
    t.match(JSON.parse(given.bytes.toString()).error.message, /slow down/);
    t.match(given.headers, TOLD);
  }
});
