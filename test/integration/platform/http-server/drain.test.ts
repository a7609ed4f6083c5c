import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { Reply, readBody, serve } from '#platform/http-server/mod.ts';

const DEADLINE_MS = 8_000;
/** Idle time after which a drain closes a connection. */
const SILENCE_MS = 2_000;

/** A client that shows the bytes. */
class Wire {
  readonly socket: Socket;
  /** The end of the connection: `end` by the server's FIN, or an error code. */
  readonly ended: Promise<string>;
  text = '';

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      this.socket.once('end', () => resolve('end'));
      this.socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
  }

  async opened(): Promise<this> {
    await once(this.socket, 'connect');
    return this;
  }

  send(bytes: string): void {
    this.socket.write(bytes);
  }

  async until(part: string): Promise<void> {
    while (!this.text.includes(part)) await Promise.race([once(this.socket, 'data'), this.failed()]);
  }

  private async failed(): Promise<never> {
    throw new Error(`The connection ended (${await this.ended}) after ${JSON.stringify(this.text)}`);
  }
}

/** Asserts that the client got this response whole, with connection: close, and that the connection ended. */
async function isLast(t: Test, wire: Wire, body: string, status = 200): Promise<void> {
  t.equal(await wire.ended, 'end');
  const [head = '', got] = wire.text.split('\r\n\r\n');
  t.match(head, new RegExp(`^HTTP/1.1 ${status} `));
  t.match(head, /^connection: close$/im);
  t.equal(got, body);
  wire.socket.end();
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
}

/**
 * A server of an app that answers `GET /hold` and `GET /stream` when it is released, and others at once with what was
 * sent; it knows what it was asked.
 */
async function startServer(t: Test, options: { drainDelayMs?: number } = {}) {
  const asked: string[] = [];
  const left: string[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const server = await serve({
    ...options,
    host: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      request.signal.addEventListener('abort', () => left.push(pathname));
      if (pathname === '/unread') return new Reply('no need');
      if (pathname === '/stream') {
        const body = new ReadableStream<Uint8Array>({
          async start(controller) {
            controller.enqueue(Buffer.from('first,'));
            await released;
            controller.enqueue(Buffer.from('last'));
            controller.close();
          },
        });
        return new Reply(body);
      }
      if (pathname === '/hold') await released;
      const body = await readBody(request, 1_000).catch(() => Buffer.from('half a body'));
      return new Reply(`answer to ${pathname}${body.length > 0 ? ` with ${body}` : ''}`);
    },
  });
  t.teardown(() => server.close(0));
  const wires: Wire[] = [];
  t.teardown(() => wires.map((wire) => wire.socket.destroy()));
  return {
    server,
    asked,
    /** Whose clients were gone before they were answered. */
    left,
    release,
    dial: () => {
      const wire = new Wire(server.port);
      wires.push(wire);
      return wire.opened();
    },
  };
}

/** Returns the milliseconds that a stop takes. */
async function timed(stop: Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await stop;
  return performance.now() - startedAt;
}

t.test('a drain without connections ends at once', async (t) => {
  const { server } = await startServer(t);
  t.ok((await timed(server.close(DEADLINE_MS))) < DEADLINE_MS / 2);
});

t.test('a drain answers a request on a kept-alive connection, and the response closes it', async (t) => {
  const { server, dial } = await startServer(t);
  const wire = await dial();
  wire.send(get('/before'));
  await wire.until('answer to /before');
  t.match(wire.text, /connection: keep-alive/i);
  const stopped = timed(server.close(DEADLINE_MS));
  await sleep(100);
  wire.text = '';
  wire.send(get('/during'));
  await isLast(t, wire, 'answer to /during');
  t.ok((await stopped) < SILENCE_MS / 2, 'and nothing else is waited for');
});

t.test('a drain lets a call under way finish, and its response closes the connection', async (t) => {
  const { server, dial, release } = await startServer(t);
  const wire = await dial();
  wire.send(get('/hold'));
  await sleep(50);
  const stopped = server.close(DEADLINE_MS);
  await sleep(50);
  release();
  await isLast(t, wire, 'answer to /hold');
  await stopped;
});

t.test('a drain lets a stream finish, and its connection carries one more call', async (t) => {
  const { server, dial, release } = await startServer(t);
  const wire = await dial();
  wire.send(get('/stream'));
  await wire.until('first,');
  const stopped = server.close(DEADLINE_MS);
  await sleep(SILENCE_MS + 200);
  release();
  await wire.until('last\r\n0\r\n\r\n');
  await sleep(SILENCE_MS / 4);
  wire.text = '';
  wire.send(get('/next'));
  await isLast(t, wire, 'answer to /next');
  await stopped;
});

t.test('a drain serves the first request of a connection that was opened before it', async (t) => {
  const { server, dial } = await startServer(t);
  const wire = await dial();
  await sleep(50);
  const stopped = server.close(DEADLINE_MS);
  await sleep(100);
  wire.send(get('/late'));
  await isLast(t, wire, 'answer to /late');
  await stopped;
});

