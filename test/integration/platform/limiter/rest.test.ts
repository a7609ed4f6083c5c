/** The background work of a limiter: frequent while it is used, seldom while it rests. */
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { CounterStore } from '#platform/limiter/counter-store.ts';
import { createMaintenance } from '#platform/limiter/maintenance.ts';

/** Maintenance whose rounds are counted; time is the test's. */
function start(t: Test, processId: string | null) {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const rounds = { tidy: 0, beats: 0, sweeps: 0 };
  const store: Partial<CounterStore> = {
    heartbeat: async () => {
      rounds.beats += 1;
      return 1;
    },
    deleteExpired: async () => {
      rounds.sweeps += 1;
      return 0;
    },
  };
  const maintenance = createMaintenance({
    clock: { now: () => 0, monotonic: () => 0 },
    store: store as CounterStore,
    processId,
    gateways: 1,
    closeHolds: () => {
      rounds.tidy += 1;
    },
  });
  maintenance.start({ isUnavailable: () => false, reportFailure: () => {} });
  t.teardown(() => maintenance.stop());
  return {
    maintenance,
    rounds,
    /** Returns the rounds in these seconds. */
    pass: async (seconds: number) => {
      const before = { ...rounds };
      for (let passedMs = 0; passedMs < seconds * 1_000; passedMs += 250) {
        mock.timers.tick(250);
        await turn();
      }
      return {
        tidy: rounds.tidy - before.tidy,
        beats: rounds.beats - before.beats,
        sweeps: rounds.sweeps - before.sweeps,
      };
    },
  };
}

t.test('a gateway without calls only shows that it is alive, and sweeps once a minute', async (t) => {
  const { pass } = start(t, 'one');
  t.same(await pass(60), { tidy: 0, beats: 12, sweeps: 1 });
});

t.test(
  'a call ends the rest at once, and five seconds after the last one the limiter rests again',
  async (t) => {
    const { maintenance, rounds, pass } = start(t, 'one');
    await pass(60);
    const { beats } = rounds;
    maintenance.noteUse();
    t.equal(rounds.beats, beats + 1, 'the number of gateways is read at once');
    t.same(await pass(4), { tidy: 16, beats: 2, sweeps: 0 });
    maintenance.noteUse();
    await pass(5.25);
    t.match(await pass(10), { tidy: 0, beats: 2 });
  },
);

t.test('a process that is no gateway asks for nothing while it rests', async (t) => {
  const { maintenance, pass } = start(t, null);
  t.match(await pass(50), { tidy: 0, beats: 0 });
  maintenance.noteUse();
  t.match(await pass(4), { tidy: 16, beats: 2 });
});
