import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { createGathered } from '#platform/postgres/gathered.ts';

type Statement = { inputs: readonly number[]; end(): void; fail(error: Error): void };

/** A look-up of numbers, whose statements end when a test says so; the value of a number is its text. */
function world() {
  const statements: Statement[] = [];
  const find = createGathered<number, string>({
    load: (inputs) => {
      const { promise, resolve, reject } = Promise.withResolvers<string[]>();
      statements.push({ inputs, end: () => resolve(inputs.map(String)), fail: reject });
      return promise;
    },
  });
  return { find, statements };
}

t.test('look-ups that come while two statements run share the next one', async (t) => {
  const { find, statements } = world();
  const found = Promise.all([1, 2, 3, 4, 5].map(find));
  t.same(
    statements.map(({ inputs }) => inputs),
    [[1], [2]],
  );
  statements[1]!.end();
  await nextTurn();
  t.same(statements[2]!.inputs, [3, 4, 5]);
  for (const { end } of statements) end();
  t.same(await found, ['1', '2', '3', '4', '5']);
});

t.test('a statement looks up a thousand values at most', async (t) => {
  const { find, statements } = world();
  const found = Promise.all(Array.from({ length: 2_502 }, (_, index) => find(index)));
  for (let ended = 0; ended < statements.length; ended += 1) {
    statements[ended]!.end();
    await nextTurn();
  }
  t.same(
    statements.map(({ inputs }) => inputs.length),
    [1, 1, 1_000, 1_000, 500],
  );
  t.equal((await found).at(-1), '2501');
});

t.test('a statement that fails fails its own look-ups, and the next ones go on', async (t) => {
  const { find, statements } = world();
  const settled = Promise.allSettled([1, 2, 3, 4].map(find));
  statements[0]!.fail(new Error('gone'));
  await nextTurn();
  statements[2]!.fail(new Error('gone, too'));
  await nextTurn();
  const later = find(5);
  statements[1]!.end();
  statements[3]!.end();
  t.same(
    (await settled).map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ['gone', '2', 'gone, too', 'gone, too'],
  );
  t.equal(await later, '5');
});
