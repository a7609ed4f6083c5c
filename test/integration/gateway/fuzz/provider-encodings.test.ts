/** Content-encodings of providers and clients: passed on with their header, or undone with it, errors and streams too. */
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { CODINGS, packed } from './codings.ts';
import { startWorld } from './sockets.ts';

const MAX_BODY_BYTES = 100_000;
const world = await startWorld(t, { MAX_BODY_BYTES: String(MAX_BODY_BYTES) });

const asking = (model: string, more: object = {}) =>
  Buffer.from(JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...more }));
const GPT = asking('gpt-4o-mini');
const CHAT = '/v1/chat/completions';
const EVENTS =
  'data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Zürich"}}]}\n\n' +
  'data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' +
  'data: [DONE]\n\n';

for (const coding of CODINGS) {
  t.test(`${coding}: a compressed error is relayed with its encoding, and recorded as text`, async (t) => {
    const told = JSON.stringify({ error: { message: 'slow down', type: 'requests' } });
    const body = packed(coding, Buffer.from(told));
    const given = await world.send({
      path: CHAT,
      body: GPT,
      headers: { 'accept-encoding': coding },
      behaviour: {
        kind: 'bytes',
        status: 429,
        body,
        headers: { 'content-type': 'application/json', 'content-encoding': coding },
      },
    });
    t.equal(given.heard?.headers['accept-encoding'], coding);
    t.equal(given.headers['content-encoding'], coding);
    t.equal(given.headers['content-length'], String(body.length));
    t.ok(given.bytes.equals(body));
    t.equal((await world.gateway.record(given.id)).response_text, told);
  });

  t.test(`${coding}: a compressed HTML error page becomes an error with the page's text`, async (t) => {
    const given = await world.send({
      path: CHAT,
      body: GPT,
      behaviour: {
        kind: 'bytes',
        status: 503,
        body: packed(coding, Buffer.from('<h1>Zürich is down</h1>')),
        headers: { 'content-type': 'text/html', 'content-encoding': coding },
      },
    });
    t.equal(given.headers['content-encoding'], undefined);
    t.equal(given.headers['content-length'], String(given.bytes.length));
    t.match(JSON.parse(given.bytes.toString()).error.message, /<h1>Zürich is down<\/h1>$/);
    t.match(await world.gateway.record(given.id), {
      response_text: JSON.stringify({ text: '<h1>Zürich is down</h1>' }),
    });
  });

  t.test(`${coding}: a compressed error of the other dialect is translated into the client's`, async (t) => {
    const told = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const given = await world.send({
      path: CHAT,
      body: asking('claude-sonnet-4-5'),
      behaviour: {
        kind: 'bytes',
        status: 529,
        body: packed(coding, Buffer.from(JSON.stringify(told))),
        headers: { 'content-type': 'application/json', 'content-encoding': coding },
      },
    });
    t.equal(given.headers['content-encoding'], undefined);
    t.match(JSON.parse(given.bytes.toString()), {
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
  });

  t.test(
    `${coding}: a compressed stream reaches the client, and a compressed request the provider, decompressed`,
    async (t) => {
      const body = asking('gpt-4o-mini', { stream: true, stream_options: { include_usage: true } });
      const given = await world.send({
        path: CHAT,
        body: packed(coding, body),
        headers: { 'content-encoding': ` ${coding.toUpperCase()}` },
        behaviour: {
          kind: 'bytes',
          body: packed(coding, Buffer.from(EVENTS)),
          headers: { 'content-type': 'text/event-stream', 'content-encoding': coding },
          chunking: { bytesEach: 7 },
        },
      });
      t.ok(given.heard?.body.equals(body));
      t.equal(given.heard?.headers['content-encoding'], undefined);
      t.equal(given.headers['content-encoding'], undefined);
      t.equal(given.headers['content-length'], undefined);
      t.equal(given.bytes.toString(), EVENTS);
      t.match(JSON.parse((await world.gateway.record(given.id)).response_text), {
        choices: [{ message: { content: 'Zürich' } }],
      });
    },
  );
}

t.test('a response in an unknown content encoding is a 502', async (t) => {
  const coded = (type: string) => ({
    kind: 'bytes' as const,
    body: 'not to be read',
    headers: { 'content-type': type, 'content-encoding': 'compress' },
  });
  for (const [model, type] of [
    ['gpt-4o-mini', 'application/json'],
    ['gpt-4o-mini', 'text/event-stream'],
    ['claude-sonnet-4-5', 'text/event-stream'],
    ['claude-sonnet-4-5', 'application/json'],
  ] as const) {
    const given = await world.send({ path: CHAT, body: asking(model), behaviour: coded(type) });
    t.equal(given.status, 502, `${model} ${type}`);
    t.equal(JSON.parse(given.bytes.toString()).error.code, 'provider_bad_answer');
    t.equal(given.headers['content-encoding'], undefined);
    t.match(await world.gateway.record(given.id), { status: 502, error_code: 'provider_bad_answer' });
  }
});

t.test(
  'a truncated compressed stream is relayed as far as it can be read, and ends in an error',
  async (t) => {
    const [event] = EVENTS.split(/(?<=\n\n)/);
    const small = gzipSync(event!.repeat(50));
    const given = await world.send({
      path: CHAT,
      body: asking('gpt-4o-mini', { stream: true }),
      behaviour: {
        kind: 'bytes',
        body: small.subarray(0, small.length - 12),
        headers: { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' },
      },
    });
    const frames = given.bytes.toString().split(/(?<=\n\n)/);
    t.ok(frames.length > 1 && frames.slice(0, -1).every((frame) => frame === event));
    t.match(JSON.parse(frames.at(-1)!.slice(6)), {
      error: {
        code: 'provider_bad_answer',
        message: 'The provider OPENAI sent a stream that is not valid gzip',
      },
    });
    t.match(await world.gateway.record(given.id), { truncated: true, error_code: 'provider_bad_answer' });
  },
);

t.test(
  'a request in an unknown or wrong content encoding is refused before any provider request',
  async (t) => {
    const behaviour = { kind: 'echo' } as const;
    for (const [coding, status] of [
      ['compress', 415],
      ['gzip, br', 415],
      ['constructor', 415],
      ['__proto__', 415],
      ['br', 400],
    ] as const) {
      const headers = { 'content-encoding': coding };
      const given = await world.send({ path: CHAT, body: GPT, headers, behaviour });
      t.equal(given.status, status, coding);
      t.equal(given.heard, null, 'no call was made');
    }
  },
);

t.test('a small request that decompresses to a huge one is refused', async (t) => {
  const bomb = gzipSync(Buffer.from(`{"model":"gpt-4o-mini","pad":"${'x'.repeat(MAX_BODY_BYTES)}"}`));
  t.ok(gunzipSync(bomb).length > MAX_BODY_BYTES && bomb.length < 1_000);
  const headers = { 'content-encoding': 'gzip' };
  const given = await world.send({ path: CHAT, body: bomb, headers, behaviour: { kind: 'echo' } });
  t.equal(given.status, 413);
  t.equal(JSON.parse(given.bytes.toString()).error.code, 'body_too_large');
  t.equal(given.heard, null);
});
