import t from 'tap';
import { Shelf } from '../../../../dashboard/workers/shelf.ts';

const kept = (shelf: Shelf<{ size: number }>, names: string[]) =>
  names.filter((name) => shelf.get(name) !== undefined);

t.test('A shelf gives up what was not used for the longest time', async (t) => {
  const shelf = new Shelf<{ size: number }>(2, 100);
  shelf.put('a', { size: 1 });
  shelf.put('b', { size: 1 });
  shelf.get('a');
  shelf.put('c', { size: 1 });
  t.same(kept(shelf, ['a', 'b', 'c']), ['a', 'c']);
});

t.test('A shelf holds no more than its size, but the newest whatever its size', async (t) => {
  const shelf = new Shelf<{ size: number }>(9, 10);
  shelf.put('a', { size: 6 });
  shelf.put('b', { size: 4 });
  t.same(kept(shelf, ['a', 'b']), ['a', 'b']);
  shelf.put('c', { size: 50 });
  t.same(kept(shelf, ['a', 'b', 'c']), ['c']);
});
