/** The compiled load generator and provider of `npm run bench peers`: what each prints is what the other did. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { compilePrograms, compilerIsMissing, type Programs } from './compile.ts';
import { type LoadFigures, runLoad } from './load.ts';
import { readPeers } from './peer.ts';
import { startNativeProvider } from './provider.ts';
import type { Scenario } from './scenario.ts';
import { startPeer } from './start-peer.ts';

/** In CI a missing compiler is a failure, not a reason to skip. */
const skip = process.env.CI === 'true' ? false : compilerIsMissing();

const SECONDS = 0.3;
const PLAIN: Scenario = { name: 'plain', bytes: 1_024, pace: null, connections: 8 };
const PACE_MS = 5;

t.test('the compiled load generator and provider', { skip }, async (t) => {
  const directory = t.testdir();
  const programs = compilePrograms(directory);
  await t.test('agree about the number of calls', (t) => testCounts(t, programs, directory));
  await t.test('count wrong answers as failures', (t) => testFailures(t, programs, directory));
  await t.test('understand every way in which an answer ends', (t) => testEndings(t, programs, directory));
  await t.test('measure a peer that a file describes', (t) => testPeer(t, programs, directory));
});

async function testCounts(t: Test, { load, provider }: Programs, directory: string): Promise<void> {
  const { port, stop } = await startNativeProvider(provider);
  const endpoint = { port, path: '/v1/chat/completions', headers: {} };
  const run = (scenario: Partial<Scenario>) =>
    runLoad(load, directory, endpoint, { ...PLAIN, ...scenario }, SECONDS);
  const plain = await run({});
  const large = await run({ bytes: 150 * 1_024, connections: 200 });
  const stream = await run({ pace: 0 });
  const paced = await run({ pace: PACE_MS * 1_000 });
  const answered = await stop();
  for (const { calls, failures, firstFailure } of [plain, large, stream, paced]) {
    t.ok(calls > 0);
    t.equal(failures, 0, firstFailure ?? 'no failure');
  }
  t.same(answered, {
    plainAnswers: plain.calls + large.calls,
    streams: stream.calls + paced.calls,
    refused: 0,
  });
  t.equal(plain.gapP99Ms, null, 'a small answer comes at once');
  t.ok(plain.totalP50Ms! <= plain.totalP99Ms!);
  t.ok(paced.gapP99Ms! >= PACE_MS - 1, 'events of a paced stream are apart');
  // 20 events, the end right behind the last pause.
  t.ok(paced.totalP50Ms! >= 19 * PACE_MS, 'a paced stream takes as long as its pauses');
  t.ok(paced.firstByteP50Ms! < paced.totalP50Ms!);
}

