/** The end of a string against what JSON.stringify writes and what JSON.parse reads. */
import fc from 'fast-check';
import t from 'tap';
import { byteStringEnd, textStringEnd } from '#core/json/string-end.ts';

/** Strings with many quotes and backslashes in them, also long runs, on both sides of what is searched byte by byte. */
const piece = fc.oneof(
  fc.constantFrom('"', '\\', '\\"', '\\\\', '\n', 'é日🚀', '\ud800'),
  fc.string({ maxLength: 60 }),
  fc.nat(70).map((length) => 'a'.repeat(length)),
  fc.nat(40).map((length) => '\\'.repeat(length)),
);
const written = fc.array(piece, { maxLength: 8 }).map((pieces) => JSON.stringify(pieces.join('')));
const around = fc.constantFrom('', '"', '\\', '\\"', ' ', '{"a":');

t.test('a string ends after its closing quote, whatever precedes and follows it', async () => {
  fc.assert(
    fc.property(around, written, around, fc.nat(100), (before, string, behind, fewBytes) => {
      const text = `${before}${string}${behind}`;
      const bytes = Buffer.from(text);
      const from = Buffer.byteLength(before);
      const end = from + Buffer.byteLength(string);
      return (
        textStringEnd(text, before.length) === before.length + string.length &&
        byteStringEnd(bytes, from) === end &&
        byteStringEnd(bytes, from, fewBytes + 1) === end
      );
    }),
    { numRuns: 5_000 },
  );
});

t.test('a string that is cut off anywhere has no end', async () => {
  fc.assert(
    fc.property(written, fc.nat(), (string, at) => {
      const cut = string.slice(0, 1 + (at % (string.length - 1)));
      return textStringEnd(cut, 0) === -1 && byteStringEnd(Buffer.from(cut), 0) === -1;
    }),
    { numRuns: 5_000 },
  );
});

t.test(
  'the ends of short strings are found on both sides of the bytes that are searched in a loop',
  async (t) => {
    for (let length = 0; length < 200; length += 1) {
      for (const tail of ['', '\\\\', '\\"', '\\\\\\"']) {
        const string = `"${'x'.repeat(length)}${tail}"`;
        t.equal(byteStringEnd(Buffer.from(`${string}"`), 0), string.length, string);
      }
    }
  },
);
