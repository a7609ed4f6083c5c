import t from 'tap';
import { parseRequestHead } from '#platform/http-server/exchange/request-head.ts';

const head = (...lines: string[]) => lines.join('\r\n');

t.test('a request head is parsed into method, target, framing and keep-alive', async (t) => {
  t.same(
    parseRequestHead(
      head('POST /v1/x?y=%20 HTTP/1.1', 'Host: a', 'X-One:  two three\t', 'Content-Length: 12'),
    ),
    {
      method: 'POST',
      target: '/v1/x?y=%20',
      rawHeaders: ['Host', 'a', 'X-One', 'two three', 'Content-Length', '12'],
      framing: 12,
      isCurrent: true,
      isKept: true,
      awaitsContinue: false,
    },
  );
  const parse = (...lines: string[]) => parseRequestHead(head(...lines));
  t.match(parse('GET / HTTP/1.1', 'host: a'), { framing: 0 });
  t.match(parse('PUT / HTTP/1.1', 'host: a', 'transfer-encoding: Chunked'), { framing: 'chunked' });
  t.match(parse('PUT / HTTP/1.1', 'host: a', 'content-length: 3', 'Content-Length: 3'), { framing: 3 });
  t.match(parse('GET / HTTP/1.1', 'host: a', 'connection: Close'), { isKept: false });
  t.match(parse('GET / HTTP/1.1', 'host: a', 'connection: te', 'connection: close'), { isKept: false });
  t.match(parse('GET / HTTP/1.0'), { isKept: false, isCurrent: false });
  t.match(parse('GET / HTTP/1.0', 'Connection: keep-alive'), { isKept: true });
  t.match(parse('PUT / HTTP/1.1', 'host: a', 'expect: 100-Continue'), { awaitsContinue: true });
  t.match(parse('GET http://a.b:8/c?d HTTP/1.1', 'host: a'), { target: '/c?d' });
  t.match(parse('GET http://a.b?d HTTP/1.1', 'host: a'), { target: '/?d' });
  t.match(parse('GET HTTPS://u:p@[::1]:80 HTTP/1.1', 'host: a'), { target: '/' });
  for (const host of ['', 'a', 'a.b:80', 'a_b', '127.0.0.1:8080', '[::1]:80', '[fe80::1%25eth0]', 'a:'])
    t.match(parse('GET / HTTP/1.1', `host: ${host}`), { framing: 0 }, host);
  t.match(parse('PUT / HTTP/1.1', 'host: a', 'content-length: 3 ,\t3'), { framing: 3 });
  t.match(parse('GET / HTTP/1.1', 'host: a', 'connection: x,, close\t'), { isKept: false });
  t.match(parse('GET / HTTP/1.1', 'host: a', 'connection: x,\xa0close'), { isKept: true });
});

