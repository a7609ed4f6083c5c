/** The playground, from the API's port through a gateway to a provider, and into the log. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createKey } from '#platform/keys/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { signKeyCall } from '#platform/secrets/mod.ts';
import { createPlayground } from '../../../../api/playground/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { createWorld } from '../../../support/world.ts';

const CHUNK = (content: string) =>
  `data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;
const DONE = 'data: [DONE]\n\n';
const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
const MAX_BODY_BYTES = 1_048_576;

const world = await createWorld(t);
const { sql } = world;
const provider = await world.provider();
const { organizationId } = await world.organization({ tier: 'enterprise' });
const settings = {
  OPENAI_API_KEY: 'sk-operator',
  OPENAI_BASE_URL: provider.url,
  MAX_BODY_BYTES: String(MAX_BODY_BYTES),
};
const { dataDir } = await world.start('ingest', settings);
const gateway = await world.start('gateway', { ...settings, DATA_DIR: dataDir });
const api = await world.start('api', { ...settings, GATEWAY_URL: gateway.url });
t.afterEach(() => provider.script(null));

const makeKey = (more: Partial<Parameters<typeof createKey>[1]> = {}) =>
  createKey(sql, { organizationId, scopes: ['gateway', 'read'], ...more });
const { key, record } = await makeKey();

type Options = { key?: string; headers?: Record<string, string>; signal?: AbortSignal; url?: string };

/** Sends the text of a body, as a browser does. */
function play(text: string, { key: by = key, headers = {}, signal, url = api.url }: Options = {}) {
  return fetch(`${url}/v1/playground`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json', ...headers },
    body: text,
    ...(signal !== undefined && { signal }),
  });
}

async function stored(requestId: string | null) {
  let row: Record<string, unknown> | undefined;
  await waitFor('the record', async () => {
    [row] = await sql`select * from assay.requests where request_id = ${requestId}`;
    return row !== undefined;
  });
  return row!;
}

t.test('a call is made with the key that is logged in, and logged as the playground', async (t) => {
  const answer = await play(
    JSON.stringify({
      body: CHAT,
      user_id: 'Zoë',
      session_id: 's-1',
      session_name: 'Draft 雪',
      session_path: '/a',
      properties: { Draft: 'refund — 2' },
    }),
    { headers: { 'service-property-of-the-browser': 'x', 'service-user-id': 'someone else' } },
  );
  t.equal(answer.status, 200);
  t.match(await answer.json(), { object: 'chat.completion' });
  t.match(await stored(answer.headers.get('service-request-id')), {
    organization_id: organizationId,
    source: 'playground',
    api_key_id: record.keyId,
    user_id: 'Zoë',
    session_id: 's-1',
    session_name: 'Draft 雪',
    session_path: '/a',
    request_properties: { Draft: 'refund — 2' },
    status: 200,
  });
  const { 'service-internal': signature, authorization } = provider.requests.at(-1)!.headers;
  t.same([signature, authorization], [undefined, 'Bearer sk-operator']);
});

t.test('the body reaches the provider as it was written', async (t) => {
  const body =
    '{ "model" : "gpt-4o-mini", "temperature": 1.0, "seed": 12345678901234567890,\n "unknown": null, "messages":[{"role":"user","content":"\\u00e9"}] }';
  t.equal((await play(`{"body":${body}}`)).status, 200);
  t.equal(provider.requests.at(-1)!.body.toString(), body);
});

t.test('a stream is passed on byte for byte, each piece as it comes', async (t) => {
  const rest = Promise.withResolvers<void>();
  const server = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(200, EVENTS);
    response.write(CHUNK('one'));
    void rest.promise.then(() => response.end(CHUNK('two \u{1f600}') + DONE));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const own = await world.start('gateway', {
    OPENAI_API_KEY: 'sk',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
  });
  const { url } = await world.start('api', { GATEWAY_URL: own.url });
  const answer = await play(JSON.stringify({ body: { ...CHAT, stream: true } }), {
    url,
    headers: { 'accept-encoding': 'gzip, br' },
  });
  t.match(answer.headers.get('content-type'), /^text\/event-stream/);
  t.equal(answer.headers.get('content-encoding'), null);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  t.equal((await reader.read()).value, CHUNK('one'), 'while the provider has not sent the rest');
  rest.resolve();
  let text = '';
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) text += value;
  t.equal(text, CHUNK('two \u{1f600}') + DONE);
});

t.test('a page that goes away ends the call of the provider, and is recorded as 499', async (t) => {
  const deltas = Array.from({ length: 4_000 }, () => 'word ');
  provider.script(() => ({ kind: 'stream', deltas, everyMs: 5 }));
  for (const hasBegun of [true, false]) {
    if (!hasBegun) provider.script(() => ({ kind: 'answer', delayMs: 20_000 }));
    const before = provider.requests.length;
    const page = new AbortController();
    const user = `left ${hasBegun}`;
    const text = JSON.stringify({ body: { ...CHAT, stream: hasBegun }, user_id: user });
    const answer = play(text, { signal: page.signal });
    answer.catch(() => {});
    if (hasBegun) await (await answer).body!.getReader().read();
    await waitFor('the call of the provider', () => provider.requests.length > before);
    page.abort();
    const call = provider.requests.at(-1)!;
    await call.ended;
    t.equal(call.aborted, true);
    await waitFor('the record', async () => {
      const [row] = await sql`select status from assay.requests where user_id = ${user}`;
      return row?.status === 499;
    });
  }
});

