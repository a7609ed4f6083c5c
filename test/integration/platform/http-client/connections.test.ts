/** The client of providers, over real connections. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { freePort } from '../../../support/free-port.ts';
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

t.test('a response cut at any place fails the call with provider_unreachable', async (t) => {
  const full = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
  const wire = await startWire(t, {
    onRequest: (socket, place) => socket.end(full.slice(0, place * 7), 'latin1'),
  });
  const { call } = startCalls(t);
  for (let at = 0; at * 7 < full.length; at += 1) {
    const { error, events } = await call(wire.origin);
    t.match(error, {
      code: 'provider_unreachable',
      message: 'The provider WIRE closed the connection before its answer was whole',
    });
    t.same(events, at * 7 > full.indexOf('\r\n\r\n') + 3 ? ['start', 'fail'] : ['failure']);
  }
});

t.test('a connection reset in the middle of a response fails the call with the cause', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal', () => socket.resetAndDestroy()),
  });
  const { error } = await startCalls(t).call(wire.origin);
  t.match(error, { code: 'provider_unreachable', detail: /ECONNRESET/ });
});

t.test('a response that is not HTTP fails the call with the rule it breaks', async (t) => {
  const wire = await startWire(t, { onRequest: (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n\r\n') });
  const { error } = await startCalls(t).call(wire.origin);
  t.match(error, {
    code: 'provider_bad_answer',
    message:
      'The provider WIRE sent an answer that is not valid HTTP/1.1: the status line is not one of HTTP/1.1',
  });
});

t.test('an unreachable provider fails the call with the cause', async (t) => {
  const { error } = await startCalls(t).call(`http://127.0.0.1:${await freePort()}`);
  t.match(error, {
    code: 'provider_unreachable',
    message: 'The provider WIRE could not be reached',
    detail: /ECONNREFUSED/,
  });
});

t.test('each phase of a call has its own timeout and message', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, _place, text) => {
      if (text.startsWith('POST /headers')) socket.write('HTTP/1.1 200 OK\r\n');
      if (text.startsWith('POST /half')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal');
    },
  });
  const { begin } = startCalls(t, { timeouts: { connectMs: 150, firstByteMs: 200, idleMs: 250 } });
  const sentence = async (origin: string, path: string) => (await begin(origin, { path }).whole).error;
  const [handshake, nothing, headers, half] = await Promise.all([
    // The server never answers the handshake.
    sentence(wire.origin.replace('http:', 'https:'), '/'),
    sentence(wire.origin, '/nothing'),
    sentence(wire.origin, '/headers'),
    sentence(wire.origin, '/half'),
  ]);
  const code = 'provider_timeout';
  t.match(handshake, { code, message: 'The provider WIRE accepted no connection within 150 ms' });
  t.match(nothing, { code, message: 'The provider WIRE sent no answer within 200 ms' });
  t.match(headers, { code, message: 'The provider WIRE sent no answer within 200 ms' });
  t.match(half, { code, message: 'The provider WIRE was silent for 250 ms in the middle of its answer' });
});

t.test('a slow stream is not cut while its pauses are shorter than the idle timeout', async (t) => {
  const wire = await startWire(t, {
    onRequest: async (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n');
      for (const letter of 'abcdefgh') {
        await sleep(60);
        socket.write(letter);
      }
    },
  });
  const { call } = startCalls(t, { timeouts: { idleMs: 300 } });
  t.match(await call(wire.origin), { body: 'abcdefgh', error: null });
});

t.test('a response paused by its reader is not cut by the idle timeout', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n${'a'.repeat(300_000)}`),
  });
  const { begin } = startCalls(t, { timeouts: { idleMs: 100 } });
  const { whole, heard } = begin(wire.origin, {}, (answer) => {
    answer.pause();
    setTimeout(() => answer.resume(), 400);
  });
  await sleep(300);
  t.ok(heard.body.length < 300_000, 'it is paused');
  t.match((await whole).error, null);
  t.equal(heard.body.length, 300_000);
});

t.test('an aborted call gets no more bytes, and its connection is closed', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, _place, text) => {
      if (text.startsWith('POST /half')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal');
    },
  });
  const { begin } = startCalls(t);
  const asked = begin(wire.origin, { path: '/asked' });
  const half = begin(wire.origin, { path: '/half' });
  while (half.heard.body === '' || wire.requests.length < 2) await sleep(5);
  const closed = Promise.all(wire.sockets.map((socket) => once(socket, 'close')));
  asked.abort();
  half.abort();
  half.abort();
  await closed;
  t.same(asked.heard.events, []);
  t.same(half.heard.events, ['start']);
});

t.test("an abort after the end of a response does not affect the connection's next call", async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, place) => {
      if (place === 0) socket.write(reply('first'));
      else setTimeout(() => socket.write(reply('second')), 50);
    },
  });
  const { begin } = startCalls(t);
  const first = begin(wire.origin);
  await first.whole;
  const second = begin(wire.origin);
  first.abort();
  t.match(await second.whole, { body: 'second', error: null });
  t.equal(wire.sockets.length, 1);
});

t.test('a response handler that throws gets the error, and other calls go on', async (t) => {
  const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('a')) });
  const { begin, call } = startCalls(t);
  const broken = begin(wire.origin, {}, undefined, () => {
    throw new Error('a fault of ours');
  });
  t.match((await broken.whole).error, { code: 'internal_error', detail: 'a fault of ours' });
  t.match(await call(wire.origin), { body: 'a', error: null });
});

t.test('calls beyond the bound of connections wait in order', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, place) => setTimeout(() => socket.write(reply(String(place))), 20),
  });
  const { begin } = startCalls(t, { maxConnections: 2 });
  const calls = Array.from({ length: 7 }, (_, place) => begin(wire.origin, { path: `/${place}` }));
  calls[3]!.abort();
  const others = calls.filter((_, place) => place !== 3);
  t.same(
    (await Promise.all(others.map(({ whole }) => whole))).map(({ error }) => error),
    Array(6).fill(null),
  );
  t.equal(wire.sockets.length, 2);
  t.same(
    wire.requests.map((text) => text.slice(5, 7)),
    ['/0', '/1', '/2', '/4', '/5', '/6'],
  );
  t.same(calls[3]!.heard.events, []);
});

t.test('a connection that fails makes room for a waiting call', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, place) => (place === 0 ? socket.destroy() : socket.write(reply('a'))),
  });
  const { call } = startCalls(t, { maxConnections: 1 });
  const [first, second] = await Promise.all([call(wire.origin), call(wire.origin)]);
  t.match(first.error, { code: 'provider_unreachable' });
  t.match(second, { body: 'a', error: null });
});

t.test('a call that finds no connection in time fails with the reason', async (t) => {
  const wire = await startWire(t, {});
  const busy: string[] = [];
  const { begin } = startCalls(t, {
    maxConnections: 3,
    concurrencyPerOrganization: 2,
    waitMs: 150,
    onBusy: (label) => busy.push(label),
  });
  const call = (organizationId: string) => begin(wire.origin, { organizationId });
  for (const organizationId of ['a', 'a', 'b']) call(organizationId);
  const [third, other] = await Promise.all([call('a').whole, call('c').whole]);
  t.match(third, {
    events: ['failure'],
    error: {
      code: 'provider_busy',
      message:
        'Your organization has 2 calls under way to the provider WIRE, as many as it may have now; Retry-After says when to try again',
    },
  });
  t.match(other, {
    events: ['failure'],
    error: {
      code: 'provider_busy',
      message:
        'All 3 connections of the gateway to the provider WIRE are in use; Retry-After says when to try again',
    },
  });
  t.same(busy, ['WIRE', 'WIRE'], 'both are counted');
  t.equal(wire.sockets.length, 3);
});

t.test('an organization at its bound keeps no other from a connection', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket, _place, text) => {
      if (text.startsWith('POST /short')) socket.write(reply('a'));
    },
  });
  const { begin } = startCalls(t, { maxConnections: 3, concurrencyPerOrganization: 2 });
  const silent = Array.from({ length: 4 }, () => begin(wire.origin, { organizationId: 'b' }));
  for (let n = 0; n < 3; n += 1)
    t.equal((await begin(wire.origin, { organizationId: 'a', path: '/short' }).whole).body, 'a');
  t.equal(wire.requests.filter((text) => text.startsWith('POST /v1')).length, 2, 'two of b are under way');
  silent[0]!.abort();
  await waitFor('the third to go', async () => wire.requests.length === 6);
  t.equal(silent[2]!.heard.error, null);
});

t.test('waiting calls that are aborted free their places, and connections go to the next ones', async (t) => {
  const wire = await startWire(t, { onRequest: (socket, place) => place > 0 && socket.write(reply('a')) });
  const { begin } = startCalls(t, { maxConnections: 1, concurrencyPerOrganization: 2 });
  const first = begin(wire.origin, { path: '/first' });
  const gone = [begin(wire.origin, { path: '/gone' }), begin(wire.origin, { path: '/gone' })];
  t.match((await begin(wire.origin).whole).error, { code: 'provider_busy' }, 'the line is full');
  for (const { abort } of gone) abort();
  const next = begin(wire.origin, { path: '/next' });
  t.same(next.heard.events, [], 'there is room in it again');
  await waitFor('the first request', async () => wire.requests.length === 1);
  first.abort();
  t.equal((await next.whole).body, 'a');
  t.same(
    wire.requests.map((text) => text.slice(5, text.indexOf(' HTTP'))),
    ['/first', '/next'],
  );
  t.same(
    gone.flatMap(({ heard }) => heard.events),
    [],
  );
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

t.test('over TLS the certificate must be that of the host', async (t) => {
  const wire = await startWire(t, { isTls: true, onRequest: (socket) => socket.write(reply('sealed')) });
  const { call } = startCalls(t);
  t.match((await call(wire.origin)).error, {
    code: 'provider_unreachable',
    message: 'The provider WIRE could not be reached',
    detail: /SELF_SIGNED/,
  });
  if (tls.setDefaultCACertificates === undefined)
    return t.comment('this runtime cannot be told of certificates');
  const before = tls.getCACertificates('default');
  t.teardown(() => tls.setDefaultCACertificates(before));
  tls.setDefaultCACertificates([...before, CERTIFICATE]);
  t.match(await call(wire.origin), { body: 'sealed', error: null });
  const elsewhere = await call(wire.origin.replace('localhost', '127.0.0.1'));
  t.match(elsewhere.error, { code: 'provider_unreachable', detail: /ALTNAME/ });
});
