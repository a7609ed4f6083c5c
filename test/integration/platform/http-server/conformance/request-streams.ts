/** Streams of requests, well-formed ones and mutated ones, cut into pieces anywhere. */
import fc from 'fast-check';
import { chunks, cutAt, type Mutation, mutate, mutation, text } from './wire-arbitraries.ts';

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
