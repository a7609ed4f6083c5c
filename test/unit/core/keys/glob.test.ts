import fc from 'fast-check';
import t from 'tap';
import { matchesGlob } from '#core/keys/glob.ts';
import { runs } from '../../../support/fuzz-runs.ts';

/** What a glob means, by a regular expression of its own. */
const byRegExp = (glob: string, text: string) =>
  new RegExp(`^${glob.replaceAll('*', '[\\s\\S]*')}$`).test(text);

const letters = fc.constantFrom('a', 'b', '/');
const texts = fc.string({ unit: letters, maxLength: 8 });
const globs = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 6 });

t.test('a glob matches what its regular expression matches', async (t) => {
  const check = fc.property(globs, texts, (glob, text) => matchesGlob(glob, text) === byRegExp(glob, text));
  fc.assert(check, runs(t, 5_000));
});

t.test('a glob that covers another matches all that the other matches', async (t) => {
  const check = fc.property(
    globs,
    globs,
    fc.array(texts, { minLength: 20, maxLength: 20 }),
    (wide, narrow, words) => {
      if (!matchesGlob(wide, narrow)) return;
      for (const word of words)
        if (matchesGlob(narrow, word)) t.ok(matchesGlob(wide, word), `${wide} ${narrow} ${word}`);
    },
  );
  fc.assert(check, runs(t, 3_000));
});

t.test('a glob that does not cover another misses a text of the other', async (t) => {
  // A letter that no glob has, in the place of each `*`, is a text that only a wider `*` takes.
  const check = fc.property(
    globs,
    globs,
    (wide, narrow) => matchesGlob(wide, narrow) || !matchesGlob(wide, narrow.replaceAll('*', 'z')),
  );
  fc.assert(check, runs(t, 5_000));
});

t.test('characters that mean something in a regular expression mean themselves in a glob', async (t) => {
  t.equal(matchesGlob('gpt-4.1*', 'gpt-4x1'), false);
  t.equal(matchesGlob('gpt-4.1*', 'gpt-4.1-mini'), true);
  t.equal(matchesGlob('a+(b)?', 'a+(b)?'), true);
  t.equal(matchesGlob('', ''), true);
  t.equal(matchesGlob('', 'a'), false);
});

t.test('a glob of many stars is matched without trying every way to place them', async (t) => {
  t.equal(matchesGlob(`${'a*'.repeat(100)}b`, 'a'.repeat(10_000)), false);
});
