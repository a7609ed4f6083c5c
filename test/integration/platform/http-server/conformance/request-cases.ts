/**
 * Requests, and what the server must make of them. Which cases matter is taken from public suites, whose texts are not
 * copied: each stream is written anew here.
 *   llhttp: github.com/nodejs/llhttp at 01e105a30fd0 (MIT), test/request/*.md
 *   h1spec: github.com/dropseed/h1spec at d8f69184825d and github.com/uNetworking/h1spec at f0a5650a20c5 (no licence)
 *   http-garden: github.com/narfindustries/http-garden at ffb9164c6603 (GPL-3.0), TROPHIES.md
 */

export type RequestCase = {
  /** What is sent, in words. */
  name: string;
  source: 'llhttp' | 'h1spec' | 'http-garden';
  stream: string;
  /** Method, target and body of each request that the server runs. */
  runs: string[];
  /** The rule that it names when it refuses the rest; null: it does not. */
  refusal: RegExp | null;
  /** Why the outcome is not that of the suite. */
  differs?: string;
};

const HOST = 'Host: cases.test\r\n';
/** Shows whether the server still knows where the next request begins. */
const NEXT = `GET /next HTTP/1.1\r\n${HOST}\r\n`;
const NEXT_RUNS = 'GET /next ';

const REQUEST_LINE = /request line/;
const LENGTH = /content-length/;
const CODING = /Transfer-Encoding/;
const NAME = /header has no valid name/;
const CONTROL = /control character/;

type Source = RequestCase['source'];

function accepted(source: Source, name: string, stream: string, ...runs: string[]): RequestCase {
  return { name, source, stream: stream + NEXT, runs: [...runs, NEXT_RUNS], refusal: null };
}

function refused(source: Source, name: string, stream: string, refusal: RegExp): RequestCase {
  return { name, source, stream: stream + NEXT, runs: [], refusal };
}

