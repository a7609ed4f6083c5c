import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { WakeUp } from '#platform/process/wake-up.ts';

function start(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const wakeUp = new WakeUp();
  return {
    wakeUp,
    /** Begins a sleep; returns whether it has ended. */
    sleep: (ms: number) => {
      let hasEnded = false;
      void wakeUp.sleep(ms).then(() => {
        hasEnded = true;
      });
      return async () => {
        await turn();
        return hasEnded;
      };
    },
  };
}

t.test('a sleep ends when its time is over', async (t) => {
  const { sleep } = start(t);
  const hasEnded = sleep(1_000);
  mock.timers.tick(999);
  t.equal(await hasEnded(), false);
  mock.timers.tick(1);
  t.equal(await hasEnded(), true);
});

t.test('a wake-up ends the sleep under way, and no later one', async (t) => {
  const { wakeUp, sleep } = start(t);
  const first = sleep(1_000);
  wakeUp.wake();
  t.equal(await first(), true);
  const second = sleep(1_000);
  t.equal(await second(), false);
  mock.timers.tick(1_000);
  t.equal(await second(), true);
});

t.test('a wake-up between two sleeps ends the next one at once, and many of them are one', async (t) => {
  const { wakeUp, sleep } = start(t);
  wakeUp.wake();
  wakeUp.wake();
  t.equal(await sleep(1_000)(), true);
  t.equal(await sleep(1_000)(), false);
});

t.test('a sleep longer than a timer can be does not end at once', async (t) => {
  const { sleep } = start(t);
  t.equal(await sleep(2 ** 40)(), false);
});
