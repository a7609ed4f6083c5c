/** Streams of requests, well-formed ones and mutated ones, cut into pieces anywhere. */
import fc from 'fast-check';

/** What parsers have disagreed about: line ends, blanks, controls, delimiters, digits, bytes beyond ASCII. */
const NASTY = [
  ...'\r\n\t\0\v\f \x7f\x85\xa0\xff',
  ...':;,="\\+-_0159afgxAZ/?#%@[]()',
  '\r\n',
  '\n\n',
  '\r\r\n',
  '\n\r',
  '\r\n\r\n',
  '\r\n ',
  ' \r\n',
  '0x',
  'chunked',
  'identity',
];

const name = fc.constantFrom(
  'Host',
  'content-length',
  'Content-Length',
  'Transfer-Encoding',
  'transfer-encoding',
  'Connection',
  'Expect',
  'X-A',
  'x_b',
);

const value = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', '3', '5', '0', '05', 'chunked', 'Chunked', 'keep-alive', 'close'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '+3',
      '-1',
      '0x3',
      '3,3',
      '3, 3',
      '3 3',
      '99999999999999999999',
      'gzip, chunked',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'chunked,',
      ',chunked',
      'chunked;q=1',
      'xchunked',
      'chunked, chunked',
      '"chunked"',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\tchunked', 'chunked \t', '3 ', '\t3', '3\xa0', '100-continue', 'a b'),
  },
);

const header = fc
  .tuple(name, fc.constantFrom(':', ': ', ':\t ', ' :', ''), value)
  .map(([key, colon, text]) => `${key}${colon}${text}\r\n`);

const text = fc.stringMatching(/^[ -~\r\n]{0,12}$/);
const extension = fc.constantFrom('', '', '', ';a', ';a=b', ' ; a="b;\\""', ';', ';a=', ' ', ';a="', '\t;a');
const size = fc.constantFrom('', '', '', '0', '00', '0x', '+', ' ', '00000000', '1');
const trailer = fc.constantFrom(
  '',
  '',
  '',
  'x: y\r\n',
  'x:\r\n',
  ' x\r\n',
  'content-length: 3\r\n',
  'x : y\r\n',
);

const chunks = fc
  .tuple(fc.array(fc.tuple(text, extension, size), { maxLength: 3 }), extension, trailer)
  .map(([parts, last, trailers]) => {
    const written = parts
      .filter(([data]) => data !== '')
      .map(([data, tail, before]) => `${before}${data.length.toString(16)}${tail}\r\n${data}\r\n`);
    return `${written.join('')}0${last}\r\n${trailers}\r\n`;
  });

/** Mostly such that its framing holds. */
const request = fc
  .record({
    line: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('GET / HTTP/1.1', 'POST /a?b=c HTTP/1.1', 'PUT /x HTTP/1.1') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'GET / HTTP/1.0',
          'GET http://a/b HTTP/1.1',
          'OPTIONS * HTTP/1.1',
          'GET /\xe9 HTTP/1.1',
        ),
      },
    ),
    host: fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom('Host: a\r\n', 'host:a:80\r\n') },
      { weight: 1, arbitrary: fc.constant('') },
    ),
    odd: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(header, { maxLength: 2 }) },
    ),
    body: fc.oneof(
      fc.constant(['', '']),
      text.map((bytes) => [`Content-Length: ${bytes.length}\r\n`, bytes]),
      chunks.map((bytes) => ['Transfer-Encoding: chunked\r\n', bytes]),
    ),
  })
  .map(
    ({ line, host, odd, body: [framing, bytes] }) =>
      `${line}\r\n${host}${odd.join('')}${framing}\r\n${bytes}`,
  );

type Mutation = {
  kind: 'insert' | 'replace' | 'delete' | 'repeat';
  at: number;
  length: number;
  bytes: string;
};

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'delete', 'repeat'),
  at: fc.nat({ max: 1_000_000 }),
  length: fc.integer({ min: 1, max: 4 }),
  bytes: fc.constantFrom(...NASTY),
});

function mutate(stream: string, { kind, at, length, bytes }: Mutation): string {
  const place = at % (stream.length + 1);
  const [before, after] = [stream.slice(0, place), stream.slice(place)];
  if (kind === 'insert') return before + bytes + after;
  if (kind === 'replace') return before + bytes + after.slice(bytes.length);
  if (kind === 'delete') return before + after.slice(length);
  return before + after.slice(0, length) + after;
}

export type Stream = { text: string; pieces: Buffer[] };

/** A request stream of up to three requests, and the pieces that it is sent in. */
export const requestStream: fc.Arbitrary<Stream> = fc
  .tuple(
    fc.array(request, { minLength: 1, maxLength: 3 }),
    fc.oneof(fc.constant<Mutation[]>([]), fc.array(mutation, { minLength: 1, maxLength: 3 })),
    fc.array(fc.nat({ max: 1_000_000 }), { maxLength: 3 }),
  )
  .map(([requests, mutations, cuts]) => {
    // The probe shows where each server sees the next request begin.
    const whole = mutations.reduce(mutate, `${requests.join('')}GET /probe HTTP/1.1\r\nHost: a\r\n\r\n`);
    return { text: whole, pieces: cutAt(Buffer.from(whole, 'latin1'), cuts) };
  });

/** Cuts bytes at these places, taken modulo their number. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])];
  return ends
    .sort((a, b) => a - b)
    .map((end, index, all) => bytes.subarray(all[index - 1] ?? 0, end))
    .filter((piece) => piece.length > 0);
}