t.test('a drain waits for requests whose head or body has begun to arrive', async (t) => {
  const { server, dial } = await startServer(t);
  const head = await dial();
  const body = await dial();
  const used = await dial();
  used.send(get('/first'));
  await used.until('answer to /first');
  head.send('GET /head HT');
  used.send('GET /second HT');
  body.send('POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n01234');
  await sleep(50);
  const stopped = server.close(DEADLINE_MS);
  await sleep(SILENCE_MS + 200);
  head.send('TP/1.1\r\nhost: x\r\n\r\n');
  await isLast(t, head, 'answer to /head');
  used.text = '';
  used.send('TP/1.1\r\nhost: x\r\n\r\n');
  await isLast(t, used, 'answer to /second');
  body.send('56789');
  await isLast(t, body, 'answer to /body with 0123456789');
  await stopped;
});

t.test('a drain waits for a pipelined request', async (t) => {
  const { server, dial, release } = await startServer(t);
  const wire = await dial();
  wire.send(get('/first') + get('/hold'));
  await wire.until('answer to /first');
  wire.text = '';
  const stopped = server.close(DEADLINE_MS);
  await sleep(SILENCE_MS + 200);
  release();
  await isLast(t, wire, 'answer to /hold');
  await stopped;
});

t.test('the rest of an unread body is not taken for a request during a drain', async (t) => {
  const { server, dial } = await startServer(t);
  const wire = await dial();
  wire.send('POST /unread HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n01234');
  await wire.until('no need');
  wire.send('56789');
  await sleep(50);
  const stopped = timed(server.close(DEADLINE_MS));
  t.equal(await wire.ended, 'end');
  wire.socket.end();
  t.ok((await stopped) < 2 * SILENCE_MS);
});

t.test(
  'a drain ends an idle connection in order, and a request that comes too late is not handled',
  async (t) => {
    const { server, dial, asked } = await startServer(t);
    const wire = await dial();
    wire.send(get('/before'));
    await wire.until('answer to /before');
    const stopped = timed(server.close(DEADLINE_MS));
    t.equal(await wire.ended, 'end', 'by a FIN');
    let reset = false;
    wire.socket.once('error', () => {
      reset = true;
    });
    // A second write shows whether the first was answered with a reset.
    for (const part of [get('/too-late'), get('/later')]) {
      wire.send(part);
      await sleep(50);
    }
    t.same(asked, ['/before']);
    t.notOk(reset, 'the client is not reset in the middle of its request');
    wire.socket.end();
    const took = await stopped;
    t.ok(took >= SILENCE_MS && took < DEADLINE_MS / 2, `after ${Math.round(took)} ms`);
  },
);

t.test('a drain closes a long idle connection at once', async (t) => {
  const { server, dial } = await startServer(t);
  const wire = await dial();
  await sleep(SILENCE_MS + 50);
  t.ok((await timed(server.close(DEADLINE_MS))) < SILENCE_MS);
  t.equal(await wire.ended, 'end');
});

t.test('a drain cuts responses, bodies and connections that have not ended at its deadline', async (t) => {
  const { server, dial } = await startServer(t);
  const answer = await dial();
  answer.send(get('/hold'));
  const body = await dial();
  body.send('POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n0');
  await dial();
  await sleep(50);
  const took = await timed(server.close(300));
  t.ok(took >= 280 && took < DEADLINE_MS / 2, `after ${Math.round(took)} ms`);
});

t.test("a call cut at the drain's deadline is aborted before the server counts as closed", async (t) => {
  const { server, dial, left } = await startServer(t);
  for (const path of ['/hold', '/stream']) (await dial()).send(get(path));
  await sleep(50);
  await server.close(50);
  t.same(left.toSorted(), ['/hold', '/stream']);
});

t.test(
  'during the drain delay the server accepts connections, and /readyz reports that it is stopping',
  async (t) => {
    const { server, dial } = await startServer(t, { drainDelayMs: 3_000 });
    const stopped = server.close(DEADLINE_MS);
    await sleep(20);
    const probe = await dial();
    probe.send(get('/readyz'));
    await isLast(t, probe, '{"status":"stopping"}', 503);
    const call = await dial();
    call.send(get('/new'));
    await isLast(t, call, 'answer to /new');
    await stopped;
    await t.rejects(dial(), { code: 'ECONNREFUSED' });
  },
);

/** In a thread of its own: connects and sends while the server's thread stands still; then reports the responses. */
const CALLERS = `
  const { parentPort, workerData: { port, count, opened } } = require('node:worker_threads');
  const answers = [];
  for (let index = 0; index < count; index += 1) {
    const socket = require('node:net').connect(port, '127.0.0.1', () => {
      socket.write('GET /queued HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n');
      Atomics.add(opened, 0, 1);
      Atomics.notify(opened, 0);
    });
    let text = '';
    socket.on('data', (chunk) => { text += chunk; });
    socket.on('error', (error) => { text = error.code; });
    socket.on('close', () => { if (answers.push(text) === count) parentPort.postMessage(answers); });
  }`;

t.test('connections not yet accepted when a drain begins are accepted and answered', async (t) => {
  const { server, asked } = await startServer(t);
  const count = 50;
  const opened = new Int32Array(new SharedArrayBuffer(4));
  const callers = new Worker(CALLERS, { eval: true, workerData: { port: server.port, count, opened } });
  for (let seen = 0; seen < count; seen = Atomics.load(opened, 0)) Atomics.wait(opened, 0, seen, 5_000);
  const stopped = server.close(DEADLINE_MS);
  t.same(asked, [], 'none had been accepted');
  const [answers] = (await once(callers, 'message')) as [string[]];
  await stopped;
  t.same(
    answers.filter((answer) => !answer.endsWith('answer to /queued')),
    [],
    'each is answered',
  );
});
