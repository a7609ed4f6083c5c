import fc from 'fast-check';
import t from 'tap';
import { compareStructures, leavesOf, MOST_PATHS } from '../../../../../dashboard/parts/diff/structure.ts';

t.test('documents differ in a field exactly when they are not equal', async () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (one, other) => {
      const plain = [one, other].map((value) => JSON.parse(JSON.stringify(value)) as unknown);
      const isEqual = JSON.stringify(sorted(plain[0])) === JSON.stringify(sorted(plain[1]));
      return (compareStructures(plain).differences.length === 0) === isEqual;
    }),
    { numRuns: 2_000 },
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return {
    members: Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  };
}

t.test('a difference names its path and the value of each document', async (t) => {
  const { differences, isCut } = compareStructures([
    { model: 'a', messages: [{ role: 'user' }], n: 1 },
    { model: 'b', messages: [{ role: 'user' }, {}] },
  ]);
  t.same(differences, [
    { path: 'model', values: ['"a"', '"b"'] },
    { path: 'n', values: ['1', undefined] },
    { path: 'messages.1', values: [undefined, '{}'] },
  ]);
  t.equal(isCut, false);
});

t.test('a name with a dot is not taken for two names', async (t) => {
  t.equal(compareStructures([{ 'a.b': 1 }, { a: { b: 1 } }]).differences.length, 2);
  t.equal(compareStructures([{ 0: 1 }, [1]]).differences.length, 2);
});

t.test(
  'a large document is compared as far as the limit, and a deep one is not descended for ever',
  async (t) => {
    t.same([...leavesOf({ a: [] }).leaves], [['a', '[]']]);
    const { leaves, isCut } = leavesOf(Array.from({ length: MOST_PATHS + 1 }, (_, index) => index));
    t.equal(leaves.size, MOST_PATHS);
    t.equal(isCut, true);
    let deep: unknown = 1;
    for (let depth = 0; depth < 1_000; depth++) deep = { a: deep };
    t.equal(leavesOf(deep).leaves.size, 1);
  },
);
