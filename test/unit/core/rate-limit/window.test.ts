import fc from 'fast-check';
import t from 'tap';
import {
  charge,
  correct,
  createWindow,
  remaining,
  resetAfterMs,
  retryAfterMs,
  windowShape,
} from '#core/rate-limit/mod.ts';
import { used } from '#core/rate-limit/window.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { admit, subBuckets } from '../../../support/window-model.ts';

const SCHEDULES = 10_000;

/** Windows of seconds, so that a schedule crosses many. The shapes are those of policies in minutes and of logs. */
const SHAPES = [
  { windowMs: 60_000, shape: windowShape(60) },
  { windowMs: 61_000, shape: windowShape(61) },
  { windowMs: 5_000, shape: windowShape(5) },
  { windowMs: 70, shape: { widthMs: 10, depth: 8 } },
  { windowMs: 65, shape: { widthMs: 10, depth: 8 } },
];

type Step = { waitMs: number; quota: number };
type Entry = { atMs: number; amount: number };

/** Steps of time relative to the window: bursts, trickles, idle time, a clock that steps back or forth. */
const waits = (windowMs: number, widthMs: number) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 4, arbitrary: fc.nat(widthMs) },
    { weight: 3, arbitrary: fc.nat(Math.floor(windowMs / 3)) },
    { weight: 1, arbitrary: fc.constantFrom(windowMs - 1, windowMs, windowMs + 1, widthMs - 1, widthMs) },
    { weight: 1, arbitrary: fc.integer({ min: windowMs, max: 3 * windowMs }) },
    { weight: 1, arbitrary: fc.integer({ min: -2 * windowMs, max: -1 }) },
  );

const schedules = fc
  .record({
    kind: fc.constantFrom(...SHAPES),
    startMs: fc.nat(1_000_000),
    quota: fc.integer({ min: 1, max: 12 }),
  })
  .chain(({ kind, startMs, quota }) =>
    fc.record({
      kind: fc.constant(kind),
      startMs: fc.constant(startMs + 1_000_000),
      steps: fc.array(
        fc.record({
          waitMs: waits(kind.windowMs, kind.shape.widthMs),
          quota: fc.oneof(
            { weight: 9, arbitrary: fc.constant(quota) },
            { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
          ),
        }),
        { minLength: 1, maxLength: 60, size: 'max' },
      ),
    }),
  );

/** Returns the exact amount, by a log of times, in the interval of `windowMs` that ends now; both ends belong to it. */
const inInterval = (log: readonly Entry[], nowMs: number, windowMs: number) =>
  log.reduce((sum, { atMs, amount }) => (atMs >= nowMs - windowMs ? sum + amount : sum), 0);

t.test(
  'no interval of the window ever holds more than the quota, and refusals err by at most one sub-bucket',
  async (t) => {
    const parameters = runs(t, SCHEDULES);
    let admissions = 0;
    let refusals = 0;
    fc.assert(
      fc.property(schedules, ({ kind: { windowMs, shape }, startMs, steps }) => {
        const window = createWindow(shape);
        const log: Entry[] = [];
        let clockMs = startMs;
        let nowMs = 0;
        for (const { waitMs, quota } of steps as Step[]) {
          clockMs += waitMs;
          // The window's time stands still while the clock is behind.
          nowMs = Math.max(nowMs, clockMs);
          const before = inInterval(log, nowMs, windowMs);
          // The interval plus one sub-bucket, and what rounding its width up to a millisecond adds.
          const kept = inInterval(log, nowMs, shape.widthMs * shape.depth);
          const isAdmitted = admit(window, clockMs, 1, quota);
          if (isAdmitted) {
            log.push({ atMs: nowMs, amount: 1 });
            admissions += 1;
            if (before + 1 > quota) return false;
          } else {
            refusals += 1;
            if (kept < quota) return false;
          }
        }
        return true;
      }),
      parameters,
    );
    t.ok(Math.min(admissions, refusals) > parameters.numRuns, `${admissions} admitted, ${refusals} refused`);
  },
);

t.test('a window counts at most one sub-bucket more than its interval', async (t) => {
  for (const { windowMs, shape } of SHAPES) {
    const spanMs = shape.widthMs * shape.depth - windowMs;
    t.ok(spanMs <= shape.widthMs + shape.depth, `${windowMs} ms: ${spanMs} ms beyond`);
  }
  t.ok(
    (windowShape(5).widthMs * windowShape(5).depth) / 5_000 <= 1.02,
    'at most 2 % of logs are refused needlessly',
  );
});

t.test(
  'retryAfterMs is the earliest time of the next admission, and resetAfterMs the earliest time the window is empty',
  async (t) => {
    fc.assert(
      fc.property(schedules, ({ kind: { shape }, startMs, steps }) => {
        const window = createWindow(shape);
        let nowMs = startMs;
        for (const { waitMs, quota } of steps as Step[]) {
          nowMs += Math.max(0, waitMs);
          admit(window, nowMs, 1, quota);
          const copy = () => ({ ...window, counts: window.counts.slice() });
          const wait = retryAfterMs(window, nowMs, quota);
          if ((wait === 0) !== remaining(window, nowMs, quota) > 0) return false;
          if (wait > 0) {
            if (admit(copy(), nowMs + wait - 1, 1, quota)) return false;
            if (!admit(copy(), nowMs + wait, 1, quota)) return false;
          }
          const reset = resetAfterMs(window, nowMs);
          if (reset > 0 && used(copy(), nowMs + reset - 1) === 0) return false;
          if (used(copy(), nowMs + reset) !== 0) return false;
        }
        return true;
      }),
      runs(t, SCHEDULES / 5),
    );
  },
);

t.test('a clock that steps back frees nothing, and later calls count at the latest time seen', async (t) => {
  const window = createWindow({ widthMs: 10, depth: 7 });
  charge(window, 1_000, 3);
  t.equal(used(window, 100), 3);
  t.notOk(admit(window, 100, 1, 3));
  t.ok(admit(window, 100, 1, 4));
  t.equal(used(window, 1_069), 4);
  t.equal(used(window, 1_070), 0);
});

t.test(
  'a correction changes the sub-bucket that was charged, and nothing once that has left the window',
  async (t) => {
    const window = createWindow({ widthMs: 10, depth: 7 });
    charge(window, 1_000, 50);
    charge(window, 1_030, 20);
    correct(window, 1_005, -45);
    t.same(subBuckets(window), [
      { lastMs: 1_009, amount: 5 },
      { lastMs: 1_039, amount: 20 },
    ]);
    correct(window, 1_005, 100);
    t.equal(used(window, 1_069), 125);
    t.equal(used(window, 1_070), 20);
    correct(window, 1_005, -105);
    t.equal(used(window, 1_070), 20);
  },
);
