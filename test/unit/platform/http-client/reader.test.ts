import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { ResponseReader } from '#platform/http-client/response-reader.ts';

type Read = {
  status: number | null;
  headers: Record<string, unknown>;
  body: string;
  isWhole: boolean;
  isKept: boolean | null;
  /** Bytes of what was given that do not belong to the response. */
  left: number;
};

/** Reads pieces until the response is whole, as a connection would. */
function read(pieces: readonly Buffer[], { isClosed = false } = {}): Read {
  const bytes: Buffer[] = [];
  let status: number | null = null;
  let headers = {};
  const reader = new ResponseReader({
    onHead: (head) => {
      status = head.status;
      headers = head.headers;
    },
    onBytes: (piece) => bytes.push(piece),
  });
  let left = 0;
  for (const piece of pieces) left += piece.length - (reader.isWhole ? 0 : reader.push(piece));
  if (isClosed) reader.close();
  const body = Buffer.concat(bytes).toString('latin1');
  return { status, headers, body, isWhole: reader.isWhole, isKept: reader.head?.isKept ?? null, left };
}

const readText = (text: string, options = {}) => read([Buffer.from(text, 'latin1')], options);

/** Returns `bytes` cut at these places. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])];
  return ends.sort((a, b) => a - b).map((end, index, all) => bytes.subarray(all[index - 1] ?? 0, end));
}

const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/);
const FRAMING = ['connection', 'keep-alive', 'content-length', 'transfer-encoding'];
const header = fc
  .tuple(
    token.filter((name) => !FRAMING.includes(name.toLowerCase())),
    fc.stringMatching(/^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/),
    fc.constantFrom('', ' ', '\t', '  \t'),
  )
  .map(([name, value, blank]) => ({ name, value, line: `${name}:${blank}${value}${blank}\r\n` }));
const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const preludes = fc.array(
  fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  { maxLength: 2 },
);

/** The same body as chunks of the sizes that `cuts` makes, with extensions and trailers. */
function chunked(text: string, cuts: readonly number[], extension: string, trailers: string): string {
  const pieces = cutAt(Buffer.from(text, 'latin1'), cuts).filter((piece) => piece.length > 0);
  const chunks = pieces.map((piece, index) => {
    const size = piece.length.toString(16);
    const cased = index % 2 === 0 ? size : size.toUpperCase().padStart(4, '0');
    return `${cased}${extension}\r\n${piece.toString('latin1')}\r\n`;
  });
  return `${chunks.join('')}0${extension}\r\n${trailers}\r\n`;
}

t.test('a response is read alike for any framing and any cut into pieces', async () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
      fc.array(header, { maxLength: 6 }),
      body,
      fc.constantFrom('length', 'chunked', 'close'),
      preludes,
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.constantFrom('', ';a=b', ' ; name="va;lue"'),
      fc.constantFrom('', 'x-sum: 1\r\n', 'a: b\r\nc: d\r\n'),
      fc.stringMatching(/^[ -~]{0,8}$/),
      (status, headers, text, framing, before, cuts, extension, trailers, after) => {
        const lines = headers.map(({ line }) => line).join('');
        const [framed, sent] = {
          length: [`Content-Length: ${text.length}\r\n`, text],
          chunked: ['Transfer-Encoding: Chunked\r\n', chunked(text, cuts, extension, trailers)],
          close: ['', text],
        }[framing]!;
        const rest = framing === 'close' ? '' : after;
        const whole = `${before.join('')}HTTP/1.1 ${status} So\r\n${lines}${framed}\r\n${sent}${rest}`;
        const got = read(cutAt(Buffer.from(whole, 'latin1'), cuts), { isClosed: framing === 'close' });
        strictEqual(got.status, status);
        strictEqual(got.body, text);
        strictEqual(got.isWhole, true);
        strictEqual(got.left, rest.length);
        strictEqual(got.isKept, framing !== 'close');
        // Without a prototype, as theirs are: a header may be called __proto__.
        const expected: Record<string, string> = Object.create(null);
        for (const name of new Set(headers.map(({ name }) => name.toLowerCase()))) {
          const given = headers.filter((other) => other.name.toLowerCase() === name);
          const told = given.map(({ value }) => value).filter((value) => value !== '');
          expected[name] = told.join(', ');
        }
        for (const name of FRAMING) delete got.headers[name];
        deepStrictEqual(got.headers, expected);
      },
    ),
    { numRuns: 2_000 },
  );
});

