/** Bytes on a port that are no valid request. */
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { Reply, serve } from '#platform/http-server/mod.ts';

async function send(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (piece) => {
    text += piece.toString();
  });
  socket.on('error', () => {});
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return text;
}

t.test(
  "a malformed request is refused with its reason in the server's error format, and the connection closed",
  async (t) => {
    const server = await serve({
      host: '127.0.0.1',
      port: 0,
      fetch: () => new Reply('fine'),
      formatError: ({ code, message }) => JSON.stringify({ code, message }),
    });
    t.teardown(() => server.close(0));
    const cases: [string, string, number, string, RegExp][] = [
      ['no HTTP at all', 'hello\r\n\r\n', 400, 'invalid_http', /^The request is not valid HTTP\/1\.1: /],
      [
        'two lengths',
        'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
        400,
        'invalid_http',
        /: its content-length is not one number$/,
      ],
      [
        'a NUL in a header',
        'GET / HTTP/1.1\r\nhost: a\r\nx: \0\r\n\r\n',
        400,
        'invalid_http',
        /: the header x has a control character$/,
      ],
      [
        'headers without end',
        `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`,
        431,
        'headers_too_large',
        /^The request's headers are larger than the 65536 bytes allowed$/,
      ],
    ];
    for (const [what, bytes, status, code, message] of cases) {
      const [head = '', body = ''] = (await send(server.url, bytes)).split('\r\n\r\n');
      t.match(head, new RegExp(`^HTTP/1.1 ${status} `), what);
      t.match(head, /^connection: close$/im);
      t.match(JSON.parse(body), { code, message });
    }
    const long = `GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\nx: ${'x'.repeat(60_000)}\r\n\r\n`;
    t.match(await send(server.url, long), /^HTTP\/1.1 200 /, 'long headers are allowed');
  },
);
