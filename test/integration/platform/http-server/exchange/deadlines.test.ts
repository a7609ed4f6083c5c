/** Deadlines for clients, on a clock that the test advances. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { ClientConnection } from '#platform/http-server/exchange/mod.ts';
import { Reply, readBody } from '#platform/http-server/mod.ts';

/** More than the sockets' buffers take. */
const LARGE_BYTES = 40_000_000;

/** A body of so many bytes that comes bit by bit, and then ends or says nothing more. */
function streamOf(bytes: number, then: 'end' | 'silence'): ReadableStream<Uint8Array> {
  const chunk = Buffer.alloc(50_000);
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      if (left > 0) controller.enqueue(chunk);
      else if (then === 'end') controller.close();
      else await new Promise(() => {});
      left -= chunk.length;
    },
  });
}

/** A connection of a client, the server's end of it, and a clock for that. */
async function setUp(t: Test) {
  let nowMs = 0;
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [inner] = await accepted;
  let text = '';
  let size = 0;
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (text.length < 1_000) text += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const connection = new ClientConnection(inner, {
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/large') return new Reply(Buffer.alloc(LARGE_BYTES));
      if (pathname === '/stream') return new Reply(streamOf(LARGE_BYTES, 'end'));
      if (pathname === '/silent') return new Reply(streamOf(LARGE_BYTES, 'silence'));
      if (request.method === 'GET') return new Reply('fine');
      return new Reply(await readBody(request, 1_000).then(String, (error) => (error as Error).message));
    },
    formatError: ({ code, message }) => JSON.stringify({ code, message }),
    isDraining: () => false,
    now: () => nowMs,
    date: () => 'now',
    onClosed: () => {},
  });
  t.teardown(() => {
    socket.destroy();
    server.close();
  });
  return {
    text: () => text,
    socket,
    size: () => size,
    ended,
    async send(bytes: string) {
      socket.write(bytes);
      // Until the server has read it.
      const before = inner.bytesRead;
      while (inner.bytesRead < before + bytes.length) await once(inner, 'data');
    },
    /** Until nothing more of the answer can be sent. */
    async waits() {
      while (!inner.writableNeedDrain) await nextTurn();
    },
    async answered() {
      while (!text.includes('fine')) await once(socket, 'data');
    },
    passes(ms: number) {
      nowMs += ms;
      connection.checkDeadline();
    },
    isOpen: () => !inner.destroyed && inner.writable,
    isDestroyed: () => inner.destroyed as boolean,
  };
}

t.test('an idle connection is kept for 65 seconds', async (t) => {
  const client = await setUp(t);
  client.passes(64_999);
  t.ok(client.isOpen());
  await client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await client.answered();
  t.match(client.text(), /\r\nkeep-alive: timeout=65\r\n/, 'and says so');
  client.passes(64_999);
  t.ok(client.isOpen(), 'counted from the last answer');
  client.passes(1);
  t.notOk(client.isOpen());
  await client.ended;
  t.notMatch(client.text(), /408/, 'it owed no request');
});

t.test('a request head must arrive within 10 seconds', async (t) => {
  const client = await setUp(t);
  await client.send('GET / HT');
  client.passes(5_000);
  await client.send('TP/1.1\r\n');
  client.passes(4_999);
  t.ok(client.isOpen());
  client.passes(1);
  await client.ended;
  t.match(client.text(), /^HTTP\/1\.1 408 Request Timeout\r\n/);
  t.match(client.text(), /\r\nx-content-type-options: nosniff\r\n/);
  t.match(client.text(), /"code":"request_timeout","message":"The request was not whole within 10000 ms"/);
});

/** Empty lines cut anywhere, each piece with the seconds that pass before it. */
const emptyLines = fc.array(
  fc.record({
    cut: fc.constantFrom('\r\n', '\r|\n', '\r\n\r|\n', '\r|\n\r|\n'),
    seconds: fc.nat({ max: 4 }),
  }),
  { minLength: 30, maxLength: 60 },
);

