import fc from 'fast-check';
import t from 'tap';
import { scoreKeyOf } from '#core/evaluations/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const KEYS: [string, string][] = [
  ['helpfulness', 'helpfulness'],
  ['Helpfulness', 'helpfulness'],
  ['Answer Quality', 'answer_quality'],
  ['answer--quality', 'answer_quality'],
  ['answer _ quality', 'answer_quality'],
  ['  padded  ', '_padded_'],
  ['Is it polite?', 'is_it_polite_'],
  ['v2.1 (strict)', 'v2_1_strict_'],
  ['a\tb\nc\u00a0d', 'a_b_c_d'],
  ['Größe', 'größe'],
  ['ПОЛНОТА 2', 'полнота_2'],
  ['回答の質', '回答の質'],
  ['Score 😀 now', 'score_now'],
  ['½ ²', '½_²'],
  ['__proto__', '_proto_'],
];

for (const [name, key] of KEYS) {
  t.test(`${JSON.stringify(name)} has the score key "${key}"`, async (t) => {
    t.equal(scoreKeyOf(name), key);
  });
}

t.test('a name without a letter or a digit has no score key', async (t) => {
  for (const name of ['', ' ', '?', '___', '- -', '😀😀', '\u0301', '\u0000']) t.equal(scoreKeyOf(name), '');
});

/** The rule of the guide, applied character by character. */
function keyByRule(name: string): string {
  let key = '';
  for (const character of name.toLowerCase()) {
    if (/\p{L}|\p{N}/u.test(character)) key += character;
    else if (!key.endsWith('_')) key += '_';
  }
  return key === '_' ? '' : key;
}

const anyName = fc.string({ unit: anyCharacter, maxLength: 100 });

t.test(
  'a score key has one underscore for each run of characters other than letters and digits',
  async () => {
    fc.assert(fc.property(anyName, (name) => scoreKeyOf(name) === keyByRule(name)));
  },
);

t.test('the score key of a score key is itself, so that a name may be written as its key', async () => {
  fc.assert(
    fc.property(anyName, (name) => {
      const key = scoreKeyOf(name);
      return scoreKeyOf(key) === key;
    }),
  );
});

t.test('names that differ only in case have the same score key', async () => {
  const name = fc.string({ unit: 'grapheme-ascii', maxLength: 40 });
  fc.assert(fc.property(name, (text) => scoreKeyOf(text.toUpperCase()) === scoreKeyOf(text.toLowerCase())));
});
