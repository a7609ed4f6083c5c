import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { createStoreCache, type StoreCache } from '#platform/postgres/store-cache.ts';

type Answer = { name: string; version: number };
type Asked = { name: string; answer(version: number | null): void; fail(error: Error): void };

/** A memory whose look-ups are answered when a test says so; it listens. */
function world() {
  let now = 0;
  const asked: Asked[] = [];
  const memory: StoreCache<string, Answer | null> = createStoreCache({
    clock: { now: () => now, monotonic: () => now },
    max: 100,
    failure: 'It cannot be known now',
    load: (name) => {
      const { promise, resolve, reject } = Promise.withResolvers<Answer | null>();
      const answer = (version: number | null) => resolve(version === null ? null : { name, version });
      asked.push({ name, answer, fail: reject });
      return promise;
    },
  });
  memory.onListening();
  const find = (name: string) => memory.find(name, name);
  return {
    ...memory,
    find,
    asked,
    advance: (ms: number) => {
      now += ms;
    },
    /** Makes an answer known. */
    learn: async (name: string, version: number | null) => {
      const waiting = find(name);
      asked.at(-1)!.answer(version);
      await waiting;
    },
  };
}

const away = () => Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });

t.test('concurrent look-ups of one key ask Postgres once, and later ones not at all', async (t) => {
  const { find, asked } = world();
  const waiting = Promise.all([find('a'), find('a'), find('a')]);
  t.equal(asked.length, 1);
  asked[0]!.answer(1);
  t.same(await waiting, Array(3).fill({ name: 'a', version: 1 }));
  t.same(find('a'), { name: 'a', version: 1 }, 'at once');
  t.equal(asked.length, 1);
});

t.test('a look-up that began before a change is neither cached nor awaited after it', async (t) => {
  for (const change of ['forget', 'revalidate', 'onListening'] as const) {
    const { find, asked, ...memory } = world();
    const before = find('a');
    if (change === 'forget') memory.forget(() => false);
    else memory[change]();
    const after = find('a');
    t.equal(asked.length, 2, `${change}: who comes later asks anew`);
    asked[1]!.answer(2);
    t.same(await after, { name: 'a', version: 2 });
    asked[0]!.answer(1);
    await before;
    t.same(find('a'), { name: 'a', version: 2 }, 'and the late answer replaces nothing');
  }
});

t.test('a changed value is not used while Postgres is unavailable, and unchanged ones are', async (t) => {
  const { find, forget, learn, asked, advance } = world();
  await learn('a', 1);
  await learn('b', 1);
  forget((id) => id === 'a');
  const waiting = find('a');
  asked.at(-1)!.fail(away());
  await t.rejects(Promise.resolve(waiting), {
    code: 'store_unavailable',
    message: 'It cannot be known now',
  });
  t.same(find('b'), { name: 'b', version: 1 });
  advance(30_000);
  const stale = find('b');
  asked.at(-1)!.fail(away());
  t.same(await stale, { name: 'b', version: 1 });
  t.same(find('b'), { name: 'b', version: 1 }, 'without asking, for a second');
});

t.test('every look-up asks Postgres while notifications of changes are lost', async (t) => {
  const { find, learn, asked, advance, onLost, onListening } = world();
  await learn('a', 1);
  t.same(find('a'), { name: 'a', version: 1 }, 'at once');
  onLost();
  t.ok(find('a') instanceof Promise);
  asked.at(-1)!.answer(2);
  await new Promise(setImmediate);
  t.ok(find('a') instanceof Promise);
  asked.at(-1)!.answer(3);
  await new Promise(setImmediate);
  advance(1);
  onListening();
  t.ok(find('a') instanceof Promise, 'also what may have changed before it was told again');
  asked.at(-1)!.answer(4);
  await new Promise(setImmediate);
  t.same(find('a'), { name: 'a', version: 4 });
});

t.test('a value that was not found is looked up again at the next call', async (t) => {
  const { find, learn, asked } = world();
  await learn('new', null);
  const found = find('new');
  asked.at(-1)!.answer(1);
  t.same(await found, { name: 'new', version: 1 });
});

t.test('a call that joined a look-up which found nothing has one that began after the call', async (t) => {
  const { find, asked } = world();
  const first = find('new');
  const joined = [find('new'), find('new')];
  t.equal(asked.length, 1);
  asked[0]!.answer(null);
  t.equal(await first, null);
  await new Promise(setImmediate);
  t.equal(asked.length, 2, 'one for both');
  asked[1]!.answer(1);
  t.same(await Promise.all(joined), Array(2).fill({ name: 'new', version: 1 }));
});

t.test('unknown ids evict no cached value, and more than 500 look-ups at a time are refused', async (t) => {
  const { find, learn, asked } = world();
  await learn('real', 1);
  for (let made = 0; made < 200; made += 1) await learn(`made-up-${made}`, null);
  t.same(find('real'), { name: 'real', version: 1 });
  const flood = Array.from({ length: 600 }, (_, index) => Promise.resolve(find(`flood-${index}`)));
  for (const { answer } of asked) answer(null);
  const settled = await Promise.allSettled(flood);
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  t.equal(refused.length, 100, 'beyond 500 at a time they are refused');
  t.ok(refused.every((error) => error instanceof AssayError && error.code === 'store_unavailable'));
});

t.test('a look-up that Postgres cancels has the known value, or fails as in an outage', async (t) => {
  const { find, learn, asked, advance } = world();
  const cancelled = () => Object.assign(new Error('canceling statement'), { code: '57014' });
  await learn('a', 1);
  advance(30_000);
  const known = find('a');
  asked.at(-1)!.fail(cancelled());
  t.same(await known, { name: 'a', version: 1 });
  const unknown = find('b');
  asked.at(-1)!.fail(cancelled());
  await t.rejects(Promise.resolve(unknown), { code: 'store_unavailable' });
});

t.test('the key cache passes on an error that is no outage', async (t) => {
  const { find, learn, asked, advance } = world();
  await learn('a', 1);
  advance(30_000);
  const waiting = find('a');
  asked.at(-1)!.fail(new TypeError('a mistake of ours'));
  await t.rejects(Promise.resolve(waiting), { message: 'a mistake of ours' });
});
