/** The server over TLS, on real sockets, with certificates made here. */
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { Reply, readBody, serve } from '#platform/http-server/mod.ts';
import { keepCertificate, leafFingerprint } from '#platform/tls/mod.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';

const MAX_BODY_BYTES = 10_000_000;
const DEADLINE_MS = 8_000;

type Line = { level: number; msg: string; problems?: string[] };

/** A server whose certificate is in files that a test can write anew, with what its process logs. */
async function setUp(t: Test) {
  const first = makeCertificate('first.test');
  const files = certificateFiles(first);
  const lines: Line[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  const certificate = await keepCertificate(files, log);
  // Looked at when the test says so.
  certificate.stop();
  const held = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = await serve({
    host: '127.0.0.1',
    port: 0,
    certificate,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/hold') {
        request.signal.addEventListener('abort', () => left.resolve());
        await held.promise;
      }
      return new Reply(await readBody(request, MAX_BODY_BYTES));
    },
  });
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  t.teardown(async () => {
    held.resolve();
    await agent.destroy();
    await server.close(0);
    files.remove();
  });
  const dial = async (): Promise<TLSSocket> => {
    const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    t.teardown(() => socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  return {
    server,
    files,
    lines,
    agent,
    dial,
    release: held.resolve,
    left: left.promise,
    /** Two looks, as a changed file is read when the second one finds it as the first did. */
    look: async () => {
      await certificate.check();
      await certificate.check();
    },
    certificate,
    shown: async () => (await dial()).getPeerCertificate().fingerprint256,
    first: leafFingerprint(first.cert),
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

async function readUntil(socket: TLSSocket, part: string): Promise<string> {
  let text = '';
  while (!text.includes(part)) text += String((await once(socket, 'data'))[0]);
  return text;
}

t.test('bodies of any size come back whole over TLS, one call after the other', async (t) => {
  const { server, agent } = await setUp(t);
  t.match(server.url, /^https:/);
  const sizes = fc.oneof(fc.nat({ max: 20_000 }), fc.constantFrom(16_384, 262_144, 1_000_001, 5_000_000));
  const property = fc.asyncProperty(sizes, fc.nat({ max: 255 }), async (size, byte) => {
    const body = Buffer.alloc(size, byte);
    const answer = await request(server.url, { method: 'POST', body, dispatcher: agent });
    t.ok(Buffer.from(await answer.body.arrayBuffer()).equals(body), `${size} bytes`);
  });
  await fc.assert(property, { numRuns: 40 });
});

t.test('a client that disconnects over TLS aborts its request', async (t) => {
  const { dial, left } = await setUp(t);
  const socket = await dial();
  socket.write(get('/hold'));
  await nextTurn();
  socket.end();
  await left;
});

t.test('new connections get a changed certificate, and open ones go on', async (t) => {
  const { files, look, shown, first, dial, lines } = await setUp(t);
  const open = await dial();
  t.equal(await shown(), first);
  const second = makeCertificate('second.test');
  files.write(second);
  await look();
  t.equal(await shown(), leafFingerprint(second.cert));
  open.write(get('/'));
  t.match(await readUntil(open, '\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n/);
  t.same(
    lines.map(({ level, msg }) => [level, msg]),
    [[30, 'New connections get the new TLS certificate']],
  );
});

t.test(
  'a certificate and key that are written one after the other are used once both are there',
  async (t) => {
    const { files, certificate, look, shown, first, lines } = await setUp(t);
    const second = makeCertificate('second.test');
    files.write({ cert: second.cert });
    await certificate.check();
    files.write({ key: second.key });
    await certificate.check();
    t.equal(await shown(), first, 'not before it was found the same twice');
    await look();
    t.equal(await shown(), leafFingerprint(second.cert));
    t.same(
      lines.map(({ level }) => level),
      [30],
      'nothing is complained about',
    );
  },
);

t.test(
  'new files that cannot be used leave the former certificate in use, with one warning each',
  async (t) => {
    const { files, look, shown, first, lines } = await setUp(t);
    const broken: [Partial<{ cert: string; key: string }>, RegExp][] = [
      [{ cert: 'no certificate' }, /^TLS_CERT_FILE must hold a certificate as PEM: /],
      [
        { cert: makeCertificate('other.test').cert },
        /^TLS_KEY_FILE must be the key of the first certificate in/,
      ],
      [{ key: '' }, /^TLS_KEY_FILE must hold a private key as PEM, without a passphrase: /],
    ];
    for (const [content, problem] of broken) {
      lines.length = 0;
      files.write(content);
      await look();
      await look();
      t.equal(await shown(), first);
      t.equal(lines.length, 1, 'warned once');
      t.match(lines[0], { level: 40, msg: /the former one stays in use$/, problems: [problem] });
    }
    files.remove();
    await look();
    t.equal(await shown(), first, 'nor does it need files that are gone');
  },
);

t.test('a drain lets a call over TLS finish, and its response closes the connection', async (t) => {
  const { server, dial, release } = await setUp(t);
  const socket = await dial();
  socket.write(get('/hold'));
  while (server.connections.count === 0) await nextTurn();
  const stopped = server.close(DEADLINE_MS);
  release();
  t.match(await readUntil(socket, '\r\n\r\n'), /\r\nconnection: close\r\n/);
  await stopped;
});

t.test('a stop does not wait for a client that never finishes its handshake', async (t) => {
  const { server } = await setUp(t);
  const silent = connectPlain(server.port, '127.0.0.1');
  silent.on('error', () => {});
  const ended = once(silent, 'close');
  while (server.connections.count === 0) await nextTurn();
  const startedAt = performance.now();
  await server.close(DEADLINE_MS);
  t.ok(performance.now() - startedAt < DEADLINE_MS - 1_000);
  await ended;
});

t.test(
  'bytes that are not TLS, and a handshake cut at any place, do not affect other connections',
  async (t) => {
    const { server, dial } = await setUp(t);
    const other = await dial();
    // The beginning of a handshake, as it goes over the wire.
    const recorded = await new Promise<Buffer>((resolve) => {
      void import('node:net').then(({ createServer }) => {
        const recorder = createServer((socket) => {
          socket.on('error', () => {});
          socket.once('data', (bytes: Buffer) => {
            socket.destroy();
            recorder.close();
            resolve(bytes);
          });
        }).listen(0, '127.0.0.1', () => {
          const { port } = recorder.address() as { port: number };
          connect({ port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => {});
        });
      });
    });
    const bytes = fc.oneof(
      fc.nat({ max: recorded.length }).map((length) => recorded.subarray(0, length)),
      fc.tuple(fc.nat({ max: recorded.length - 1 }), fc.nat({ max: 255 })).map(([at, byte]) => {
        const changed = Buffer.from(recorded);
        changed[at] = byte;
        return changed;
      }),
      fc.constant(Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')),
      fc.uint8Array({ maxLength: 200 }).map((random) => Buffer.from(random)),
    );
    const property = fc.asyncProperty(bytes, fc.boolean(), async (sent, isReset) => {
      const socket = connectPlain(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      await once(socket, 'connect');
      const closed = once(socket, 'close');
      socket.write(sent, () => (isReset ? socket.resetAndDestroy() : socket.end()));
      await closed;
    });
    await fc.assert(property, { numRuns: 100 });
    other.write(get('/'));
    t.match(await readUntil(other, '\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n/);
    while (server.connections.count > 1) await nextTurn();
  },
);
