/** A client that sends many requests at once, and does not read their responses. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ClientConnection } from '#platform/http-server/exchange/mod.ts';
import { Reply } from '#platform/http-server/mod.ts';

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
/** More than the buffers of both sockets take. */
const REQUESTS = 400_000;
/** A piece or two of a read, and what may wait before the socket is paused. */
const READ_AHEAD_BYTES = 512 * 1024;

/** A client that has sent its requests, and the server's end of its connection. */
async function setUp(t: Test, responseBytes: number) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [inner] = await accepted;
  t.teardown(() => {
    socket.destroy();
    server.close();
  });
  let handled = 0;
  let mostReadAhead = 0;
  let mostUnsent = 0;
  new ClientConnection(inner, {
    fetch: () => {
      handled += 1;
      mostReadAhead = Math.max(mostReadAhead, inner.bytesRead - handled * REQUEST.length);
      mostUnsent = Math.max(mostUnsent, inner.writableLength);
      return new Reply(`${handled}`.padEnd(responseBytes));
    },
    formatError: ({ message }) => message,
    isDraining: () => false,
    now: () => 0,
    date: () => 'now',
    onClosed: () => {},
  });
  socket.pause();
  socket.write(REQUEST.repeat(REQUESTS));
  return {
    socket,
    handled: () => handled,
    mostReadAhead: () => mostReadAhead,
    mostUnsent: () => mostUnsent,
  };
}

t.test('responses that a pipelining client does not read do not pile up in the server', async (t) => {
  const client = await setUp(t, 4_000);
  let before: number;
  do {
    before = client.handled();
    await sleep(300);
  } while (client.handled() > before);
  t.ok(client.handled() < REQUESTS, 'its further requests wait');
  t.ok(client.mostUnsent() < READ_AHEAD_BYTES, `${client.mostUnsent()} bytes`);
  let text = '';
  client.socket.on('data', (piece) => {
    text = `${text}${piece}`.slice(-10_000);
  });
  client.socket.resume();
  while (client.handled() < before + 1_000) await once(client.socket, 'data');
  t.match(text, /\r\n\r\n(\d+) +HTTP\/1\.1 200 OK\r\n/, 'they are handled once it reads');
});

t.test('no more pipelined requests are read than are about to be handled', async (t) => {
  const client = await setUp(t, 1);
  client.socket.resume();
  while (client.handled() < 50_000) await once(client.socket, 'data');
  t.ok(client.mostReadAhead() < READ_AHEAD_BYTES, `${client.mostReadAhead()} bytes`);
});