t.test(
  'chunks that come in one piece are passed on together, also before one that is malformed',
  async (t) => {
    const heard: string[] = [];
    const reader = new ResponseReader({ onHead: () => {}, onBytes: (bytes) => heard.push(bytes.toString()) });
    const push = (text: string) => reader.push(Buffer.from(text));
    push('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n,\r\n6\r\n world\r\n');
    t.same(heard, ['hello, world']);
    t.throws(() => push('1\r\n!\r\nnonsense\r\n'), { name: 'NotHttp' });
    t.same(heard, ['hello, world', '!']);
  },
);

t.test('a response cut at any place is not complete', async (t) => {
  const full = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx: y\r\n\r\n';
  const sized = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello';
  for (const text of [full, sized]) {
    for (let end = 0; end < text.length; end += 1) {
      t.equal(readText(text.slice(0, end), { isClosed: true }).isWhole, false, `${end} bytes`);
    }
    t.equal(readText(text).isWhole, true);
  }
});

t.test('a response decides whether its connection may be used again', async (t) => {
  const cases: [string, string, boolean][] = [
    ['HTTP/1.1', 'content-length: 0\r\n', true],
    ['HTTP/1.1', 'content-length: 0\r\nConnection: Close\r\n', false],
    ['HTTP/1.1', 'content-length: 0\r\nconnection: x-trace, close\r\n', false],
    ['HTTP/1.0', 'content-length: 0\r\n', false],
    ['HTTP/1.0', 'content-length: 0\r\nconnection: keep-alive\r\n', true],
    ['HTTP/1.1', 'content-length: 9\r\ntransfer-encoding: chunked\r\n', false],
    ['HTTP/1.0', 'connection: keep-alive\r\ntransfer-encoding: chunked\r\n', false],
    ['HTTP/1.1', '', false],
  ];
  for (const [version, headers, isKept] of cases)
    t.equal(readText(`${version} 200 OK\r\n${headers}\r\n`).isKept, isKept, `${version} ${headers}`);
});

t.test('answers without a body end with their head', async (t) => {
  for (const status of [204, 304]) {
    const got = readText(`HTTP/1.1 ${status} X\r\ncontent-length: 5\r\n\r\nHTTP/1.1`);
    t.match(got, { status, isWhole: true, body: '', left: 8 });
  }
});

t.test(
  'the connection of an answer without a body is used again unless its head announces one',
  async (t) => {
    const cases: [string, boolean][] = [
      ['', true],
      ['content-length: 0\r\n', true],
      ['content-length: 5\r\n', false],
      ['content-length: 0\r\ncontent-length: 5\r\n', false],
      ['transfer-encoding: chunked\r\n', false],
    ];
    for (const status of [204, 304])
      for (const [headers, isKept] of cases)
        t.equal(readText(`HTTP/1.1 ${status} X\r\n${headers}\r\n`).isKept, isKept, `${status} ${headers}`);
  },
);

