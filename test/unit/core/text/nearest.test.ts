import t from 'tap';
import { nearest } from '#core/text/mod.ts';

t.test(
  'the nearest name takes the fewest changes: added, removed, replaced or swapped characters',
  async (t) => {
    const names = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5'];
    t.equal(nearest('gpt-4o-mni', names), 'gpt-4o-mini');
    t.equal(nearest('gtp-4o', names), 'gpt-4o', 'a swap is two changes');
    t.equal(nearest('GPT-4O', names), 'gpt-4o', 'case does not count');
    t.equal(nearest('claude-sonet-4.5', names), 'claude-sonnet-4-5');
  },
);

t.test('a name that has little in common with all candidates is near none', async (t) => {
  t.equal(nearest('llama', ['gpt-4o', 'claude']), null);
  t.equal(nearest('', ['a']), null);
  t.equal(nearest('abcdef', []), null);
  t.equal(nearest('abcdef', ['abcxyz'], 2), null, 'three changes, where two are allowed');
  t.equal(nearest('abcdef', ['abcdxy'], 2), 'abcdxy');
});

t.test('long texts are compared without delay', async (t) => {
  const long = 'x'.repeat(1_000_000);
  t.equal(nearest(long, [`${long}y`]), `${long}y`);
});
