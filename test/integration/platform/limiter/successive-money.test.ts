/** Calls that follow one another under a limit in money: each is decided by what the earlier ones cost. `--full`: more. */
import { mock } from 'node:test';
import fc from 'fast-check';
import t from 'tap';
import { windowShape } from '#core/rate-limit/mod.ts';
import { seededRandom } from '../../../support/random.ts';
import { modelCounter } from './model-store.ts';
import { modelWorld } from './model-world.ts';
import { makeCounter, makePolicy } from './world.ts';

const SCHEDULES = process.argv.includes('--full') ? 5_000 : 200;
/** So long that nothing leaves it. */
const WINDOW_S = 86_400;
/** No call waits longer for its decision while the store answers. */
const LONGEST_WAIT_MS = 1_000;

const calls = fc.array(
  fc.record({
    estimateNano: fc.oneof(fc.integer({ min: 80, max: 120 }), fc.nat(3_000)),
    /** Of its estimate; null: nobody knows. */
    cost: fc.oneof(
      { weight: 4, arbitrary: fc.double({ min: 0, max: 2, noNaN: true }) },
      { weight: 1, arbitrary: fc.double({ min: 2, max: 200, noNaN: true }) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    durationMs: fc.oneof({ weight: 4, arbitrary: fc.nat(30) }, { weight: 1, arbitrary: fc.nat(3_000) }),
    /** Between the answer and the next call. */
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
  /** How long a statement takes each way: less than a call waits for it. */
  slownessMs: fc.constantFrom(0, 3, 20),
  seed: fc.nat(),
});

t.test(
  'of calls that follow one another one is let in exactly when the earlier ones cost less than the quota',
  async (t) => {
    let drawn = 0;
    let byShare = 0;
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
            fate: () => ({
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
            const isByShare = () => !isDecided() || world.admitted[admitted]?.isDegraded === true;
            if (isByShare()) {
              // The gateway took the store for slow and went by its own share, which is another rule.
              byShare += 1;
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
    t.equal(byShare, 0, 'no schedule is cut short by a share');
    t.ok(drawn > 0, 'some calls drew from what was reserved ahead');
  },
);