/** A request without a body, with these header lines. */
const get = (...lines: string[]): string =>
  `GET /a HTTP/1.1\r\n${HOST}${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const put = (line: string, body = ''): string => `PUT /a HTTP/1.1\r\n${HOST}${line}\r\n\r\n${body}`;
const chunked = (body: string): string => put('Transfer-Encoding: chunked', body);
const sized = (length: string, body = ''): string => put(`Content-Length: ${length}`, body);

const LINES: RequestCase[] = [
  accepted('llhttp', 'a request without headers but Host', get(), 'GET /a '),
  accepted('llhttp', 'an empty line before a request', `\r\n${get()}`, 'GET /a '),
  accepted('llhttp', 'an empty line behind a body', `${sized('2', 'ab')}\r\n`, 'PUT /a ab'),
  ...['HEAD', 'PATCH', 'PURGE', 'SEARCH', 'LINK', 'UNLINK', 'SOURCE', 'REPORT', 'QUERY'].map((method) =>
    accepted('llhttp', `the method ${method}`, `${method} /m HTTP/1.1\r\n${HOST}\r\n`, `${method} /m `),
  ),
  {
    ...accepted('llhttp', 'a method that nobody knows', `FROB /m HTTP/1.1\r\n${HOST}\r\n`, 'FROB /m '),
    differs: 'a method is any token (RFC 9110, section 9.1); one without a route is answered with 404 or 405',
  },
  {
    ...refused(
      'llhttp',
      'an authority to connect to',
      `CONNECT cases.test:443 HTTP/1.1\r\n${HOST}\r\n`,
      /target/,
    ),
    differs: 'this server is no proxy',
  },
  {
    ...refused('h1spec', 'an asterisk for a target', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, /target/),
    differs: 'nothing here is asked of the server as a whole',
  },
  ...['?a=b?c', '/x?q=|', '/x?a="b"', '/x?a=b#c'].map((end) =>
    accepted(
      'llhttp',
      `a target that ends in ${end}`,
      `GET /t${end} HTTP/1.1\r\n${HOST}\r\n`,
      `GET /t${end} `,
    ),
  ),
  accepted(
    'llhttp',
    'an address without a path',
    `GET http://cases.test:80?a=b HTTP/1.1\r\n${HOST}\r\n`,
    'GET /?a=b ',
  ),
  accepted(
    'llhttp',
    'an address with a user',
    `GET http://u:p@cases.test/t HTTP/1.1\r\n${HOST}\r\n`,
    'GET /t ',
  ),
  accepted('h1spec', 'an address for a target', `GET http://cases.test/t HTTP/1.1\r\n${HOST}\r\n`, 'GET /t '),
  ...[
    ['llhttp', 'another protocol', 'GET / ICE/1.0'],
    ['llhttp', 'another protocol that begins alike', 'GET / IHTTP/1.1'],
    ['llhttp', 'RTSP', 'OPTIONS / RTSP/1.0'],
    ['llhttp', 'the preface of HTTP/2', 'PRI * HTTP/2.0'],
    ['llhttp', 'a version that does not exist', 'GET / HTTP/5.6'],
    ['llhttp', 'no version', 'GET /'],
    ['llhttp', 'a space within the target', 'GET /a b HTTP/1.1'],
    ['llhttp', 'a carriage return behind the version', 'GET / HTTP/1.1\rx: y'],
    ['h1spec', 'HTTP/2.0', 'GET / HTTP/2.0'],
    ['h1spec', 'a space and no version', 'GET / '],
    ['h1spec', 'words before the method', 'more words GET / HTTP/1.1'],
    ['http-garden', 'digits behind the version', 'GET / HTTP/1.10'],
    ['http-garden', 'a version that overflows', 'GET / HTTP/4294967297.1'],
    ['http-garden', 'carriage returns within the version', 'GET / HTTP/\r1.1'],
    ['http-garden', 'delimiters within the method', 'G[E;T] / HTTP/1.1'],
    ['http-garden', 'a line feed for a space', 'GET /\nHTTP/1.1'],
    ['http-garden', 'a tab for a space', 'GET\t/ HTTP/1.1'],
  ].map(([source, name, line]) =>
    refused(
      source as Source,
      name!,
      `${line}\r\n${HOST}\r\n`,
      line!.includes('\n') ? /CR LF|line/ : REQUEST_LINE,
    ),
  ),
  refused('http-garden', 'a target that is no path', `GET ! HTTP/1.1\r\n${HOST}\r\n`, /target/),
];

