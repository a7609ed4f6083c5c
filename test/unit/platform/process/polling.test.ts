import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startPolling } from '#platform/process/polling.ts';

/** Polling whose pieces of work end as the test says; time is the test's. */
function start(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const pieces: PromiseWithResolvers<number>[] = [];
  const errors: unknown[] = [];
  const polling = startPolling({
    work: () => {
      const piece = Promise.withResolvers<number>();
      pieces.push(piece);
      return piece.promise;
    },
    onError: (error) => errors.push(error),
  });
  return {
    ...polling,
    pieces,
    errors,
    /** Ends the last piece; `nextMs`: when to look again. */
    end: async (nextMs: number) => {
      pieces.at(-1)!.resolve(nextMs);
      await turn();
    },
    /** Ends polling, whose last piece is under way. */
    finish: async () => {
      const stopping = polling.stop();
      pieces.at(-1)!.resolve(0);
      await stopping;
    },
    pass: async (ms: number) => {
      mock.timers.tick(ms);
      await turn();
    },
    wakeUp: async () => {
      polling.wake();
      await turn();
    },
  };
}

t.test('work is looked for at the start, when it is due, and at once when it is woken', async (t) => {
  const { wakeUp, pieces, end, pass, finish } = start(t);
  t.equal(pieces.length, 1);
  await end(30_000);
  await pass(29_999);
  t.equal(pieces.length, 1);
  await pass(1);
  t.equal(pieces.length, 2);
  await end(500);
  await pass(500);
  t.equal(pieces.length, 3);
  await end(30_000);
  await wakeUp();
  t.equal(pieces.length, 4);
  await finish();
});

t.test('pieces follow each other at once until none is left, and two are never under way', async (t) => {
  const { pieces, end, pass, finish } = start(t);
  await pass(60_000);
  t.equal(pieces.length, 1, 'time that passes during a piece begins no other');
  await end(0);
  t.equal(pieces.length, 2);
  await end(0);
  t.equal(pieces.length, 3);
  await end(1_000);
  t.equal(pieces.length, 3);
  await pass(1_000);
  await finish();
});

t.test('a wake during the last piece has the work looked for once more', async (t) => {
  const { wakeUp, pieces, end, pass, finish } = start(t);
  await wakeUp();
  await wakeUp();
  t.equal(pieces.length, 1);
  await end(1_000);
  t.equal(pieces.length, 2);
  await end(1_000);
  t.equal(pieces.length, 2);
  await pass(1_000);
  await finish();
});

t.test('work that fails is reported, and tried again after a second and not before', async (t) => {
  const { pieces, errors, pass, finish } = start(t);
  const broken = new Error('broken');
  pieces[0]!.reject(broken);
  await turn();
  t.strictSame(errors, [broken]);
  await pass(999);
  t.equal(pieces.length, 1);
  await pass(1);
  t.equal(pieces.length, 2);
  await finish();
});

t.test('work that throws instead of rejecting is reported, and polling goes on', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const errors: unknown[] = [];
  const polling = startPolling({
    work: () => {
      throw new Error('broken');
    },
    onError: (error) => errors.push(error),
    retryMs: 5,
  });
  await turn();
  mock.timers.tick(5);
  await turn();
  t.equal(errors.length, 2);
  await polling.stop();
});

t.test('a stop waits for the piece under way, after which none begins', async (t) => {
  const { wake, pieces, end, pass, stop } = start(t);
  let isStopped = false;
  const stopping = stop().then(() => {
    isStopped = true;
  });
  await turn();
  t.equal(isStopped, false);
  wake();
  await end(0);
  await stopping;
  await pass(60_000);
  wake();
  t.equal(pieces.length, 1);
});

t.test('a stop ends a sleep', async (t) => {
  const { pieces, end, stop } = start(t);
  await end(3_600_000);
  await stop();
  t.equal(pieces.length, 1);
});