t.test("the gateway's refusals are passed on, with their status and headers", async (t) => {
  const unknown = await play(JSON.stringify({ body: { ...CHAT, model: 'no-such-model' } }));
  t.equal(unknown.status, 404);
  t.match(await unknown.json(), { error: { code: 'model_not_found' } });
  const confined = await makeKey({ models: ['gpt-4.1*'], rateLimitPolicy: '1;w=60' });
  const refused = await play(JSON.stringify({ body: CHAT }), { key: confined.key });
  t.equal(refused.status, 403);
  t.match(await refused.json(), { error: { code: 'model_not_allowed' } });
  const limited = await makeKey({ rateLimitPolicy: '1;w=60' });
  t.equal((await play(JSON.stringify({ body: CHAT }), { key: limited.key })).status, 200);
  const over = await play(JSON.stringify({ body: CHAT }), { key: limited.key });
  t.equal(over.status, 429);
  t.ok(over.headers.get('retry-after'));
  t.equal(over.headers.get('service-ratelimit-remaining'), '0');
});

t.test('a key without the scope gateway, and a body that is none, are refused by the API', async (t) => {
  const before = provider.requests.length;
  const reading = await makeKey({ scopes: ['read', 'write'] });
  const refused = await play(JSON.stringify({ body: CHAT }), { key: reading.key });
  t.equal(refused.status, 403);
  t.same(await refused.json(), {
    data: null,
    error: 'This API key lacks the scope gateway, which this call needs',
  });
  for (const body of [
    {},
    { body: 'text' },
    { body: [] },
    { body: CHAT, path: '/v1/embeddings' },
    { body: CHAT, path: '/../metrics' },
    { body: CHAT, user_id: 'a\r\nservice-auth: x' },
    { body: CHAT, properties: { 'a: b': 'c' } },
    { body: CHAT, properties: { a: 'b\nc' } },
    { body: CHAT, headers: {} },
  ])
    t.equal((await play(JSON.stringify(body))).status, 400, JSON.stringify(body));
  const large = { ...CHAT, user: 'x'.repeat(MAX_BODY_BYTES) };
  t.equal((await play(JSON.stringify({ body: large }))).status, 413);
  t.equal(provider.requests.length, before);
});

t.test('a browser cannot sign for another key', async (t) => {
  const other = await makeKey();
  const headers = { 'service-internal': signKeyCall('guessed', other.record.keyId, Date.now()) };
  const answer = await play(JSON.stringify({ body: CHAT }), { headers });
  t.equal((await stored(answer.headers.get('service-request-id'))).api_key_id, record.keyId);
});

t.test('while the gateway cannot be reached, the API says so in its own form', async (t) => {
  const { url } = await world.start('api', { GATEWAY_URL: 'http://127.0.0.1:9' });
  const answer = await play(JSON.stringify({ body: CHAT }), { url });
  t.equal(answer.status, 502);
  t.match(await answer.json(), { data: null, error: /^The gateway cannot be reached/ });
});

t.test('an organization has sixteen calls at a time, and delays no other', async (t) => {
  const page = new AbortController();
  const text = JSON.stringify({ body: CHAT });
  provider.script(() => ({ kind: 'hang' }));
  const before = provider.requests.length;
  const stalled = Array.from({ length: 16 }, () => play(text, { signal: page.signal }).catch(() => null));
  await waitFor('sixteen calls', () => provider.requests.length === before + 16);
  const refused = await play(text);
  t.equal(refused.status, 429);
  t.match(await refused.json(), {
    data: null,
    error: /^The organization has 16 calls of the playground under way/,
  });
  provider.script(null);
  const other = await world.organization();
  const { key: otherKey } = await createKey(sql, {
    organizationId: other.organizationId,
    scopes: ['gateway', 'read'],
  });
  t.equal((await play(text, { key: otherKey })).status, 200);
  page.abort();
  await Promise.all(stalled);
  await waitFor('the calls to end', async () => (await play(text)).status === 200);
  for (let call = 0; call < 20; call += 1) {
    const answer = await play(text);
    t.equal(answer.status, 200, 'calls that have ended do not count');
    await answer.arrayBuffer();
  }
});

t.test(
  'a gateway that takes a call and stays silent is told apart from one that is not reached',
  async (t) => {
    provider.script(() => ({ kind: 'hang' }));
    const playground = createPlayground({
      gateway: { url: provider.url, certFile: null },
      internalSecret: 'secret',
      clock: systemClock,
      silenceMs: 1_000,
    });
    t.teardown(() => playground.close());
    const before = provider.requests.length;
    const call = playground.call({
      organizationId,
      keyId: record.keyId,
      body: { body: CHAT },
      written: Buffer.from(JSON.stringify(CHAT)),
      signal: new AbortController().signal,
    });
    await t.rejects(call, { code: 'gateway_timeout', message: /did not answer within 1 s/ });
    t.equal(provider.requests.length, before + 1);
  },
);

t.test('the path leads to the endpoint of its dialect', async (t) => {
  provider.script(() => ({
    kind: 'bytes',
    body: '{"id":"r"}',
    headers: { 'content-type': 'application/json' },
  }));
  const answer = await play(
    JSON.stringify({ path: '/v1/responses', body: { model: 'gpt-4o-mini', input: 'Hi' } }),
  );
  t.equal(answer.status, 200);
  t.equal(provider.requests.at(-1)!.path, '/v1/responses');
});
