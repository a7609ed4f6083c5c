import fc from 'fast-check';
import t from 'tap';
import { nextSort, readSort } from '../../../../../dashboard/parts/table/sort.ts';

void t.test('the address names a column, and with a minus the largest first', async (t) => {
  t.same(readSort('cost'), { column: 'cost', descending: false });
  t.same(readSort('-cost'), { column: 'cost', descending: true });
  t.equal(readSort(''), null);
  t.equal(readSort(undefined), null);
});

void t.test('three clicks on a title are the largest first, the smallest first, and as before', async (t) => {
  const column = fc.stringMatching(/^[a-z_]{1,20}$/);
  fc.assert(
    fc.property(column, column, (name, other) => {
      const first = nextSort(name, other === name ? null : readSort(other));
      t.equal(first, `-${name}`);
      const second = nextSort(name, readSort(first!));
      t.equal(second, name);
      t.equal(nextSort(name, readSort(second!)), null);
    }),
  );
});
