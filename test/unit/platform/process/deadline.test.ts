import { spawnSync } from 'node:child_process';
import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { settlesWithin, withDeadline } from '#platform/process/deadline.ts';

const forever = () => new Promise<never>(() => {});

t.test(
  'work that settles before its deadline settles the promise, with its value or its error',
  async (t) => {
    t.equal(await withDeadline(sleep(5, 'done'), 10_000, () => 'late'), 'done');
    await t.rejects(
      withDeadline(Promise.reject(new Error('broken')), 10_000, () => 'late'),
      { message: 'broken' },
    );
  },
);

t.test('work that does not settle in time is replaced by the value or the error of onLate', async (t) => {
  t.equal(await withDeadline(forever(), 5, () => 'late'), 'late');
  const late = () => {
    throw new Error('too late');
  };
  await t.rejects(withDeadline(forever(), 5, late), { message: 'too late' });
});

t.test('work that fails after its deadline is no unhandled rejection', async (t) => {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', listener);
  t.teardown(() => process.off('unhandledRejection', listener));
  const { promise, reject } = Promise.withResolvers<void>();
  t.equal(await settlesWithin(promise, 5), false);
  reject(new Error('much later'));
  await sleep(20);
  t.same(unhandled, []);
});

t.test('a result that arrives while the process stands still is in time', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const result = withDeadline(promise, 100, () => 'late');
  mock.timers.tick(5_000);
  resolve('read after the timer fired');
  t.equal(await result, 'read after the timer fired');
});

t.test('settlesWithin returns whether the work settled, and rejects as the work does', async (t) => {
  t.equal(await settlesWithin(sleep(5), 10_000), true);
  t.equal(await settlesWithin(forever(), 5), false);
  await t.rejects(settlesWithin(Promise.reject(new Error('broken')), 10_000), { message: 'broken' });
});

t.test('a deadline holds the process only until the work has settled', async (t) => {
  const run = (work: string, waitMs: number) => {
    const source = `import { settlesWithin } from '#platform/process/deadline.ts';
      console.log(await settlesWithin(${work}, ${waitMs}));`;
    const startedAt = performance.now();
    const { stdout } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', source], {
      encoding: 'utf8',
    });
    return { said: stdout.trim(), tookMs: performance.now() - startedAt };
  };
  const settled = run('Promise.resolve()', 60_000);
  t.equal(settled.said, 'true');
  t.ok(settled.tookMs < 30_000, `ended after ${Math.round(settled.tookMs)} ms`);
  t.equal(run('new Promise(() => {})', 20).said, 'false', 'work without a handle is waited for');
});
