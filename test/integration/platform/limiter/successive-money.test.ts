/** Successive calls under a limit in money are decided by what the earlier ones cost. `--full`: more. */
import { mock } from 'node:test';
import fc from 'fast-check';
import t from 'tap';
import { windowShape } from '#core/rate-limit/mod.ts';
import { seededRandom } from '../../../support/random.ts';
import { modelCounter } from './model-store.ts';
import { modelWorld } from './model-world.ts';
import { makeCounter, makePolicy } from './world.ts';

const SCHEDULES = process.argv.includes('--full') ? 5_000 : 200;
/** Long enough that nothing leaves it. */
const WINDOW_S = 86_400;
/** Longest wait for a decision while the store answers. */
const LONGEST_WAIT_MS = 1_000;

const calls = fc.array(
  fc.record({
    estimateNano: fc.oneof(fc.integer({ min: 80, max: 120 }), fc.nat(3_000)),
    /** As a factor of the estimate; null if unknown. */
    cost: fc.oneof(
      { weight: 4, arbitrary: fc.double({ min: 0, max: 2, noNaN: true }) },
      { weight: 1, arbitrary: fc.double({ min: 2, max: 200, noNaN: true }) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    durationMs: fc.oneof({ weight: 4, arbitrary: fc.nat(30) }, { weight: 1, arbitrary: fc.nat(3_000) }),
    /** Pause between the end of the call and the next. */
    pauseMs: fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.nat(60) },
      { weight: 1, arbitrary: fc.nat(400) },
    ),
  }),
  { minLength: 5, maxLength: 60, size: 'max' },
);
const schedules = fc.record({
  calls,
  quota: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 200_000 })),
  /** Delay of a statement each way: less than the store timeout. */
  slownessMs: fc.constantFrom(0, 3, 20),
  seed: fc.nat(),
});

t.test('a call is admitted exactly when the earlier, ended calls cost less than the quota', async (t) => {
  let drawn = 0;
  let degraded = 0;
  await fc.assert(
    fc.asyncProperty(schedules, async ({ calls, quota, slownessMs, seed }) => {
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        const random = seededRandom(seed);
        const counter = modelCounter(windowShape(WINDOW_S), quota);
        const limit = {
          counter: makeCounter({ unit: 'cents' }),
          policy: makePolicy(quota, WINDOW_S, 'cents'),
        };
        const world = modelWorld(counter, limit, {
          gateways: 1,
          deliver: () => ({
            thereMs: Math.floor(random() * slownessMs),
            backMs: Math.floor(random() * slownessMs),
            end: 'answered',
          }),
        });
        const gateway = world.start();
        let spent = 0;
        for (const { estimateNano, cost, durationMs, pauseMs } of calls) {
          const admitted = world.admitted.length;
          const refused = world.refused.length;
          const costNano = cost === null ? null : Math.round(cost * estimateNano);
          gateway.call(estimateNano, costNano, durationMs);
          const isDecided = () => world.admitted.length + world.refused.length > admitted + refused;
          for (let waits = 0; !isDecided() && waits < LONGEST_WAIT_MS; waits += 1) await world.pass(1);
          const isDegraded = () => !isDecided() || world.admitted[admitted]?.isDegraded === true;
          if (isDegraded()) {
            // The store was too slow and the gateway degraded, which follows another rule.
            degraded += 1;
            return true;
          }
          if (world.admitted.length > admitted !== spent < quota) return false;
          const call = world.admitted[admitted];
          if (call !== undefined) {
            while (call.settledMs === null) await world.pass(Math.max(1, Math.ceil(durationMs / 10)));
            spent += call.costNano;
          }
          if (pauseMs > 0) await world.pass(pauseMs);
        }
        drawn += world.admitted.length - counter.reservations.size;
        gateway.kill();
        return true;
      } finally {
        mock.timers.reset();
      }
    }),
    {
      numRuns: SCHEDULES,
      endOnFailure: true,
      ...(process.env.ASSAY_SEED && { seed: Number(process.env.ASSAY_SEED) }),
    },
  );
  t.equal(degraded, 0, 'no schedule is cut short by a degraded decision');
  t.ok(drawn > 0, 'some calls drew from a prefetched hold');
});