t.test('bytes that are not HTTP/1.1 are refused, and the message names the rule', async (t) => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  const inChunks = `${ok}transfer-encoding: chunked\r\n\r\n`;
  const cases: [string, RegExp][] = [
    ['HTTP/2 200\r\n\r\n', /status line/],
    ['HTTP/1.1 20 OK\r\n\r\n', /status line/],
    ['HTTP/1.1 099 OK\r\n\r\n', /status line/],
    ['SSH-2.0-OpenSSH\r\n\r\n', /status line/],
    ['<html></html>\r\n\r\n', /status line/],
    ['HTTP/1.1 101 Switching\r\nupgrade: websocket\r\n\r\n', /another protocol/],
    ['HTTP/1.1 999 Odd\r\n\r\n', /status 999/],
    ['HTTP/1.1 600 Odd\r\n\r\n', /status 600/],
    [`${ok}content-type: a/b\r\ncontent-type: a/c\r\n\r\n`, /content-type headers contradict/],
    [`${ok}no colon\r\n\r\n`, /no valid name/],
    [`${ok}: nameless\r\n\r\n`, /no valid name/],
    [`${ok}content-length : 5\r\n\r\n`, /no valid name/],
    [`${ok}a: b\r\n folded\r\n\r\n`, /no valid name/],
    [`${ok}a: b\nc: d\r\n\r\n`, /control character/],
    [`${ok}a: b\0\r\n\r\n`, /control character/],
    [`${ok}content-length: 5, 6\r\n\r\n`, /content-length/],
    [`${ok}content-length: 5\r\ncontent-length: 6\r\n\r\n`, /content-length/],
    [`${ok}content-length: -1\r\n\r\n`, /content-length/],
    [`${ok}content-length: 0x5\r\n\r\n`, /content-length/],
    [`${ok}content-length: \r\n\r\n`, /content-length/],
    [`${ok}content-length: 9999999999999999\r\n\r\n`, /content-length/],
    [`${ok}transfer-encoding: gzip, chunked\r\n\r\n`, /chunked alone/],
    [`${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`, /chunked alone/],
    [`${ok}transfer-encoding: identity\r\n\r\n`, /chunked alone/],
    [`${ok}a: ${'b'.repeat(70_000)}\r\n\r\n`, /larger than 65536 bytes/],
    [`${ok}a: ${'b'.repeat(70_000)}`, /larger than 65536 bytes/],
    [`${inChunks}5\r\nhello!\r\n`, /longer than its size/],
    [`${inChunks}\r\n`, /begin with its size/],
    [`${inChunks}-1\r\n`, /begin with its size/],
    [`${inChunks}0x5\r\nhello`, /followed by an invalid extension/],
    [`${inChunks}fffffffff\r\n`, /too many digits/],
    [`${inChunks}000000005\r\n`, /too many digits/],
    [`${inChunks}g`, /begin with its size/],
    [`${inChunks}5\nhello\r\n`, /CR LF/],
    [`${inChunks}5;${'e'.repeat(20_000)}`, /too long/],
    [`${inChunks}0\r\n${'t: 1\r\n'.repeat(300)}`, /trailers/],
    [`${inChunks}0\r\nno colon\r\n\r\n`, /trailer has no valid name/],
    [`${inChunks}0\r\n: nameless\r\n\r\n`, /trailer has no valid name/],
    [`${inChunks}0\r\nx : y\r\n\r\n`, /trailer has no valid name/],
    [`${inChunks}0\r\nx: y\r\n folded\r\n\r\n`, /trailer has no valid name/],
    [`${inChunks}0\r\nx: \0\r\n\r\n`, /trailer x has a control character/],
    [`${inChunks}0\r\nx: y\rz: 1\r\n\r\n`, /trailer x has a control character/],
    ...[
      ' ',
      ';',
      ';;a',
      ';a=',
      ';=b',
      ';a b',
      ' a',
      ';a="b',
      ';a="b"c',
      ';a="\\',
      ';a\0',
      ';a="\x7f"',
      ';a\r',
    ].map((tail): [string, RegExp] => [
      `${inChunks}5${tail}\r\nhello\r\n`,
      /followed by an invalid extension/,
    ]),
    [`${inChunks}${`1;${'e'.repeat(9_000)}\r\nx\r\n`.repeat(2)}`, /too many bytes beside their data/],
    [`${inChunks}0\r\n${`t: ${'e'.repeat(9_000)}\r\n`.repeat(2)}`, /too many bytes beside their data/],
    [`${ok}content-length: 5,\r\n\r\n`, /content-length/],
    [`${ok}content-length: ,5\r\n\r\n`, /content-length/],
    [`${ok}content-length: 5\xa0\r\n\r\n`, /content-length/],
    [`${ok}content-length: 5,\xa05\r\n\r\n`, /content-length/],
    [`${ok}content-length: \r\ncontent-length: 5\r\n\r\n`, /content-length/],
  ];
  for (const [text, rule] of cases) {
    t.throws(() => readText(text), { name: 'NotHttp', message: rule }, JSON.stringify(text.slice(0, 60)));
  }
});

