/** What streams of requests and of answers are made of: bodies, mutations and cuts. */
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

/** A short body. */
export const text = fc.stringMatching(/^[ -~\r\n]{0,12}$/);
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

/** A body in chunks, mostly well-formed. */
export const chunks = fc
  .tuple(fc.array(fc.tuple(text, extension, size), { maxLength: 3 }), extension, trailer)
  .map(([parts, last, trailers]) => {
    const written = parts
      .filter(([data]) => data !== '')
      .map(([data, tail, before]) => `${before}${data.length.toString(16)}${tail}\r\n${data}\r\n`);
    return `${written.join('')}0${last}\r\n${trailers}\r\n`;
  });

/** A small change anywhere in a stream. */
export type Mutation = {
  kind: 'insert' | 'replace' | 'delete' | 'repeat';
  at: number;
  length: number;
  bytes: string;
};

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'delete', 'repeat'),
  at: fc.nat({ max: 1_000_000 }),
  length: fc.integer({ min: 1, max: 4 }),
  bytes: fc.constantFrom(...NASTY),
});

export function mutate(stream: string, { kind, at, length, bytes }: Mutation): string {
  const place = at % (stream.length + 1);
  const [before, after] = [stream.slice(0, place), stream.slice(place)];
  if (kind === 'insert') return before + bytes + after;
  if (kind === 'replace') return before + bytes + after.slice(bytes.length);
  if (kind === 'delete') return before + after.slice(length);
  return before + after.slice(0, length) + after;
}

/** Cuts bytes at these places, taken modulo their number. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])];
  return ends
    .sort((a, b) => a - b)
    .map((end, index, all) => bytes.subarray(all[index - 1] ?? 0, end))
    .filter((piece) => piece.length > 0);
}
