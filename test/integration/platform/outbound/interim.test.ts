/** Interim responses that a client did not ask for are passed over (RFC 9110, section 15.2), by every client that Assay has. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createProviderClient } from '#platform/http-client/mod.ts';
import { allowListOf, createOutbound } from '#platform/outbound/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createGatewayClient } from '../../../../evaluators/gateway-client.ts';

const ANSWER = '{"score":1}';
const INTERIM = {
  'a 100 Continue': 'HTTP/1.1 100 Continue\r\n\r\n',
  'a 100 Continue with headers': 'HTTP/1.1 100 Continue\r\nServer: old\r\nContent-Length: 0\r\n\r\n',
  'Early Hints': 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n',
  'several of them':
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
};

const sockets = new Set<Socket>();
let connections = 0;
let interim = '';
const server = createServer((socket) => {
  connections += 1;
  sockets.add(socket.on('error', () => {}));
  socket.on('data', async (bytes) => {
    if (!bytes.includes('HTTP/1.1\r\n')) return;
    socket.write(interim);
    await sleep(5);
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${ANSWER.length}\r\n\r\n`;
    socket.write(head + ANSWER);
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const outbound = createOutbound({ allow: allowListOf(['127.0.0.1']) });
const timeouts = { connectMs: 2_000, firstByteMs: 2_000, idleMs: 2_000, totalMs: 4_000 };
const judges = createGatewayClient({ gatewayUrl: origin, timeouts, clock: systemClock });
const providers = createProviderClient({
  timeouts,
  now: systemClock.monotonic,
  concurrencyPerOrganization: 8,
  proxyFor: () => null,
  onBusy: () => {},
});
t.teardown(async () => {
  await Promise.all([outbound.close(), judges.close(), providers.close()]);
  for (const socket of sockets) socket.destroy();
  server.close();
});

const CLIENTS: Record<string, () => Promise<{ status: number; text: string }>> = {
  'a service or webhook': async () => {
    const { status, body } = await outbound.post({
      url: `${origin}/`,
      headers: {},
      body: '{}',
      timeoutMs: 4_000,
    });
    return { status, text: body.toString() };
  },
  'a gateway, for judges': async () => {
    const reply = await judges.send({ headers: {}, body: '{}' });
    return reply.kind === 'answer' ? reply : { status: 0, text: reply.detail };
  },
  'a provider': async () => {
    const { signal } = new AbortController();
    const request = {
      label: 'X',
      organizationId: 'o',
      origin,
      path: '/',
      headers: [],
      body: Buffer.from('{}'),
    };
    const { status, body } = await providers.send(request, signal);
    await body.gather(() => false, signal);
    return { status, text: body.held.toString() };
  },
};

for (const [client, call] of Object.entries(CLIENTS)) {
  for (const [sent, bytes] of Object.entries(INTERIM)) {
    t.test(`${client} that sends ${sent} before its response has responded`, async (t) => {
      interim = bytes;
      const before = connections;
      for (let number = 0; number < 2; number += 1) {
        t.match(await call(), { status: 200, text: ANSWER }, `call ${number}`);
        // undici takes a connection for free in the next turn of the event loop.
        await sleep(5);
      }
      t.ok(connections - before <= 1, 'and its connection is kept');
    });
  }
}
