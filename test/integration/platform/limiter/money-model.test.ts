/** Limits in money against a log of every call, with slow and lost statements and killed gateways. `--full`: more. */
import { mock } from 'node:test';
import fc from 'fast-check';
import t from 'tap';
import { windowShape } from '#core/rate-limit/mod.ts';
import { used } from '#core/rate-limit/window.ts';
import { seededRandom } from '../../../support/random.ts';
import { modelCounter } from './model-store.ts';
import { type AdmittedCall, type Delivery, type ModelGateway, modelWorld } from './model-world.ts';
import { makeCounter, makePolicy } from './world.ts';

const SCHEDULES = process.argv.includes('--full') ? 20_000 : 400;
/** Policies have a minute at least; in shorter windows more happens, between sub-buckets of 10 and 50 ms. */
const WINDOWS_S = [1, 5, 60];
/** How long a call counts: the window, its oldest sub-bucket whole. */
const keptMs = ({ windowS }: Schedule) => windowShape(windowS).widthMs * windowShape(windowS).depth;
/** How long a cost may wait to be reported, plus how long a refusal is repeated without a round trip. */
const STALE_MS = 110;

type Step = {
  waitMs: number;
  gateway: number;
  calls: number;
  estimateNano: number;
  /** As a factor of the estimate; null if unknown. */
  cost: number | null;
  durationMs: number;
  kills: boolean;
};
type Schedule = {
  windowS: number;
  gateways: number;
  quota: number;
  seed: number;
  connection: 'quick' | 'slow' | 'lossy';
  steps: Step[];
};

const waits = fc.oneof(
  { weight: 6, arbitrary: fc.nat(20) },
  { weight: 4, arbitrary: fc.nat(300) },
  { weight: 2, arbitrary: fc.nat(1_500) },
  { weight: 1, arbitrary: fc.integer({ min: 5_000, max: 70_000 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...WINDOWS_S.flatMap((s) => [s * 1_000 - 10, s * 1_000, s * 1_000 + 20])),
  },
);
const steps = fc.record({
  waitMs: waits,
  gateway: fc.nat(2),
  calls: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
    { weight: 2, arbitrary: fc.integer({ min: 4, max: 40 }) },
  ),
  estimateNano: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 80, max: 120 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
  ),
  cost: fc.oneof(
    { weight: 3, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: 1, max: 3, noNaN: true }) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  durationMs: fc.oneof(
    { weight: 3, arbitrary: fc.nat(50) },
    { weight: 1, arbitrary: fc.nat(3_000) },
    { weight: 1, arbitrary: fc.nat(90_000) },
  ),
  kills: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const schedules = fc.record({
  windowS: fc.constantFrom(...WINDOWS_S),
  gateways: fc.integer({ min: 1, max: 3 }),
  quota: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 100_000 })),
  seed: fc.nat(),
  connection: fc.constantFrom('quick' as const, 'slow' as const, 'lossy' as const),
  steps: fc.array(steps, { minLength: 5, maxLength: 40, size: 'max' }),
});

function deliveriesOf({ connection, seed }: Schedule): () => Delivery {
  const random = seededRandom(seed);
  return () => {
    const isSlow = connection !== 'quick' && random() < 0.1;
    const thereMs = Math.floor(random() * (isSlow ? 900 : 3));
    const backMs = Math.floor(random() * (isSlow ? 900 : 3));
    const luck = connection === 'lossy' && !isSlow ? random() : 1;
    return { thereMs, backMs, end: luck < 0.05 ? 'lost' : luck < 0.1 ? 'response lost' : 'answered' };
  };
}

