/** Bounds of a server's connections: their number, and the time without a request, on a clock that the test advances. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectSecurely, createSecureContext } from 'node:tls';
import t, { type Test } from 'tap';
import { Connections, MAX_REFUSING } from '#platform/http-server/connections.ts';
import { Reply } from '#platform/http-server/mod.ts';
import { connectionBound } from '#platform/process/descriptors.ts';
import { makeCertificate } from '../../../support/make-certificate.ts';

async function setUp(t: Test, { max = 3, isTls = false } = {}) {
  let nowMs = 0;
  let reached = 0;
  let asked = 0;
  const connections = new Connections({
    fetch: async (request) => {
      asked += 1;
      if (request.method === 'POST') await request.readBody(1_000_000);
      return new Reply(`answer to ${new URL(request.url).pathname}`);
    },
    formatError: ({ code, message }) => JSON.stringify({ code, message }),
    isDraining: () => false,
    now: () => nowMs,
    date: () => 'now',
    certificate: isTls ? { context: createSecureContext(makeCertificate('x.test')) } : null,
    bound: {
      max,
      onReached: () => {
        reached += 1;
      },
    },
  });
  const server = createServer((socket) => connections.accept(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const dial = async () => {
    const before = connections.accepted;
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString();
    });
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    while (connections.accepted === before) await nextTurn();
    return {
      socket,
      closed,
      text: () => text,
      async asks(path: string) {
        text = '';
        socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
        const whole = () => /\r\n\r\n./.test(text);
        while (!whole()) await Promise.race([once(socket, 'data'), closed.then(() => nextTurn())]);
        return text;
      },
    };
  };
  return {
    asked: () => asked,
    port,
    connections,
    dial,
    reached: () => reached,
    passes(ms: number) {
      nowMs += ms;
      connections.checkDeadlines();
    },
    async until(count: number) {
      while (connections.count !== count) await nextTurn();
    },
  };
}

t.test('a connection beyond the bound gets a 503 and is closed, and the others stay open', async (t) => {
  const { connections, dial, until, reached } = await setUp(t);
  const kept = [await dial(), await dial(), await dial()];
  for (const client of kept) t.match(await client.asks('/first'), 'answer to /first');
  for (let further = 1; further <= 3; further += 1) {
    const client = await dial();
    const told = await client.asks('/v1/chat/completions');
    t.match(told, /^HTTP\/1\.1 503 Service Unavailable\r\n/);
    t.match(told, /\r\nretry-after: 1\r\n/);
    t.match(told, /\r\nconnection: close\r\n/);
    t.match(told, '{"code":"too_many_connections","message":"All 3 connections of this process are in use');
    await client.closed;
  }
  for (const client of kept) t.match(await client.asks('/second'), 'answer to /second');
  t.equal(connections.refused, 3);
  t.equal(reached(), 1, 'the log is told once');
  kept[0]!.socket.destroy();
  await until(2);
  t.match(await (await dial()).asks('/next'), 'answer to /next', 'a place that is free again is given again');
});

t.test(
  'a new connection takes the place of the one that has been without a request for longest',
  async (t) => {
    const { connections, dial, passes, until } = await setUp(t);
    const silent = await dial();
    passes(100);
    const halting = await dial();
    halting.socket.write('GET /never HTTP/1.1\r\nx: ');
    const kept = await dial();
    t.match(await kept.asks('/first'), 'answer to /first');
    passes(1_899);
    t.match(await (await dial()).asks('/early'), 'HTTP/1.1 503', 'not within two seconds');
    await until(3);
    passes(1);
    t.match(await (await dial()).asks('/new'), 'answer to /new');
    await silent.closed;
    t.match(await kept.asks('/second'), 'answer to /second');
    passes(100);
    t.match(
      await (await dial()).asks('/newer'),
      'answer to /newer',
      'nor does the beginning of a request keep others out',
    );
    await halting.closed;
    t.match(await kept.asks('/third'), 'answer to /third');
    t.equal(connections.refused, 1);
  },
);

t.test('a new connection takes the place of one whose body trickles in, and of no other', async (t) => {
  const { connections, dial, passes, until, asked } = await setUp(t);
  const begin = async (length: number, bytes: number) => {
    const client = await dial();
    const before = asked();
    client.socket.write(
      `POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n${'x'.repeat(bytes)}`,
    );
    while (asked() === before) await nextTurn();
    return client;
  };
  const fast = await begin(100_000, 50_000);
  passes(1);
  const slow = await begin(100_000, 10);
  const slower = await begin(100_000, 10);
  passes(9_999);
  t.match(await (await dial()).asks('/early'), 'HTTP/1.1 503', 'not within ten seconds');
  await until(3);
  passes(1);
  t.match(await (await dial()).asks('/new'), 'answer to /new');
  await slow.closed;
  t.match(slow.text(), /^HTTP\/1\.1 408 [\s\S]*request_timeout/, 'the slow client learns why');
  t.equal(slower.text(), '', 'as few as are needed');
  fast.socket.write('x'.repeat(50_000));
  await once(fast.socket, 'data');
  t.match(fast.text(), 'answer to /slow');
  t.equal(connections.refused, 1);
});

t.test('health and metrics are served on connections beyond the bound', async (t) => {
  const { dial } = await setUp(t, { max: 1 });
  await dial();
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const client = await dial();
    t.match(await client.asks(path), `answer to ${path}`);
    await client.closed;
  }
});

t.test('a connection beyond the bound that sends no request is closed after two seconds', async (t) => {
  const { dial, passes } = await setUp(t, { max: 1 });
  const kept = await dial();
  const silent = await dial();
  passes(1_999);
  t.match(await (await dial()).asks('/healthz'), 'answer to');
  t.notOk(silent.socket.readableEnded);
  passes(1);
  await silent.closed;
  t.equal(silent.text(), '');
  t.match(await kept.asks('/kept'), 'answer to /kept');
});

t.test('a connection beyond the bound that sends the beginning of a request is closed as soon', async (t) => {
  const { dial, passes } = await setUp(t, { max: 1 });
  const kept = await dial();
  t.match(await kept.asks('/kept'), 'answer to /kept');
  const halting = await dial();
  halting.socket.write('GET /never HTTP/1.1\r\nx: ');
  // Both have come by then: the server reads sockets in the order of their bytes.
  t.match(await kept.asks('/kept'), 'answer to /kept');
  passes(2_000);
  await halting.closed;
});

t.test(
  'a flood of connections beyond the bound is closed at once, except for a few that get a 503',
  async (t) => {
    const { connections, dial } = await setUp(t, { max: 2 });
    const kept = [await dial(), await dial()];
    for (let silent = 0; silent < MAX_REFUSING; silent += 1) await dial();
    for (let further = 0; further < 20; further += 1) {
      const client = await dial();
      await client.closed;
      t.equal(client.text(), '');
    }
    t.equal(connections.count, 2 + MAX_REFUSING);
    t.equal(connections.refused, MAX_REFUSING + 20);
    for (const client of kept) t.match(await client.asks('/kept'), 'answer to /kept');
  },
);

for (const [what, bytes] of [
  ['sends nothing', Buffer.alloc(0)],
  ['stops in the middle', Buffer.from([0x16, 0x03, 0x01, 0x02])],
] as const) {
  t.test(`a client that connects over TLS and ${what} is closed after 10 seconds`, async (t) => {
    const { dial, passes, until } = await setUp(t, { isTls: true });
    const client = await dial();
    client.socket.write(bytes);
    passes(9_999);
    await nextTurn();
    t.notOk(client.socket.destroyed);
    passes(1);
    await client.closed;
    await until(0);
  });
}

t.test('TLS handshakes under way count as connections', async (t) => {
  const { port, connections, dial } = await setUp(t, { isTls: true, max: 2 });
  await dial();
  await dial();
  const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false });
  t.teardown(() => socket.destroy());
  await once(socket, 'secureConnect');
  socket.write('GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n');
  const [told] = await once(socket, 'data');
  t.match(String(told), /^HTTP\/1\.1 503 /);
  t.equal(connections.refused, 1);
});

t.test('the bound of client connections leaves file descriptors for providers and files', async (t) => {
  for (const limit of [256, 1_024, 20_000, 1_048_576]) {
    const clients = connectionBound(limit, true);
    const forProviders = Math.min(clients, 4_096);
    t.ok(clients + forProviders + MAX_REFUSING + 128 <= limit, `${clients} of ${limit}`);
    t.ok(connectionBound(limit, false) + MAX_REFUSING + 128 <= limit);
  }
  t.ok(connectionBound(64, true) > 0);
});