const HEADERS: RequestCase[] = [
  accepted('llhttp', 'a value of bytes beyond ASCII', get('x: d\xfcssel\xff'), 'GET /a '),
  accepted('llhttp', 'tabs around a value', get('x:\t y \t'), 'GET /a '),
  accepted('h1spec', 'an empty value', get('x:'), 'GET /a '),
  accepted(
    'h1spec',
    'a Host in odd case behind a tab',
    'GET /a HTTP/1.1\r\nhOsT:\tcases.test\r\n\r\n',
    'GET /a ',
  ),
  refused('h1spec', 'no Host', 'GET /a HTTP/1.1\r\n\r\n', /one Host/),
  refused('h1spec', 'two Hosts', get('Host: other.test'), /one Host/),
  refused(
    'h1spec',
    'a space within the Host',
    'GET /a HTTP/1.1\r\nHost: two words\r\n\r\n',
    /not a host and port/,
  ),
  refused('h1spec', 'brackets within a name', get('x[]: y'), NAME),
  refused('h1spec', 'a bell within a value', get('x: a\x07'), CONTROL),
  refused('h1spec', 'a NUL within a value', get('x: a\0b'), CONTROL),
  refused('llhttp', 'a form feed within a value', get('x: a\fb'), CONTROL),
  refused('llhttp', 'an at sign within a name', get('x@: y'), NAME),
  refused('llhttp', 'no name', get(': y'), NAME),
  refused('llhttp', 'a folded value', get('x: y', ' z'), NAME),
  refused('llhttp', 'a folded name', get('x', ' : y'), NAME),
  refused('llhttp', 'a blank before the first name', 'GET /a HTTP/1.1\r\n Host: a\r\n\r\n', NAME),
  refused('llhttp', 'a carriage return between two headers', get('x: 1\ry: 2'), CONTROL),
  refused('llhttp', 'a line feed between two headers', get('x: 1\ny: 2'), CONTROL),
  refused('llhttp', 'a line feed behind an empty value', get('x:\nTransfer-Encoding: chunked'), CONTROL),
  refused('llhttp', 'a carriage return for a hyphen', get('Content\rLength: 3'), NAME),
  refused('llhttp', 'a carriage return before a request in the headers', get('\rGET /evil: HTTP/1.1'), NAME),
  refused('llhttp', 'line feeds alone', 'GET /a HTTP/1.1\nHost: a\n\n', /line/),
  refused('http-garden', 'a blank before the first header', 'GET /a HTTP/1.1\r\n\tHost: a\r\n\r\n', NAME),
  refused('http-garden', 'a byte beyond ASCII within a name', get('\xefx: y'), NAME),
  refused('http-garden', 'line feeds behind an empty value', get('x:\n\nGET /evil HTTP/1.1'), CONTROL),
  ...[' ', '\t', '\x85', '\xa0', '\0', '\x0b'].map((byte) =>
    refused('http-garden', `byte ${byte.charCodeAt(0)} behind a name`, get(`Content-Length${byte}: 0`), NAME),
  ),
];

const LENGTHS: RequestCase[] = [
  accepted('llhttp', 'zeros before a length', sized('003', 'abc'), 'PUT /a abc'),
  accepted('llhttp', 'tabs around a length', sized('\t3\t ', 'abc'), 'PUT /a abc'),
  accepted('llhttp', 'a header behind a length', sized('003\r\nx: y', 'abc'), 'PUT /a abc'),
  accepted('h1spec', 'a body of a length', sized('5', 'hello'), 'PUT /a hello'),
  {
    ...accepted('llhttp', 'the same length twice', sized('3\r\nContent-Length: 3', 'abc'), 'PUT /a abc'),
    differs: 'RFC 9110, section 8.6, allows to take equal lengths for one',
  },
  ...[
    ['llhttp', 'no length', ''],
    ['llhttp', 'a length that overflows', '1'.padEnd(22, '0')],
    ['llhttp', 'two lengths', '1\r\nContent-Length: 2'],
    ['llhttp', 'a space within a length', '4 2'],
    ['h1spec', 'words for a length', 'many'],
    ['h1spec', 'a negative length', '-1234'],
    ['h1spec', 'a negative length that overflows', '-1'.padEnd(30, '2')],
    ['http-garden', 'a sign and an underscore', '+1_0'],
    ['http-garden', 'a length in hexadecimals', '0x3'],
    ['http-garden', 'a list with an empty member', '3,'],
    ['http-garden', 'an empty length beside another', '\r\nContent-Length: 43'],
    ['http-garden', 'a no-break space behind a length', '3\xa0'],
    ['http-garden', 'a next line before a length', '\x853'],
  ].map(([source, name, length]) => refused(source as Source, name!, sized(length!, 'abc'), LENGTH)),
  refused(
    'llhttp',
    'a carriage return before a body',
    `PUT /a HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\rabc\r\n\r\n`,
    NAME,
  ),
];

