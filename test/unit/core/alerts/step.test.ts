import fc from 'fast-check';
import t from 'tap';
import { countedGapMs } from '#core/alerts/mod.ts';
import { type LevelState, NO_DATA, type Observation, OK, type StepRule, step } from '#core/alerts/step.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const MINUTE_MS = 60_000;

type Seen = { observation: Observation; elapsedMs: number };

const seen: fc.Arbitrary<Seen> = fc.record({
  observation: fc.constantFrom<Observation>('exceeded', 'exceeded', 'clear', 'missing'),
  elapsedMs: fc.integer({ min: 0, max: 3 }).map((minutes) => minutes * MINUTE_MS),
});
const rules: fc.Arbitrary<StepRule> = fc.record({
  forMs: fc.integer({ min: 0, max: 5 }).map((minutes) => minutes * MINUTE_MS),
  noData: fc.constantFrom(...NO_DATA),
});

/** Runs the machine, and returns what each evaluation told. */
function run(rule: StepRule, evaluations: readonly Seen[]) {
  let state: LevelState = OK;
  let nowMs = 0;
  return evaluations.map(({ observation, elapsedMs }) => {
    nowMs += elapsedMs;
    const next = step(state, observation, rule, { nowMs, elapsedMs });
    state = next.state;
    return next.event;
  });
}

/** The same by the definition: an alert fires when all since the first exceeded evaluation are, and long enough. */
function expected({ forMs, noData }: StepRule, evaluations: readonly Seen[]) {
  const meaning = { ok: 'clear', alert: 'exceeded', keep: 'missing' } as const;
  const meant = evaluations.map((one) => ({
    ...one,
    observation: one.observation === 'missing' ? meaning[noData] : one.observation,
  }));
  let isFiring = false;
  return meant.map(({ observation }, index) => {
    if (observation === 'missing') return null;
    const told = meant.slice(0, index + 1).filter((one) => one.observation !== 'missing');
    const lastClear = told.findLastIndex((one) => one.observation === 'clear');
    const held = told.slice(lastClear + 2).reduce((sum, one) => sum + one.elapsedMs, 0);
    const isNow = observation === 'exceeded' && (isFiring || held >= forMs);
    const event = isNow === isFiring ? null : isNow ? 'fired' : 'resolved';
    isFiring = isNow;
    return event;
  });
}

t.test('fired and resolved alternate, and come exactly when the definition says so', async (t) => {
  fc.assert(
    fc.property(rules, fc.array(seen, { maxLength: 60 }), (rule, evaluations) => {
      const events = run(rule, evaluations);
      const told = events.filter((event) => event !== null);
      const isAlternating = told.every((event, index) => event === (index % 2 === 0 ? 'fired' : 'resolved'));
      return isAlternating && JSON.stringify(events) === JSON.stringify(expected(rule, evaluations));
    }),
    runs(t, 2_000),
  );
});

t.test(
  'a value that flaps never fires while no stretch beyond the threshold lasts long enough',
  async (t) => {
    const flapping = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 20 });
    fc.assert(
      fc.property(flapping, (stretches) => {
        const rule: StepRule = { forMs: 4 * MINUTE_MS, noData: 'ok' };
        // A stretch of n evaluations a minute apart lasts n - 1 minutes.
        const evaluations = stretches.flatMap((length) => [
          ...Array.from({ length }, () => ({ observation: 'exceeded' as const, elapsedMs: MINUTE_MS })),
          { observation: 'clear' as const, elapsedMs: MINUTE_MS },
        ]);
        return run(rule, evaluations).every((event) => event === null);
      }),
      runs(t, 500),
    );
  },
);

t.test('without a time to hold, the first value beyond the threshold fires', async (t) => {
  const rule: StepRule = { forMs: 0, noData: 'ok' };
  t.same(step(OK, 'exceeded', rule, { nowMs: 7, elapsedMs: 0 }), {
    state: { kind: 'firing', sinceMs: 7 },
    event: 'fired',
  });
});

t.test('time between two evaluations counts up to three minutes, and never less than nothing', async (t) => {
  t.equal(countedGapMs(0, MINUTE_MS), MINUTE_MS);
  t.equal(countedGapMs(0, 60 * MINUTE_MS), 3 * MINUTE_MS);
  t.equal(countedGapMs(MINUTE_MS, 0), 0);
});
