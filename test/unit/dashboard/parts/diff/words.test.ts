import fc from 'fast-check';
import t from 'tap';
import { diffTexts, type Piece } from '../../../../../dashboard/parts/diff/words.ts';

const without = (pieces: readonly Piece[], kind: Piece['kind']) =>
  pieces
    .filter((piece) => piece.kind !== kind)
    .map(({ text }) => text)
    .join('');
const words = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'the',
        'cat',
        'sat',
        ' ',
        ' ',
        '\n',
        '  ',
        '.',
        ',',
        '日本',
        'é',
        '\u200d',
        '\ud800',
        '<b>',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

t.test(
  'the pieces without the removed ones are the text after, and without the added ones the text before',
  async () => {
    fc.assert(
      fc.property(words, words, (before, after) => {
        const pieces = diffTexts(before, after);
        // On a busy machine the time may run out.
        if (pieces === null) return true;
        return without(pieces, 'removed') === after && without(pieces, 'added') === before;
      }),
      { numRuns: 2_000 },
    );
  },
);

t.test('no piece is empty, and no two neighbours are of one kind', async () => {
  fc.assert(
    fc.property(words, words, (before, after) => {
      const pieces = diffTexts(before, after) ?? [];
      return pieces.every(
        ({ text, kind }, index) => text !== '' && (kind === 'same' || kind !== pieces[index + 1]?.kind),
      );
    }),
    { numRuns: 500 },
  );
});

t.test('changes that only white space parts are one change', async (t) => {
  t.same(diffTexts('a quick brown fox', 'a slow white fox'), [
    { text: 'a ', kind: 'same' },
    { text: 'quick brown', kind: 'removed' },
    { text: 'slow white', kind: 'added' },
    { text: ' fox', kind: 'same' },
  ]);
});

t.test(
  'equal texts have no change, and texts with nothing in common are not compared for long',
  async (t) => {
    t.same(diffTexts('same', 'same'), [{ text: 'same', kind: 'same' }]);
    t.same(diffTexts('', ''), []);
    const long = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word}${index}`).join(' ');
    const started = performance.now();
    t.equal(diffTexts(long('a'), long('b')), null);
    t.ok(performance.now() - started < 2_000);
  },
);

t.test('short texts are compared to the end, however busy the machine is', (t) => {
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  let ms = 0;
  Date.now = () => {
    ms += 1_000;
    return ms;
  };
  t.match(diffTexts('Be brief, and kind.', 'Be brief, or kind.'), [
    { kind: 'same' },
    { text: 'and', kind: 'removed' },
    { text: 'or', kind: 'added' },
    { kind: 'same' },
  ]);
  t.end();
});
