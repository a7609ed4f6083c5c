import t from 'tap';
import { isCurrent, NAVIGATION } from '../../../../../dashboard/parts/frame/navigation.ts';

t.test('each page of the navigation has a key of its own', async (t) => {
  const keys = NAVIGATION.map(({ key }) => key);
  t.same(keys, [...new Set(keys)]);
  for (const key of keys) t.match(key, /^[a-z]$/);
});

t.test(
  'an item is marked on its page and on pages below it, and on no page that is merely named alike',
  async (t) => {
    const marked = (path: string) =>
      NAVIGATION.filter((item) => isCurrent(item.path, path)).map(({ label }) => label);
    t.same(marked('/'), ['Overview']);
    t.same(marked('/requests'), ['Requests']);
    t.same(marked('/requests/a/b'), ['Requests']);
    t.same(marked('/requests-of-old'), []);
    t.same(marked('/settings'), []);
  },
);