const CHUNKS: RequestCase[] = [
  accepted('llhttp', 'a size in capitals', chunked('A\r\n0123456789\r\n0\r\n\r\n'), 'PUT /a 0123456789'),
  accepted('llhttp', 'a last size of three zeros', chunked('2\r\nab\r\n1\r\nc\r\n000\r\n\r\n'), 'PUT /a abc'),
  accepted('llhttp', 'trailers', chunked('2\r\nab\r\n0\r\nVary: *\r\nx: y\r\n\r\n'), 'PUT /a ab'),
  accepted('llhttp', 'extensions', chunked('2;one;two=2;three=t\r\nab\r\n0;end\r\n\r\n'), 'PUT /a ab'),
  accepted(
    'llhttp',
    'a quoted extension',
    chunked('2;a="b \\"c\\"; \\\\";d\r\nab\r\n0\r\n\r\n'),
    'PUT /a ab',
  ),
  accepted(
    'h1spec',
    'a chunk of twelve bytes',
    chunked('c\r\nHello chunks\r\n0\r\n\r\n'),
    'PUT /a Hello chunks',
  ),
  ...[
    ['llhttp', 'words behind a size', '2 words\r\nab\r\n'],
    ['llhttp', 'a semicolon and no extension', '2;\r\nab\r\n'],
    ['llhttp', 'a quotation that does not end', '2;a="b\r\nab\r\n'],
    ['llhttp', 'a space behind a size', '2 \r\nab\r\n'],
    ['llhttp', 'no last chunk', '2\r\nab\r\n\r\n'],
    ['llhttp', 'a carriage return behind a size', '2\r\r;abc\r\nab\r\n'],
    ['llhttp', 'a line feed behind a size', '2 \n \r\nab\r\n'],
    ['llhttp', 'data without a line break behind it', '2\r\nab0\r\n\r\n'],
    ['h1spec', 'a size that is no number', 'Z\r\nab\r\n0\r\n\r\n'],
    ['h1spec', 'a chunk longer than its size', '2\r\nabc\r\n0\r\n\r\n'],
    ['http-garden', 'an underscore within a size', '0_2\r\n\r\n'],
    ['http-garden', 'a size of hexadecimals as programs write them', '0x2\r\nab\r\n0\r\n\r\n'],
    ['http-garden', 'a sign before a size', '+2\r\nab\r\n0\r\n\r\n'],
    ['http-garden', 'a negative size', '-2\r\nab\r\n0\r\n\r\n'],
    ['http-garden', 'an empty size', '\r\n\r\n'],
    ['http-garden', 'a size that overflows', '10000000000000002\r\nab\r\n0\r\n\r\n'],
    ['http-garden', 'a line feed alone behind the last size', '0\n\r\n'],
    ['http-garden', 'a line feed within an extension', '2;a\nab\r\n0\r\n\r\n'],
    ['http-garden', 'two bytes for a line break behind data', '2\r\nabXX0\r\n\r\n'],
    ['http-garden', 'a NUL within an extension', '2;a\0\r\nab\r\n0\r\n\r\n'],
    ['http-garden', 'a trailer without a name', '0\r\n: y\r\n\r\n'],
    ['http-garden', 'a trailer without a colon', '0\r\nGET /evil HTTP/1.1\r\n\r\n'],
    ['http-garden', 'a line feed between trailers', '0\r\nx: y\nz: 1\r\n\r\n'],
  ].map(([source, name, body]) => refused(source as Source, name!, chunked(body!), /chunk|trailer/)),
  ...[
    ['llhttp', 'an unknown coding', 'pigeons'],
    ['llhttp', 'chunked before another coding', 'chunked, deflate'],
    [
      'llhttp',
      'chunked before another coding in a header of its own',
      'chunked\r\nTransfer-Encoding: deflate',
    ],
    ['llhttp', 'chunked twice in a word', 'chunkedchunked'],
    ['llhttp', 'identity beside a length', 'identity\r\nContent-Length: 2'],
    ['h1spec', 'a length beside chunks', 'chunked\r\nContent-Length: 2'],
    ['h1spec', 'a length before chunks, in odd case', 'chunKed\r\nconTent-LengTh: 2'],
    ['h1spec', 'a coding that makes no sense', 'nonsense'],
    ['http-garden', 'chunked in two headers', 'chunked\r\nTransfer-Encoding: chunked'],
    ['http-garden', 'a comma before chunked', ',chunked'],
    ['http-garden', 'a comma behind chunked', 'chunked,'],
    ['http-garden', 'no-break spaces around chunked', '\xa0chunked\xa0'],
    ['http-garden', 'a next line before chunked', '\x85chunked'],
    ['http-garden', 'chunked in quotation marks', '"chunked"'],
    ['http-garden', 'an empty coding beside a length', '\r\nContent-Length: 2'],
  ].map(([source, name, coding]) =>
    refused(source as Source, name!, put(`Transfer-Encoding: ${coding}`, '2\r\nab\r\n0\r\n\r\n'), CODING),
  ),
  {
    ...refused('llhttp', 'another coding before chunked', put('Transfer-Encoding: deflate, chunked'), CODING),
    differs: 'no coding but chunked is known here (RFC 9112, section 6.1)',
  },
  refused(
    'h1spec',
    'chunks in HTTP/1.0',
    `PUT /a HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    CODING,
  ),
];

const closing = (name: string, line: string, source: Source = 'llhttp'): RequestCase => ({
  name,
  source,
  stream: get(line) + NEXT,
  runs: ['GET /a '],
  refusal: null,
});

const CONNECTIONS: RequestCase[] = [
  accepted(
    'llhttp',
    'three requests in a row',
    `${get()}${sized('2', 'ab')}${sized('3', 'abc')}`,
    'GET /a ',
    'PUT /a ab',
    'PUT /a abc',
  ),
  accepted('llhttp', 'keep-alive in HTTP/1.1', get('Connection: keep-alive'), 'GET /a '),
  accepted(
    'llhttp',
    'a wish to upgrade, which is passed over',
    get('Connection: Upgrade', 'Upgrade: ws'),
    'GET /a ',
  ),
  closing('close', 'Connection: close'),
  closing('close and a tab', 'Connection: close\t'),
  closing('close among others', 'Connection: close, token, keep-alive'),
  closing('close, asked for by h1spec', 'Connection: Close', 'h1spec'),
  refused('llhttp', 'a blank behind the name Connection', get('Connection : close'), NAME),
  {
    name: 'HTTP/1.0 without keep-alive',
    source: 'h1spec',
    stream: `GET /a HTTP/1.0\r\n\r\n${NEXT}`,
    runs: ['GET /a '],
    refusal: null,
  },
  accepted(
    'h1spec',
    'a body that the server is to ask for',
    sized('2\r\nExpect: 100-continue', 'ab'),
    'PUT /a ab',
  ),
  ...['G', 'GET ', 'GET /a', 'GET /a HTTP/1.1', 'GET /a HTTP/1.1\r', `GET /a HTTP/1.1\r\n${HOST}\r`].map(
    (stream): RequestCase => ({
      name: `a beginning of ${stream.length} bytes, which is waited for`,
      source: 'h1spec',
      stream,
      runs: [],
      refusal: null,
    }),
  ),
  ...[sized('100', 'abc'), chunked('5\r\nabc')].map(
    (stream): RequestCase => ({
      name: `a body that does not end (${stream.length} bytes)`,
      source: 'llhttp',
      stream,
      runs: [],
      refusal: null,
    }),
  ),
  ...['GET /long', 'x-long'].map((what) =>
    accepted(
      'h1spec',
      `9,000 bytes of ${what}`,
      what === 'x-long'
        ? get(`x-long: ${'x'.repeat(9_000)}`)
        : `GET /${'x'.repeat(9_000)} HTTP/1.1\r\n${HOST}\r\n`,
      what === 'x-long' ? 'GET /a ' : `GET /${'x'.repeat(9_000)} `,
    ),
  ),
  accepted(
    'h1spec',
    '101 headers',
    get(...Array.from({ length: 101 }, (_, index) => `x-${index}: y`)),
    'GET /a ',
  ),
];

export const REQUEST_CASES: readonly RequestCase[] = [
  ...LINES,
  ...HEADERS,
  ...LENGTHS,
  ...CHUNKS,
  ...CONNECTIONS,
];
