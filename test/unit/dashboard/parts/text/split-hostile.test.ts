import fc from 'fast-check';
import t from 'tap';
import { titleOf } from '../../../../../dashboard/parts/text/mark-titles.ts';
import { labelOf, splitHostile, writeMarks } from '../../../../../dashboard/parts/text/split-hostile.ts';

const HIDDEN = [
  '\0',
  '\x07',
  '\x1b',
  '\x7f',
  '\x85',
  '\u00ad',
  '\u061c',
  '\u115f',
  '\u200b',
  '\u200e',
  '\u202e',
  '\u2066',
  '\u2028',
  '\u3164',
  '\ufeff',
  '\ufffe',
  '\ud800',
  '\udfff',
  '\u{e0001}',
  '\u{e0041}',
];

const anyText = fc
  .array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...HIDDEN, '\u200d', '\ufe0f', '\r', '\u0301')),
  )
  .map((parts) => parts.join(''));

t.test('the pieces of a text, put together, are the text', async () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const pieces = splitHostile(text).map((piece) => (typeof piece === 'string' ? piece : piece.hidden));
      return pieces.join('') === text;
    }),
    { numRuns: 2_000 },
  );
});

t.test('no plain piece holds a control, a reordering character or half a surrogate pair', async () => {
  const never = /(?![\t\n\r])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)|\p{Cs}/u;
  fc.assert(
    fc.property(anyText, (text) => {
      const plain = splitHostile(text).filter((piece) => typeof piece === 'string');
      // A line break that was cut off from its carriage return would show as such.
      return plain.every((piece) => !never.test(`${piece}\n`)) && !never.test(`${writeMarks(text)}\n`);
    }),
    { numRuns: 2_000 },
  );
});

t.test('every hidden character becomes a mark of its own wherever it stands', async (t) => {
  for (const hidden of HIDDEN)
    t.same(splitHostile(`a${hidden}b`), ['a', { hidden }, 'b'], titleOf({ hidden }));
});

t.test('emoji, their variants, flags and keycaps are left as they are', async (t) => {
  for (const emoji of ['👨‍👩‍👧‍👦', '❤️‍🔥', '👩🏽‍🚀', '🏳️‍🌈', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '1️⃣', '☎︎', '🇩🇪', '🏃🏻‍♀️‍➡️'])
    t.same(splitHostile(`a ${emoji} b`), [`a ${emoji} b`], emoji);
});

t.test('text in scripts that are written with joiners and variants is left as it is', async (t) => {
  for (const text of ['می‌خواهم', 'क्‍ष', 'ශ්‍රී', '葛\u{e0100}', 'e\u0301a\u0308', '\u0600١٢'])
    t.same(splitHostile(text), [text], text);
});

t.test('a joiner or a variation selector that joins nothing is a mark', async (t) => {
  t.same(splitHostile('a\u200db'), ['a', { hidden: '\u200d' }, 'b']);
  t.same(splitHostile('a\ufe0fb'), ['a', { hidden: '\ufe0f' }, 'b']);
  t.same(splitHostile('😀\ufe0f\ufe01\u{e0101}'), [
    '😀\ufe0f',
    { hidden: '\ufe01' },
    { hidden: '\u{e0101}' },
  ]);
  t.same(splitHostile('👨\u200d x'), ['👨', { hidden: '\u200d' }, ' x']);
});

t.test('more than eight combining marks in a row are one mark', async (t) => {
  t.same(splitHostile(`a${'\u0301'.repeat(20)}b`), [
    `a${'\u0301'.repeat(8)}`,
    { hidden: '\u0301'.repeat(12) },
    'b',
  ]);
});

t.test('line breaks and tabs are left, a carriage return alone is a mark', async (t) => {
  t.same(splitHostile('a\r\n\tb\n'), ['a\r\n\tb\n']);
  t.same(splitHostile('paid\rfree'), ['paid', { hidden: '\r' }, 'free']);
});

t.test('marks say what they stand for', async (t) => {
  t.equal(titleOf({ hidden: '\u202e' }), 'U+202E right-to-left override');
  t.equal(titleOf({ hidden: '\0\0\0' }), 'U+0000 null, 3 times');
  t.equal(titleOf({ hidden: '\ud800' }), 'U+D800 half of a surrogate pair');
  t.equal(titleOf({ hidden: '\u200b\u200c' }), 'U+200B zero width space, and 1 more invisible characters');
  t.equal(labelOf({ hidden: '\0\0\0' }), '␀×3');
  t.equal(labelOf({ hidden: '\u202e' }), '202E');
  t.equal(writeMarks('a\u202eb'), 'a‹202E›b');
});

t.test('a text of nothing but hidden characters becomes few marks, in little time', async (t) => {
  t.equal(splitHostile('\u202e\u200b'.repeat(32_768)).length, 1);
  t.equal(splitHostile('\0'.repeat(65_536)).length, 1);
  const mixed = splitHostile('a\u202e'.repeat(32_768));
  t.equal(mixed.filter((piece) => typeof piece !== 'string').length, 500);
  t.notMatch(mixed.at(-1), '\u202e', 'what comes after them is written out');
});