async function replay(schedule: Schedule, { reportsAll = false } = {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const counter = modelCounter(windowShape(schedule.windowS), schedule.quota);
    const limit = {
      counter: makeCounter({ unit: 'cents' }),
      policy: makePolicy(schedule.quota, schedule.windowS, 'cents'),
    };
    const world = modelWorld(counter, limit, {
      gateways: schedule.gateways,
      deliver: deliveriesOf(schedule),
    });
    const gateways: ModelGateway[] = Array.from({ length: schedule.gateways }, () => world.start());
    let kills = 0;
    for (const { waitMs, gateway, calls, estimateNano, cost, durationMs, kills: isKill } of schedule.steps) {
      await world.pass(waitMs);
      const place = gateway % gateways.length;
      for (let call = 0; call < calls; call += 1) {
        gateways[place]!.call(
          estimateNano,
          cost === null ? null : Math.round(cost * estimateNano),
          durationMs,
        );
      }
      if (isKill) {
        gateways[place]!.kill();
        gateways[place] = world.start();
        kills += 1;
      }
    }
    // Until the last calls are admitted or refused.
    await world.pass(1_000);
    // Until the longest call has ended, and all is reported.
    if (reportsAll) for (let waits = 0; waits < 20; waits += 1) await world.pass(5_000, 250);
    for (const gateway of gateways) gateway.kill();
    return { counter, world, kills };
  } finally {
    mock.timers.reset();
  }
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** Returns what a call is known to use at a time, as if no estimate were too low. */
const valueAt = ({ settledMs, costNano, estimateNano }: AdmittedCall, atMs: number) =>
  settledMs !== null && settledMs <= atMs ? Math.min(costNano, estimateNano) : estimateNano;

/** Returns the most that a call can count for at a time or later. */
const mostAt = ({ settledMs, costNano, estimateNano }: AdmittedCall, atMs: number) =>
  settledMs !== null && settledMs <= atMs ? costNano : Math.max(costNano, estimateNano);

/**
 * Returns by how much any interval exceeds the quota when its last call is admitted, less the largest estimate. The calls
 * are in the order of their admission.
 */
function mostBeyond(calls: readonly AdmittedCall[], { quota, windowS }: Schedule): number {
  let most = Number.NEGATIVE_INFINITY;
  let first = 0;
  calls.forEach(({ atMs }, place) => {
    while (calls[first]!.atMs < atMs - windowS * 1_000) first += 1;
    let largest = 0;
    let value = 0;
    for (let each = first; each <= place; each += 1) {
      const call = calls[each]!;
      largest = Math.max(largest, call.estimateNano);
      value += valueAt(call, atMs);
    }
    most = Math.max(most, value - largest - quota);
  });
  return most;
}

t.test(
  'no interval of a window holds more than the quota and one call, apart from what estimates were too low',
  async (t) => {
    const seen = { admitted: 0, refused: 0, degraded: 0, reservations: 0, kills: 0 };
    await fc.assert(
      fc.asyncProperty(schedules, async (schedule) => {
        const { counter, world, kills } = await replay(schedule);
        seen.admitted += world.admitted.length;
        seen.refused += world.refused.length;
        seen.degraded += world.admitted.filter(({ isDegraded }) => isDegraded).length;
        seen.reservations += counter.reservations.size;
        seen.kills += kills;
        // Degraded gateways together may exceed the quota; one that is alone may not.
        const isAlone = schedule.gateways === 1 && kills === 0;
        return (
          mostBeyond(
            world.admitted.filter(({ isDegraded }) => isAlone || !isDegraded),
            schedule,
          ) < 0
        );
      }),
      { numRuns: SCHEDULES, seed: 31 },
    );
    t.comment(JSON.stringify(seen));
    t.ok(seen.refused > 10 * SCHEDULES && seen.kills > SCHEDULES / 2 && seen.degraded > SCHEDULES);
    const { admitted, degraded, reservations } = seen;
    t.ok(
      admitted - degraded > 2 * (reservations - degraded),
      'most calls draw from a hold that was reserved before',
    );
  },
);

t.test(
  'once all calls have ended, every reservation is settled, and their sum is what the calls cost',
  async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async (schedule) => {
        const steps = schedule.steps.map((step) => ({ ...step, kills: false }));
        const { counter, world } = await replay({ ...schedule, windowS: 3_600, steps }, { reportsAll: true });
        const settled = [...counter.reservations.values()].map(({ settled }) => settled ?? Number.NaN);
        const spent = sum(world.admitted.map(({ costNano }) => costNano));
        return sum(settled) === spent && used(counter.window, world.now()) === spent;
      }),
      { numRuns: SCHEDULES, seed: 32 },
    );
  },
);

t.test('a call is refused only when the quota is used, however much was prefetched', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const steps = schedule.steps.map((step) => ({ ...step, kills: false, gateway: 0 }));
      const { world } = await replay({ ...schedule, steps, gateways: 1, connection: 'quick' });
      return world.refused.every(({ askedMs, atMs }) => {
        const kept = world.admitted.filter(
          (call) => call.atMs <= atMs && atMs - call.atMs <= keptMs(schedule) + STALE_MS,
        );
        return sum(kept.map((call) => mostAt(call, askedMs - STALE_MS))) >= schedule.quota;
      });
    }),
    { numRuns: SCHEDULES, seed: 33 },
  );
});
