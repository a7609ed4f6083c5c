/** Answers of a provider, well-formed ones and mutated ones, cut into pieces anywhere. */
import fc from 'fast-check';
import {
  chunks,
  cutAt,
  type Mutation,
  mutate,
  mutation,
  text,
} from '../http-server/conformance/wire-arbitraries.ts';

const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.1 404 Not Found', 'HTTP/1.1 200 ') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'HTTP/1.1 204 No Content',
      'HTTP/1.1 304 Not Modified',
      'HTTP/1.1 200',
      'HTTP/1.0 200 OK',
    ),
  },
);

const header: fc.Arbitrary<string> = fc.constantFrom(
  'Content-Type: text/plain',
  'X: y',
  'x:',
  'Connection: close',
  'Connection: keep-alive',
  'Keep-Alive: timeout=5',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked',
  'Content-Length: 3',
  'Content-Length: 3, 3',
  'Content-Length:',
  'Content-Length : 3',
  'Content-Length: +3',
  'Content-Length: 3\xa0',
  'x: y\r\n folded',
  ': nameless',
);

const early = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n',
    ),
  },
);

const answer = fc
  .record({
    early,
    line,
    headers: fc.oneof(
      { weight: 3, arbitrary: fc.constant<string[]>([]) },
      { weight: 2, arbitrary: fc.array(header, { maxLength: 2 }) },
    ),
    body: fc.oneof(
      text.map((bytes) => ['', bytes]),
      text.map((bytes) => [`Content-Length: ${bytes.length}\r\n`, bytes]),
      chunks.map((bytes) => ['Transfer-Encoding: chunked\r\n', bytes]),
    ),
  })
  .map(
    ({ early: before, line: status, headers, body: [framing, bytes] }) =>
      `${before}${status}\r\n${headers.map((field) => `${field}\r\n`).join('')}${framing}\r\n${bytes}`,
  );

/** An answer, and the pieces that it is sent in. */
export const answerStream: fc.Arbitrary<{ text: string; pieces: Buffer[] }> = fc
  .tuple(
    answer,
    fc.oneof(fc.constant<Mutation[]>([]), fc.array(mutation, { minLength: 1, maxLength: 2 })),
    fc.array(fc.nat({ max: 1_000_000 }), { maxLength: 3 }),
  )
  .map(([whole, mutations, cuts]) => {
    const mutated = mutations.reduce(mutate, whole);
    return { text: mutated, pieces: cutAt(Buffer.from(mutated, 'latin1'), cuts) };
  });
