import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { StoreLateError } from '#platform/postgres/availability.ts';
import { createAvailability } from '#platform/postgres/mod.ts';

type Options = Parameters<typeof createAvailability>[0];

/** A store in a time of its own. */
function world(options: Partial<Options> = {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 1_000_000;
  const heard: string[] = [];
  const store = createAvailability({
    clock: { monotonic: () => nowMs },
    patienceMs: 100,
    recovery: { pauseMs: 1_000 },
    onAway: (error) => heard.push(`away: ${(error as Error).message}`),
    onBack: () => heard.push('back'),
    ...options,
  });
  return {
    store,
    heard,
    /** Lets time pass; with `stalled`, in one leap that the timers see at its end. */
    pass: async (ms: number, stalled = false) => {
      if (stalled) nowMs += ms;
      for (let left = ms; left > 0; left -= 10) {
        if (!stalled) nowMs += 10;
        mock.timers.tick(10);
        await turn();
        await turn();
      }
    },
  };
}

t.afterEach(() => mock.timers.reset());

const gone = () => Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
const silent = () => new Promise<never>(() => {});

t.test('a failing store is away until a pause after its last failure', async (t) => {
  const { store, heard, pass } = world();
  t.equal(await store.attempt(async () => 7), 7);
  t.notOk(store.isAway());
  await t.rejects(
    store.attempt(() => Promise.reject(gone())),
    { message: 'gone' },
  );
  t.ok(store.isAway());
  await pass(990);
  t.ok(store.isAway());
  store.report(gone());
  await pass(990);
  t.ok(store.isAway(), 'each failure begins the pause anew');
  await pass(20);
  t.notOk(store.isAway());
  t.same(heard, ['away: gone'], 'an outage is told once');
});

t.test("an error that is the statement's own is passed on, and the store is not away", async (t) => {
  const { store, heard } = world();
  await t.rejects(
    store.attempt(() => Promise.reject(new TypeError('a mistake'))),
    { message: 'a mistake' },
  );
  store.report(new TypeError('a mistake'));
  t.notOk(store.isAway());
  t.same(heard, []);
});

t.test('the caller may count every error as an outage', async (t) => {
  const { store } = world({ isOutage: () => true });
  await t.rejects(store.attempt(() => Promise.reject(new TypeError('a mistake'))));
  t.ok(store.isAway());
});

t.test('a late attempt rejects as unavailable, and onLate gets its result', async (t) => {
  const { store, heard, pass } = world();
  const { promise, resolve } = Promise.withResolvers<string>();
  const late: string[] = [];
  const attempt = t.rejects(
    store.attempt(() => promise, { onLate: (result) => late.push(result) }),
    new StoreLateError(100),
  );
  await pass(90);
  t.notOk(store.isAway());
  await pass(10);
  await attempt;
  t.ok(store.isAway());
  t.same(heard, ['away: no answer within 100 ms']);
  resolve('at last');
  await turn();
  t.same(late, ['at last']);
});

t.test('an attempt may have its own timeout', async (t) => {
  const { store, pass } = world();
  const attempt = t.rejects(store.attempt(silent, { patienceMs: 500 }), {
    message: 'no answer within 500 ms',
  });
  await pass(400);
  t.notOk(store.isAway());
  await pass(100);
  await attempt;
});

t.test(
  'a store that answered another attempt meanwhile is busy and not away, where the caller says so',
  async (t) => {
    for (const sparesBusyStore of [true, false]) {
      const { store, pass } = world({ sparesBusyStore });
      const attempt = t.rejects(store.attempt(silent));
      await pass(50);
      await store.attempt(async () => 'answered');
      await pass(50);
      await attempt;
      t.equal(store.isAway(), !sparesBusyStore);
      mock.timers.reset();
    }
  },
);

t.test('a wait is restarted after a stall of the process, if the caller sets stallMs', async (t) => {
  const { store, pass } = world({ stallMs: 50 });
  const attempt = t.rejects(store.attempt(silent));
  await pass(5_000, true);
  t.ok(store.isAway(), 'the second wait was no stall');
  await attempt;
  mock.timers.reset();

  const stalled = world({ stallMs: 50 });
  const { promise, resolve } = Promise.withResolvers<string>();
  const answered = stalled.store.attempt(() => promise);
  await stalled.pass(160, true);
  resolve('answered after the stall');
  t.equal(await answered, 'answered after the stall');
  t.notOk(stalled.store.isAway());
});

t.test('a probe is sent less and less often, until one is answered and the return is done', async (t) => {
  const sentAt: number[] = [];
  let elapsedMs = 0;
  let answer: 'gone' | 'silent' | 'ok' = 'gone';
  let returns: 'fails' | 'ok' = 'fails';
  const { store, heard, pass } = world({
    recovery: {
      firstMs: 250,
      longestMs: 1_000,
      probe: () => {
        sentAt.push(elapsedMs);
        return answer === 'gone'
          ? Promise.reject(gone())
          : answer === 'silent'
            ? silent()
            : Promise.resolve();
      },
      onReturn: () => (returns === 'fails' ? Promise.reject(gone()) : Promise.resolve()),
    },
  });
  const until = async (ms: number) => {
    for (; elapsedMs < ms; ) {
      elapsedMs += 10;
      await pass(10);
    }
  };
  store.report(gone());
  await until(1_000);
  t.same(sentAt, [250, 750]);
  answer = 'silent';
  await until(2_000);
  answer = 'ok';
  await until(2_900);
  t.same(sentAt.slice(2), [1_750, 2_850], 'a silent probe is waited for');
  t.ok(store.isAway(), 'while the return fails');
  returns = 'ok';
  await until(3_900);
  t.notOk(store.isAway());
  t.same(heard, ['away: gone', 'back']);
  t.equal(sentAt.length, 5, 'no more probes');
});

t.test('a reset ends an outage at once, and after a stop nothing is reported', async (t) => {
  const { store, heard } = world();
  store.report(gone());
  store.reset();
  t.notOk(store.isAway());
  store.stop();
  store.report(gone());
  t.notOk(store.isAway());
  t.same(heard, ['away: gone']);
});