/** Serves answers that are bytes; `answer` gets the connection for each request. */
async function serveBytes(t: Test, answer: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    // Each request of the load generator is smaller than a piece.
    socket.on('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { port: (server.address() as AddressInfo).port, path: '/', headers: {} };
}

const TEXT = `${'a'.repeat(1_023)}}`;

/** Puts a short load on a server that answers so. */
async function loadOn(
  t: Test,
  load: string,
  directory: string,
  answer: (socket: Socket) => void,
): Promise<LoadFigures> {
  const endpoint = await serveBytes(t, answer);
  return await runLoad(load, directory, endpoint, { ...PLAIN, connections: 2 }, SECONDS);
}

async function testFailures(t: Test, { load }: Programs, directory: string): Promise<void> {
  const withLength = (status: string, body: string, length = body.length) =>
    `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\n\r\n${body}`;
  const cases: { title: string; message: RegExp; answer(socket: Socket): void }[] = [
    {
      title: 'a status 500',
      message: /^status 500: out of "order"$/,
      answer: (socket) => socket.write(withLength('500 Internal Server Error', 'out of "order"')),
    },
    {
      title: 'a connection that is closed in the middle',
      message: /^connection closed in a call, after 1024 bytes/,
      answer: (socket) => socket.end(withLength('200 OK', TEXT, 2_000)),
    },
    {
      title: 'a connection that is closed before the answer',
      message: /^connection (closed|reset) in a call, after 0 bytes/,
      answer: (socket) => socket.end(),
    },
    {
      title: 'an answer that is too short',
      message: /^status 200 with 2 bytes/,
      answer: (socket) => socket.write(withLength('200 OK', '{}')),
    },
    {
      title: 'an answer that ends wrongly',
      message: /^status 200 with 1025 bytes/,
      answer: (socket) => socket.write(withLength('200 OK', `${TEXT}!`)),
    },
    {
      title: 'a chunk without a size',
      message: /^malformed answer/,
      answer: (socket) => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'),
    },
  ];
  for (const { title, message, answer } of cases) {
    const { calls, failures, firstFailure } = await loadOn(t, load, directory, answer);
    t.equal(calls, 0, title);
    t.ok(failures > 0, title);
    t.match(firstFailure, message, title);
  }
}

async function testEndings(t: Test, { load }: Programs, directory: string): Promise<void> {
  const chunked = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3ff;name=value\r\n${TEXT.slice(0, -1)}\r\n1\r\n}\r\n0\r\nTrailer: x\r\n\r\n`;
  const cases: { title: string; answer(socket: Socket): void }[] = [
    {
      title: 'by its length',
      answer: (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n${TEXT}`),
    },
    { title: 'by its last chunk, with trailers', answer: (socket) => socket.write(chunked) },
    {
      title: 'by its last chunk, in pieces that end in the middle of lines',
      answer: (socket) => {
        socket.write(chunked.slice(0, 60));
        // One after the other: of two timers that are late, the longer may be first.
        setTimeout(() => {
          socket.write(chunked.slice(60, -3));
          setTimeout(() => socket.write(chunked.slice(-3)), 5);
        }, 5);
      },
    },
    {
      title: 'with its connection',
      answer: (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${TEXT}`),
    },
    {
      title: 'by its length, and its connection with it',
      answer: (socket) =>
        socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1024\r\n\r\n${TEXT}`),
    },
    {
      title: 'behind a status 100',
      answer: (socket) =>
        socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:1024\r\n\r\n${TEXT}`),
    },
  ];
  for (const { title, answer } of cases) {
    const { calls, failures, firstFailure } = await loadOn(t, load, directory, answer);
    t.ok(calls > 2, `${title}: ${calls} calls`);
    t.equal(failures, 0, `${title}: ${firstFailure}`);
  }
}

async function testPeer(t: Test, { load, provider }: Programs, directory: string): Promise<void> {
  const isInstalled = spawnSync('haproxy', ['-v']).error === undefined;
  if (!isInstalled && process.env.CI !== 'true') {
    t.pass('haproxy is not installed', { skip: true });
    return;
  }
  const [haproxy] = readPeers(new URL('haproxy.json', import.meta.url).pathname);
  const { port, stop } = await startNativeProvider(provider);
  const peer = await startPeer(haproxy!, port);
  try {
    const stream = await runLoad(load, directory, peer, { ...PLAIN, pace: PACE_MS * 1_000 }, SECONDS);
    t.ok(stream.calls > 0);
    t.equal(stream.failures, 0, stream.firstFailure ?? 'no failure');
    t.ok(stream.firstByteP50Ms! < stream.totalP50Ms! / 2, 'haproxy passes events on as they come');
  } finally {
    await peer.stop();
    t.equal((await stop()).refused, 0);
  }
}

t.test('a file of peers is checked', async (t) => {
  const file = (peers: unknown) => `${t.testdir({ 'peers.json': JSON.stringify(peers) })}/peers.json`;
  const gateway = { name: 'gateway', logs: 'nothing', command: './gateway' };
  t.throws(() => readPeers(file([{ ...gateway, prot: 1 }])), { message: /peers\.json: \/0\/prot: / });
  t.throws(() => readPeers(file([{ name: 'gateway', logs: 'nothing' }])), {
    message: /peers\.json: \/0\/command: /,
  });
  t.throws(() => readPeers(file([])), { message: /peers\.json: the file: / });
  const path = file([gateway]);
  t.equal(readPeers(path)[0]?.command, path.replace('peers.json', 'gateway'));
});
