/** Requests as they are written, and the connections that calls share. */
import { once } from 'node:events';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import type { ProviderResponse } from '#platform/http-client/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { CERTIFICATE } from './certificate.ts';
import { reply, startCalls, startWire } from './wire.ts';

t.test('a request is written whole: path, host, headers as given, length, body', async (t) => {
  const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('yes')) });
  const { begin } = startCalls(t);
  const body = Buffer.from('{"é":"漢"}');
  const { whole } = begin(wire.origin, { headers: ['x-a', '1', 'x-a', 'caf\xe9'], body });
  t.match(await whole, { status: 200, body: 'yes', error: null, events: ['start', 'end'] });
  t.equal(
    wire.requests[0],
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${new URL(wire.origin).host}\r\nconnection: keep-alive\r\nx-a: 1\r\nx-a: caf\xe9\r\n` +
      `content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
  );
});

t.test('a body of megabytes arrives whole', async (t) => {
  const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('yes')) });
  const body = Buffer.alloc(5_000_000, 'abcdefg');
  const { whole } = startCalls(t).begin(wire.origin, { body });
  t.equal((await whole).body, 'yes');
  t.equal(wire.requests[0]!.slice(-body.length), body.toString());
});

t.test('successive calls to a provider share a connection', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, place) => socket.write(reply(String(place))),
  });
  const { call } = startCalls(t);
  const bodies: string[] = [];
  for (let n = 0; n < 5; n += 1) bodies.push((await call(wire.origin)).body);
  t.same(bodies, ['0', '1', '2', '3', '4']);
  t.equal(wire.sockets.length, 1);
});

t.test('concurrent calls to a provider have a connection each', async (t) => {
  const wire = await startWire(t, {
    onRequest: (_socket, place) => {
      if (place === 2) for (const [at, socket] of wire.sockets.entries()) socket.write(reply(String(at)));
    },
  });
  const { call } = startCalls(t);
  const heard = await Promise.all([call(wire.origin), call(wire.origin), call(wire.origin)]);
  t.same(heard.map(({ body }) => body).sort(), ['0', '1', '2']);
});

for (const { what, answer } of [
  { what: 'says that it closes', answer: reply('a', 'connection: close\r\n') },
  { what: 'ends its answer by closing', answer: 'HTTP/1.0 200 OK\r\n\r\na' },
  { what: 'sends more than its answer', answer: `${reply('a')}HTTP/1.1 200 OK` },
  { what: 'says that it keeps connections for two seconds', answer: reply('a', 'keep-alive: timeout=2\r\n') },
]) {
  t.test(`when a provider ${what}, its connection is not used again`, async (t) => {
    const wire = await startWire(t, {
      onRequest: (socket) => {
        socket.write(answer);
        if (answer.startsWith('HTTP/1.0')) socket.end();
      },
    });
    const { call } = startCalls(t);
    t.match(await call(wire.origin), { body: 'a', error: null });
    t.match(await call(wire.origin), { body: 'a', error: null });
    t.equal(wire.sockets.length, 2);
  });
}

t.test('a connection that the provider closed while it was idle is not used', async (t) => {
  const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('a')) });
  const { call } = startCalls(t);
  await call(wire.origin);
  const [first] = wire.sockets;
  first!.end();
  await once(first!, 'close');
  t.match(await call(wire.origin), { body: 'a', error: null });
  t.equal(wire.sockets.length, 2);
});

t.test('unrequested bytes close a connection, and are not taken for the next response', async (t) => {
  const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('asked')) });
  const { call } = startCalls(t);
  await call(wire.origin);
  wire.sockets[0]!.write(reply('unasked'));
  await once(wire.sockets[0]!, 'close');
  t.equal((await call(wire.origin)).body, 'asked');
});