t.test('chunk extensions and trailers are skipped', async (t) => {
  const asked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  for (const extension of [';a', ';a=b', '\t;\ta = b ; c', ';a="b c"', ';a="\\"\\\\;"', ';a=""', ';a="\xe9"'])
    t.match(readText(`${asked}5${extension}\r\nhello\r\n0${extension}\r\n\r\n`), {
      body: 'hello',
      isWhole: true,
    });
  for (const trailers of ['x:\r\n', 'x: y\r\nz:\t\xe9 \r\n', 'Content-Length: 9\r\n'])
    t.match(readText(`${asked}5\r\nhello\r\n0\r\n${trailers}\r\n`), { body: 'hello', isWhole: true });
  t.match(readText(`${asked}${'1\r\nx\r\n'.repeat(50_000)}0\r\n\r\n`), { body: 'x'.repeat(50_000) });
});

t.test('bytes that cannot become a response head are refused at once, cut anywhere', async (t) => {
  const settings = '\0\0\x12\x04\0\0\0\0\0';
  const cases: [string, RegExp][] = [
    [settings, /status line/],
    ['PRI * HTTP/2.0', /status line/],
    ['SSH-2.0-OpenSSH_9.2', /status line/],
    ['HTTP/2 200', /status line/],
    ['HTTP/1.1 abc\r\n', /status line/],
    ['{"id":', /status line/],
    ['\r\nHTTP/1.1 200 OK\r\n', /status line/],
    ['HTTP/1.1 200 OK\ncontent-type: application/json\n\n{}', /CR LF/],
    ['HTTP/1.1 200 OK\r\ncontent-type: application/json\n\n{}', /CR LF/],
    ['HTTP/1.1 100 Continue\r\n\r\nSSH', /status line/],
  ];
  for (const [text, rule] of cases) {
    t.throws(() => readText(text), { name: 'NotHttp', message: rule }, JSON.stringify(text));
    const bytes = [...Buffer.from(text, 'latin1')].map((byte) => Buffer.of(byte));
    t.throws(() => read(bytes), { name: 'NotHttp', message: rule }, `${JSON.stringify(text)} byte by byte`);
  }
  for (const text of ['H', 'HTTP/1.', 'HTTP/1.1 2', 'HTTP/1.1 200 OK\r', 'HTTP/1.1 200 OK\r\na: b\r'])
    t.equal(readText(text).status, null, `${JSON.stringify(text)} may become one`);
});

t.test('interim responses are bounded in number and in bytes', async (t) => {
  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
  const interim = 'HTTP/1.1 102 Processing\r\n\r\n';
  t.equal(readText(`${interim.repeat(100)}${ok}`).status, 200);
  t.throws(() => readText(interim.repeat(101)), { name: 'NotHttp', message: /more than 100 interim/ });
  const hint = `HTTP/1.1 103 Early Hints\r\nlink: ${'a'.repeat(10_000)}\r\n\r\n`;
  t.equal(readText(`${hint.repeat(6)}${ok}`).status, 200);
  t.throws(() => readText(hint.repeat(7)), { name: 'NotHttp', message: /larger than 65536 bytes/ });
});

t.test('headers named in Connection are dropped, and its close is honoured', async (t) => {
  const { headers, isKept } = readText(
    'HTTP/1.1 200 OK\r\nconnection: close, X-Hop\r\nConnection: x-other\r\nx-hop: 1\r\nX-Other: 2\r\nx-end: 3\r\n' +
      'content-length: 0\r\n\r\n',
  );
  t.match(headers, { 'x-hop': undefined, 'x-other': undefined, 'x-end': '3' });
  t.equal(isKept, false);
});

t.test('equal lengths given twice are one length', async (t) => {
  t.match(readText('HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nab'), { body: 'ab', isWhole: true });
});

t.test("a header named like a member of Object's is a header", async (t) => {
  const { headers } = readText(
    'HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\ncontent-length: 0\r\n\r\n',
  );
  t.equal(Object.getOwnPropertyDescriptor(headers, '__proto__')?.value, 'a');
  t.equal(headers.constructor, 'b');
});
