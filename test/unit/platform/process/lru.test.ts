import t from 'tap';
import { createLru } from '#platform/process/lru.ts';

t.test('a cache holds so many values, and lets go of the one that was used longest ago', async (t) => {
  const cache = createLru<{ n: number }>(3);
  for (let n = 1; n <= 3; n += 1) cache.set(String(n), { n });
  t.same(cache.get('1'), { n: 1 });
  cache.set('4', { n: 4 });
  t.same([...cache.keys()].sort(), ['1', '3', '4']);
  cache.set('3', { n: 33 });
  t.same([...cache.keys()].sort(), ['1', '3', '4'], 'a value in the place of another needs no room');
  for (let n = 0; n < 10_000; n += 1) cache.set(`more ${n}`, { n });
  t.equal(cache.size, 3);
});
