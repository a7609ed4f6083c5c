/** Calls that fail, take too long or are aborted, and what becomes of their connections. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../../../support/free-port.ts';
import { reply, startCalls, startWire } from './wire.ts';

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
  const { begin } = startCalls(t, { timeouts: { connectMs: 1_000, firstByteMs: 1_200, idleMs: 1_400 } });
  const sentence = async (origin: string, path: string) => (await begin(origin, { path }).whole).error;
  const [handshake, nothing, headers, half] = await Promise.all([
    // The server never answers the handshake.
    sentence(wire.origin.replace('http:', 'https:'), '/'),
    sentence(wire.origin, '/nothing'),
    sentence(wire.origin, '/headers'),
    sentence(wire.origin, '/half'),
  ]);
  const code = 'provider_timeout';
  t.match(handshake, { code, message: 'The provider WIRE accepted no connection within 1000 ms' });
  t.match(nothing, { code, message: 'The provider WIRE sent no answer within 1200 ms' });
  t.match(headers, { code, message: 'The provider WIRE sent no answer within 1200 ms' });
  t.match(half, { code, message: 'The provider WIRE was silent for 1400 ms in the middle of its answer' });
});

t.test('a slow stream is not cut while its pauses are shorter than the idle timeout', async (t) => {
  const wire = await startWire(t, {
    onRequest: async (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n');
      for (const letter of 'abcdefghijkl') {
        await sleep(100);
        socket.write(letter);
      }
    },
  });
  const { call } = startCalls(t, { timeouts: { idleMs: 1_000 } });
  t.match(await call(wire.origin), { body: 'abcdefghijkl', error: null });
});

t.test('a response paused by its reader is not cut by the idle timeout', async (t) => {
  const wire = await startWire(t, {
    onRequest: (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n${'a'.repeat(300_000)}`),
  });
  const { begin } = startCalls(t, { timeouts: { idleMs: 500 } });
  const { whole, heard } = begin(wire.origin, {}, (answer) => {
    answer.pause();
    setTimeout(() => answer.resume(), 1_500);
  });
  await sleep(1_000);
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