t.test('a line break in a key or path cannot inject a header', async (t) => {
  const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('a')) });
  const { begin } = startCalls(t);
  const code = 'provider_not_configured';
  const message = (part: string) =>
    `The ${part} for the provider WIRE has a character that HTTP does not allow there`;
  for (const value of ['Bearer a\r\nx-admin: 1', 'a\nb', 'a\0', 'schlüssel漢'])
    t.throws(() => begin(wire.origin, { headers: ['authorization', value] }), {
      code,
      message: message('header authorization'),
    });
  for (const path of ['/a b', '/a\r\nx: y', '/漢', 'v1', ''])
    t.throws(() => begin(wire.origin, { path }), { code, message: message('path') });
  t.equal(wire.requests.length, 0);
});

/** Has this process trust the certificate of wires; returns whether it can. */
function trustCertificate(t: Test): boolean {
  if (tls.setDefaultCACertificates === undefined) {
    t.comment('this runtime cannot be told of certificates');
    return false;
  }
  const before = tls.getCACertificates('default');
  t.teardown(() => tls.setDefaultCACertificates(before));
  tls.setDefaultCACertificates([...before, CERTIFICATE]);
  return true;
}

t.test('over TLS the certificate must be that of the host', async (t) => {
  const wire = await startWire(t, { isTls: true, onRequest: (socket) => socket.write(reply('sealed')) });
  const { call } = startCalls(t);
  t.match((await call(wire.origin)).error, {
    code: 'provider_unreachable',
    message: 'The provider WIRE could not be reached',
    detail: /SELF_SIGNED/,
  });
  if (!trustCertificate(t)) return;
  t.match(await call(wire.origin), { body: 'sealed', error: null });
  const elsewhere = await call(wire.origin.replace('localhost', '127.0.0.1'));
  t.match(elsewhere.error, { code: 'provider_unreachable', detail: /ALTNAME/ });
});

t.test(
  'deadlines are checked while there is a connection, and an idle process is not woken for them',
  async (t) => {
    const running = new Set<unknown>();
    const { setInterval: begin, clearInterval: end } = globalThis;
    t.intercept(globalThis, 'setInterval', {
      value: (...parameters: Parameters<typeof begin>) => {
        const timer = begin(...parameters);
        running.add(timer);
        return timer;
      },
    });
    t.intercept(globalThis, 'clearInterval', {
      value: (timer: NodeJS.Timeout) => {
        running.delete(timer);
        end(timer);
      },
    });
    const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('yes')) });
    const { call } = startCalls(t, { waitMs: 80 });
    t.equal(running.size, 0, 'none before the first call');
    for (let round = 0; round < 2; round += 1) {
      t.equal((await call(wire.origin)).body, 'yes');
      t.equal(running.size, 1, 'checks, for a connection that waits for the next call');
      wire.sockets.at(-1)!.end();
      await waitFor('the checks to rest', () => running.size === 0);
    }
  },
);

for (const isTls of [false, true]) {
  t.test(
    `no connection has bytes of another${isTls ? ', over TLS' : ''}, however their reads take turns`,
    async (t) => {
      const letters = [...'abcdefghijkl'];
      const bytes = 300_000;
      const wire = await startWire(t, {
        isTls,
        onRequest: (socket, _place, text) => {
          const letter = /^POST \/(.)/.exec(text)![1]!;
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`);
          let left = bytes;
          const writeMore = () => {
            const next = Math.min(left, 1_000 + 97 * letter.charCodeAt(0));
            left -= next;
            socket.write(letter.repeat(next), left > 0 ? writeMore : undefined);
          };
          writeMore();
        },
      });
      if (isTls && !trustCertificate(t)) return;
      const { begin } = startCalls(t);
      const calls = letters.map((letter) => {
        // Looked at when all have ended, as a body that is logged is.
        const pieces: Buffer[] = [];
        let body: ProviderResponse['body'];
        const { whole } = begin(
          wire.origin,
          { path: `/${letter}` },
          (its) => {
            body = its;
          },
          (piece) => {
            pieces.push(piece);
            if (letter > 'f') return;
            body.pause();
            setImmediate(() => body.resume());
          },
        );
        return { letter, pieces, whole };
      });
      for (const { whole } of calls) t.equal((await whole).error, null);
      for (const { letter, pieces } of calls)
        t.ok(Buffer.concat(pieces).equals(Buffer.alloc(bytes, letter)), `${bytes} times ${letter}`);
    },
  );
}
