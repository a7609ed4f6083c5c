import t from 'tap';
import { ByIndex } from '#core/chat/streams/by-index.ts';

t.test('ByIndex lists values by their index, in whatever order they came', async (t) => {
  const values = new ByIndex<string>();
  for (const index of [2, 0, 1]) values.at(index, (at) => `value ${at}`);
  t.same(values.list(), ['value 0', 'value 1', 'value 2']);
  t.equal(values.next, 3);
});

t.test('ByIndex makes a value once for an index, and takes an index that is no number for 0', async (t) => {
  const values = new ByIndex<{ index: number }>();
  const first = values.at('x', (index) => ({ index }));
  t.equal(
    values.at(0, (index) => ({ index })),
    first,
  );
  t.equal(values.find(null), first);
  t.equal(values.find(1), undefined);
  t.same(values.list(), [{ index: 0 }]);
});

t.test('ByIndex holds one value for an index of 1e300, not a list of that length', async (t) => {
  const values = new ByIndex<string>();
  t.ok(values.isEmpty);
  values.at(1e300, () => 'far');
  t.same(values.list(), ['far']);
  t.notOk(values.isEmpty);
});

t.test(
  'ByIndex.begin keeps the earlier value of an index in front; find and replace mean the later one',
  async (t) => {
    const values = new ByIndex<string>();
    values.begin(1, 'earlier');
    values.begin(1, 'later');
    values.begin(0, 'first');
    t.equal(values.find(1), 'later');
    values.replace(1, 'replaced');
    values.replace(5, 'new');
    t.same(values.list(), ['first', 'earlier', 'replaced', 'new']);
  },
);
