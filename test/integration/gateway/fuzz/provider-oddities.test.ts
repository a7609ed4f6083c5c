/** Undocumented behaviour of providers: the client always gets a response or an error in its dialect. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import t, { type Test } from 'tap';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { startWorld, type World } from './sockets.ts';

const world = await startWorld(t);

const CHAT = '/v1/chat/completions';
const asking = (model: string, more: object = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], ...more });
const COMPLETION =
  '{"id":"c1","model":"m","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}';
const EVENTS =
  'data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n' +
  'data: [DONE]\n\n';
const as = (type: string) => ({ 'content-type': type });

const send = (behaviour: Behaviour, body = asking('gpt-4o-mini'), headers = {}) =>
  world.send({ path: CHAT, body: Buffer.from(body), headers, behaviour });

t.test('JSON in place of a requested stream is relayed unchanged', async (t) => {
  const body = asking('gpt-4o-mini', { stream: true });
  const given = await send({ kind: 'bytes', body: COMPLETION, headers: as('application/json') }, body);
  t.equal(given.bytes.toString(), COMPLETION);
  t.match(await world.gateway.record(given.id), { is_stream: false, truncated: false, response_id: 'c1' });
});

t.test('a stream that was not requested is relayed unchanged', async (t) => {
  for (const type of ['text/event-stream', 'Text/Event-Stream;charset=UTF-8']) {
    const given = await send({ kind: 'bytes', body: EVENTS, headers: as(type) });
    t.equal(given.bytes.toString(), EVENTS);
    t.equal(given.headers['content-type'], type);
    t.match(await world.gateway.record(given.id), { is_stream: true, truncated: false, response_id: 'c1' });
  }
});

t.test('a successful response without a body is a 502, whatever its content type', async (t) => {
  for (const behaviour of [
    { kind: 'bytes', body: '', headers: as('application/json') },
    { kind: 'bytes', body: '', status: 204, headers: {} },
  ] as const) {
    const given = await send(behaviour);
    t.equal(given.status, 502);
    t.equal(JSON.parse(given.bytes.toString()).error.code, 'provider_bad_answer');
  }
});

t.test('a JSON response without a content-type is relayed unchanged', async (t) => {
  const given = await send({ kind: 'bytes', body: ` ${COMPLETION}`, headers: {} });
  t.equal(given.bytes.toString(), ` ${COMPLETION}`);
});

t.test(
  'a provider that dies before its first byte is a 502, before its first event an error event',
  async (t) => {
    const body = asking('gpt-4o-mini', { stream: true });
    const silent = await send({ kind: 'cut', at: 'headers' }, body);
    t.equal(silent.status, 502);
    t.equal(JSON.parse(silent.bytes.toString()).error.code, 'provider_unreachable');
    const mute = await send(
      { kind: 'bytes', body: '', headers: as('text/event-stream'), ending: 'cut' },
      body,
    );
    t.equal(mute.status, 200);
    t.match(mute.bytes.toString(), /^data: \{"error":\{.*"code":"provider_unreachable"\}\}\n\n$/);
    t.match(await world.gateway.record(mute.id), { truncated: true, error_code: 'provider_unreachable' });
  },
);

t.test('a byte order mark before a request body is accepted, and not sent to the provider', async (t) => {
  const body = asking('gpt-4o-mini');
  const given = await send({ kind: 'echo' }, `\ufeff${body}`);
  t.equal(given.status, 200);
  t.equal(given.heard?.body.toString(), body);
});

t.test('a client that sends Expect: 100-continue is answered', async (t) => {
  const given = await send({ kind: 'bytes', body: COMPLETION }, undefined, { expect: '100-continue' });
  t.equal(given.bytes.toString(), COMPLETION);
});

/** A gateway whose provider CUSTOM is this server. */
async function before(t: Test, server: Server): Promise<World> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const other = await startWorld(t, { CUSTOM_BASE_URL: `http://127.0.0.1:${port}/v1`, CUSTOM_API_KEY: 'k' });
  t.teardown(async () => {
    server.close();
  });
  return other;
}

const http = (listener: RequestListener) => createServer(listener) as Server;
const custom = (other: World, body = asking('custom/m')) =>
  other.send({ path: CHAT, body: Buffer.from(body), behaviour: { kind: 'reset' } });

t.test("a provider's 103 Early Hints is not taken for its response", async (t) => {
  const other = await before(
    t,
    http((incoming, response) => {
      incoming.resume();
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.writeHead(200, as('application/json')).end(COMPLETION);
    }),
  );
  t.equal((await custom(other)).bytes.toString(), COMPLETION);
});

t.test('an HTTP/1.0 response that ends with its connection is complete', async (t) => {
  const other = await before(
    t,
    createTcpServer((socket) => {
      socket.once('data', () =>
        socket.end(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${COMPLETION}`),
      );
      socket.once('error', () => {});
    }),
  );
  const given = await custom(other);
  t.equal(given.bytes.toString(), COMPLETION);
  t.equal(given.headers['content-length'], String(COMPLETION.length));
});

t.test("a provider's refusal before it has read the request body is relayed", async (t) => {
  const refusal = '{"error":{"message":"too large","type":"invalid_request_error"}}';
  const other = await before(
    t,
    http((incoming, response) => {
      response.writeHead(413, { ...as('application/json'), connection: 'close' }).end(refusal);
      incoming.resume();
    }),
  );
  const given = await custom(other, asking('custom/m', { pad: 'x'.repeat(10_000_000) }));
  t.equal(given.status, 413);
  t.equal(given.bytes.toString(), refusal);
});
