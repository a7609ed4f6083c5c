/** Text that compresses and escapes as what people and models write does, the same in every run. */

const SYLLABLES =
  'a be con de er fi gra ha in ju ka lo ment na or pre qui ra sta tion un ve wi ex ly za ing al en th'.split(
    ' ',
  );
const VOCABULARY = 4_000;
const WORDS_A_SENTENCE = 12;
const WORDS_A_PARAGRAPH = 60;
const WORDS_A_QUOTATION = 30;

/** Numbers from 0 to 1 (xorshift), seeded. */
function createRandom(): () => number {
  let state = 42;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const random = createRandom();
/** The most common word first: the n-th has a little more than log n syllables. */
const vocabulary = Array.from({ length: VOCABULARY }, (_, rank) => {
  const syllables = 1 + Math.floor(Math.log2(2 + rank) / 3.2 + random());
  return Array.from({ length: syllables }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('');
});

let text = '';
let words = 0;

/** The first `length` characters of it. gzip leaves a half of 1 KB and a third of 50 KB, as of English. */
export function prose(length: number): string {
  for (; text.length < length; words += 1) {
    // The n-th word comes up in proportion to 1/n, as in any language.
    const word = vocabulary[Math.floor(VOCABULARY ** random()) - 1]!;
    if (words === 0) text = word;
    else if (words % WORDS_A_PARAGRAPH === 0) text += `.\n\n${word}`;
    else if (words % WORDS_A_SENTENCE === 0) text += `. ${word}`;
    else text += words % WORDS_A_QUOTATION === 7 ? ` "${word}"` : ` ${word}`;
  }
  return text.slice(0, length);
}