const MALFORMED: [what: string, head: string, rule: RegExp][] = [
  ['nothing', '', /request line/],
  ['no version', head('GET /', 'host: a'), /request line/],
  ['two spaces', head('GET  / HTTP/1.1', 'host: a'), /request line/],
  ['a space in the target', head('GET /a b HTTP/1.1', 'host: a'), /request line/],
  ['another version', head('GET / HTTP/2.0', 'host: a'), /request line/],
  ['a method that is no token', head('G(T / HTTP/1.1', 'host: a'), /request line/],
  ['what TLS begins with', '\x16\x03\x01\x02\0\x01', /request line/],
  ['a tunnel', head('CONNECT a:443 HTTP/1.1', 'host: a'), /target/],
  ['all of the server', head('OPTIONS * HTTP/1.1', 'host: a'), /target/],
  ['a scheme of its own', head('GET file:///etc/passwd HTTP/1.1', 'host: a'), /target/],
  ['an address without a host', head('GET http:///b HTTP/1.1', 'host: a'), /target/],
  ['a backslash in an address', head('GET http://a\\b/c HTTP/1.1', 'host: a'), /target/],
  ['a port that is none in an address', head('GET http://a:b/c HTTP/1.1', 'host: a'), /target/],
  ['no host', 'GET / HTTP/1.1', /Host/],
  ['two hosts', head('GET / HTTP/1.1', 'host: a', 'Host: a'), /Host/],
  ['a line without a colon', head('GET / HTTP/1.1', 'host: a', 'x'), /no valid name/],
  ['a header without a name', head('GET / HTTP/1.1', 'host: a', ': x'), /no valid name/],
  ['a space before the colon', head('GET / HTTP/1.1', 'host: a', 'x : y'), /no valid name/],
  ['a folded line', head('GET / HTTP/1.1', 'host: a', 'x: y', ' z'), /no valid name/],
  ['a bare line feed', head('GET / HTTP/1.1', 'host: a', 'x: y\nz: 1'), /control character/],
  ['a bare carriage return', head('GET / HTTP/1.1', 'host: a', 'x: y\rz: 1'), /control character/],
  ['a NUL', head('GET / HTTP/1.1', 'host: a', 'x: \0'), /control character/],
  [
    'two lengths',
    head('PUT / HTTP/1.1', 'host: a', 'content-length: 1', 'content-length: 2'),
    /content-length/,
  ],
  ['two lengths in one', head('PUT / HTTP/1.1', 'host: a', 'content-length: 1, 2'), /content-length/],
  ['a negative length', head('PUT / HTTP/1.1', 'host: a', 'content-length: -1'), /content-length/],
  ['a length with a sign', head('PUT / HTTP/1.1', 'host: a', 'content-length: +1'), /content-length/],
  ['a length in hexadecimals', head('PUT / HTTP/1.1', 'host: a', 'content-length: 0x10'), /content-length/],
  ['an empty length', head('PUT / HTTP/1.1', 'host: a', 'content-length:'), /content-length/],
  [
    'an empty length beside another',
    head('PUT / HTTP/1.1', 'host: a', 'content-length: ', 'content-length: 43'),
    /content-length/,
  ],
  ['a length and a comma', head('PUT / HTTP/1.1', 'host: a', 'content-length: 5,'), /content-length/],
  ['a no-break space', head('PUT / HTTP/1.1', 'host: a', 'content-length: 5\xa0'), /content-length/],
  ['one in a list', head('PUT / HTTP/1.1', 'host: a', 'content-length: 5, 5\xa0'), /content-length/],
  ['a host with a space', head('GET / HTTP/1.1', 'host: a b'), /not a host and port/],
  ['two hosts in one', head('GET / HTTP/1.1', 'host: a/b'), /not a host and port/],
  ['a user in the host', head('GET / HTTP/1.1', 'host: a@b'), /not a host and port/],
  ['a port that is no number', head('GET / HTTP/1.1', 'host: a:b'), /not a host and port/],
  [
    'a length beyond numbers',
    head('PUT / HTTP/1.1', 'host: a', `content-length: ${'9'.repeat(20)}`),
    /content-length/,
  ],
  [
    'a length beside chunks',
    head('PUT / HTTP/1.1', 'host: a', 'content-length: 1', 'transfer-encoding: chunked'),
    /beside/,
  ],
  ['another coding', head('PUT / HTTP/1.1', 'host: a', 'transfer-encoding: gzip'), /Transfer-Encoding/],
  ['two codings', head('PUT / HTTP/1.1', 'host: a', 'transfer-encoding: gzip, chunked'), /Transfer-Encoding/],
  [
    'chunked twice',
    head('PUT / HTTP/1.1', 'host: a', 'transfer-encoding: chunked', 'transfer-encoding: chunked'),
    /Transfer/,
  ],
  ['almost chunked', head('PUT / HTTP/1.1', 'host: a', 'transfer-encoding: xchunked'), /Transfer-Encoding/],
  ['chunks in HTTP/1.0', head('PUT / HTTP/1.0', 'transfer-encoding: chunked'), /Transfer-Encoding/],
];

t.test('a request head that a proxy could read otherwise is refused', async (t) => {
  for (const [what, text, rule] of MALFORMED)
    t.throws(() => parseRequestHead(text), { name: 'NotHttp', message: rule }, what);
});
