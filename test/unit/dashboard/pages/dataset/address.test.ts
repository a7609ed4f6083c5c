import t from 'tap';
import { itemQuery, readDifference, readVersion } from '../../../../../dashboard/pages/dataset/address.ts';

t.test('the address says which items are shown; what is empty or no version is left out', async (t) => {
  t.same(itemQuery({ version: '3', split: 'test', cluster: 'c', search: 'box', item: 'x' }), {
    version: 3,
    split: 'test',
    cluster: 'c',
    search: 'box',
  });
  t.same(itemQuery({ version: 'x', split: '' }), {});
  t.same(['0', '007', '-1', '1.5', '123456', undefined].map(readVersion), [
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
});

t.test('two versions are compared when both are named and differ; version 0 is empty', async (t) => {
  t.same(readDifference({ from: '0', to: '1' }), { from: 0, to: 1 });
  t.same(readDifference({ from: '3', to: '2' }), { from: 3, to: 2 });
  t.equal(readDifference({ from: '2', to: '2' }), null);
  t.equal(readDifference({ from: '1', to: '0' }), null);
  t.equal(readDifference({ to: '2' }), null);
});
