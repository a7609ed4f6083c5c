import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startPolling } from '#platform/process/polling.ts';

/** Polling whose pieces of work end as the test says; time is the test's. */
function start(t: Test) {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const pieces: PromiseWithResolvers<boolean>[] = [];
  const errors: unknown[] = [];
  const polling = startPolling({
    everyMs: 1_000,
    work: () => {
      const piece = Promise.withResolvers<boolean>();
      pieces.push(piece);
      return piece.promise;
    },
    onError: (error) => errors.push(error),
  });
  return {
    ...polling,
    pieces,
    errors,
    /** Ends the last piece. */
    end: async (hasMore: boolean) => {
      pieces.at(-1)!.resolve(hasMore);
      await turn();
    },
  };
}

t.test('work is looked for after each interval, and at once when it is woken', async (t) => {
  const { wake, pieces, end, stop } = start(t);
  mock.timers.tick(999);
  t.equal(pieces.length, 0);
  mock.timers.tick(1);
  t.equal(pieces.length, 1);
  await end(false);
  mock.timers.tick(1_000);
  t.equal(pieces.length, 2);
  await end(false);
  wake();
  t.equal(pieces.length, 3);
  await end(false);
  await stop();
});

t.test('pieces follow each other at once until none is left, and two are never under way', async (t) => {
  const { wake, pieces, end, stop } = start(t);
  wake();
  mock.timers.tick(5_000);
  t.equal(pieces.length, 1, 'polls during a piece begin no other');
  await end(true);
  t.equal(pieces.length, 2);
  await end(true);
  t.equal(pieces.length, 3);
  await end(false);
  t.equal(pieces.length, 3);
  await stop();
});

t.test('a wake during the last piece has the work looked for once more', async (t) => {
  const { wake, pieces, end, stop } = start(t);
  wake();
  wake();
  wake();
  t.equal(pieces.length, 1);
  await end(false);
  t.equal(pieces.length, 2);
  await end(false);
  t.equal(pieces.length, 2);
  await stop();
});

t.test('work that fails is reported, and tried again at the next poll and not before', async (t) => {
  const { wake, pieces, errors, end, stop } = start(t);
  wake();
  const broken = new Error('broken');
  pieces[0]!.reject(broken);
  await turn();
  t.strictSame(errors, [broken]);
  t.equal(pieces.length, 1);
  mock.timers.tick(1_000);
  t.equal(pieces.length, 2);
  await end(false);
  await stop();
});

t.test('work that throws instead of rejecting is reported, and polling goes on', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const errors: unknown[] = [];
  const polling = startPolling({
    everyMs: 1_000,
    work: () => {
      throw new Error('broken');
    },
    onError: (error) => errors.push(error),
  });
  mock.timers.tick(1_000);
  mock.timers.tick(1_000);
  t.equal(errors.length, 2);
  await polling.stop();
});

t.test('a stop waits for the piece under way, after which none begins', async (t) => {
  const { wake, pieces, end, stop } = start(t);
  wake();
  let isStopped = false;
  const stopping = stop().then(() => {
    isStopped = true;
  });
  await turn();
  t.equal(isStopped, false);
  wake();
  await end(true);
  await stopping;
  mock.timers.tick(5_000);
  wake();
  t.equal(pieces.length, 1);
});