t.test('empty lines before a request renew no deadline, wherever they are cut', async (t) => {
  const property = fc.asyncProperty(emptyLines, async (lines) => {
    const client = await setUp(t);
    let seconds = 0;
    for (const { cut, seconds: pause } of lines) {
      for (let second = 0; second < pause; second += 1) client.passes(1_000);
      seconds += pause;
      if (!client.isOpen()) break;
      for (const piece of cut.split('|')) await client.send(piece);
    }
    t.equal(client.isOpen(), seconds < 65, `after ${seconds} seconds`);
    if (client.isOpen()) {
      await client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await client.answered();
    } else t.equal(client.text(), '', 'no request had begun that an answer could be about');
    client.socket.destroy();
  });
  await fc.assert(property, { numRuns: 60 });
});

t.test('a request head after empty lines must arrive within 10 seconds of its first byte', async (t) => {
  const client = await setUp(t);
  await client.send('\r\n\r');
  client.passes(40_000);
  await client.send('\nGET');
  client.passes(9_999);
  t.ok(client.isOpen());
  client.passes(1);
  await client.ended;
  t.match(client.text(), /^HTTP\/1\.1 408 Request Timeout\r\n/);
});

t.test('a request body must arrive within 300 seconds', async (t) => {
  const client = await setUp(t);
  await client.send('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n');
  client.passes(200_000);
  await client.send('12345');
  client.passes(99_999);
  t.ok(client.isOpen());
  client.passes(1);
  await client.ended;
  t.match(client.text(), /^HTTP\/1\.1 408 Request Timeout\r\n/);
  t.match(client.text(), /The request was not whole within 300000 ms/);
  t.equal(client.text().match(/HTTP/g)?.length, 1, 'its handler’s answer is not sent too');
});

t.test('the rest of an unread request body may take 10 seconds', async (t) => {
  const client = await setUp(t);
  await client.send('GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n123');
  await client.answered();
  client.passes(9_999);
  t.ok(client.isOpen());
  client.passes(1);
  await client.ended;
  t.notMatch(client.text(), /408/);
});

for (const [kind, path, header] of [
  ['an answer that is kept', '/large', ''],
  ['an answer that is the last on its connection', '/large', 'connection: close\r\n'],
  ['a stream', '/stream', ''],
] as const) {
  t.test(`${kind} is not cut while its client reads it, however slowly`, async (t) => {
    const client = await setUp(t);
    client.socket.pause();
    await client.send(`GET ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\n`);
    for (let read = 1; read <= 3; read += 1) {
      await client.waits();
      client.passes(64_999);
      client.socket.resume();
      while (client.size() < read * 10_000_000) await once(client.socket, 'data');
      client.socket.pause();
    }
    client.socket.resume();
    while (client.size() < LARGE_BYTES) await once(client.socket, 'data');
    t.ok(client.size() > LARGE_BYTES);
  });

  t.test(`${kind} is aborted when its client reads nothing for 65 seconds`, async (t) => {
    const client = await setUp(t);
    client.socket.pause();
    await client.send(`GET ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\n`);
    await client.waits();
    client.socket.resume();
    while (client.size() < 10_000_000) await once(client.socket, 'data');
    client.socket.pause();
    await client.waits();
    client.passes(64_999);
    t.notOk(client.isDestroyed());
    client.passes(1);
    t.ok(client.isDestroyed());
  });
}

t.test('a silent stream has no deadline once its client has read all of it', async (t) => {
  const client = await setUp(t);
  client.socket.pause();
  await client.send('GET /silent HTTP/1.1\r\nhost: x\r\n\r\n');
  await client.waits();
  client.socket.resume();
  while (client.size() < LARGE_BYTES) await once(client.socket, 'data');
  client.passes(3_600_000);
  t.ok(client.isOpen());
});
