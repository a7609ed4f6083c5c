/** The next state of an evaluation for a table of outcomes, and properties of all of them. */
import fc from 'fast-check';
import t from 'tap';
import {
  EVALUATION_ERROR_CODES,
  type Evaluated,
  type Outcome,
  PAUSE_REASONS,
  SKIP_REASONS,
} from '#core/scoring/mod.ts';
import {
  DEAD,
  MAX_ATTEMPTS,
  type NextState,
  nextState,
  PAUSED,
  postponed,
  skipped,
} from '../../../../evaluators/queue/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';

type Failed = Extract<Outcome, { state: 'failed' }>;

const COMPLETED: Extract<Outcome, { state: 'completed' }> = {
  state: 'completed',
  score: 0.7,
  label: 'good',
  reasoning: 'It is.',
  traces: 'seen\n',
  flags: ['repaired'],
};

const failed = (given: Partial<Failed> = {}): Failed => ({
  state: 'failed',
  code: 'judge_unavailable',
  message: 'The judge answered 503',
  retry: 'later',
  retryAfterMs: null,
  pause: null,
  traces: null,
  ...given,
});

/** Returns the next state, with the jitter at this point of its range. */
const transition = (outcome: Outcome, attempt = 1, jitter = 0): NextState =>
  nextState({ outcome, use: null } satisfies Evaluated, attempt, () => jitter);

t.test('a completed outcome is written unchanged', async (t) => {
  t.match(transition(COMPLETED), {
    state: 'completed',
    score: 0.7,
    label: 'good',
    reasoning: 'It is.',
    traces: 'seen\n',
    flags: ['repaired'],
    errorCode: null,
    errorMessage: null,
    pause: null,
    isUncounted: false,
  });
  t.match(transition({ ...COMPLETED, score: 0, label: null }), { state: 'completed', score: 0, label: null });
});

t.test('an evaluation with nothing to score is skipped, with the reason', async (t) => {
  for (const reason of SKIP_REASONS) {
    const message = `Because of ${reason}`;
    const expected = { state: 'skipped', errorCode: reason, errorMessage: message, score: null, pause: null };
    t.match(transition({ state: 'skipped', reason, message }, MAX_ATTEMPTS), expected);
    t.match(skipped(reason, message), expected);
  }
});

t.test(
  'a passing failure is retried with a growing backoff, and is dead after the last attempt',
  async (t) => {
    t.equal(MAX_ATTEMPTS, 5);
    const waits = [5_000, 20_000, 80_000, 300_000];
    for (const [index, dueInMs] of waits.entries()) {
      t.match(transition(failed(), index + 1), {
        state: 'pending',
        dueInMs,
        isUncounted: false,
        errorCode: 'judge_unavailable',
        errorMessage: 'The judge answered 503',
      });
      t.equal(transition(failed(), index + 1, 0.5).dueInMs, dueInMs * 1.1, 'the jitter spreads retries');
    }
    for (const attempt of [MAX_ATTEMPTS, MAX_ATTEMPTS + 1]) {
      t.match(transition(failed(), attempt), { state: 'dead', errorCode: 'judge_unavailable', score: null });
    }
  },
);

t.test('a retry waits at least as long as the Retry-After of the provider, however long', async (t) => {
  const limited = (retryAfterMs: number) => failed({ code: 'judge_rate_limited', retryAfterMs });
  t.equal(transition(limited(60_000), 1).dueInMs, 60_000);
  t.equal(
    transition(limited(3_600_000), 1).dueInMs,
    3_600_000,
    'a Retry-After beyond the longest backoff is respected',
  );
  t.equal(transition(limited(1_000), 1).dueInMs, 5_000, 'a short Retry-After does not shorten the backoff');
  t.equal(transition(limited(0), 2).dueInMs, 20_000);
  t.equal(transition(limited(60_000), MAX_ATTEMPTS).state, 'dead');
});

t.test('a permanent failure is an error without a retry', async (t) => {
  for (const code of EVALUATION_ERROR_CODES) {
    t.match(transition(failed({ code, retry: 'never', traces: 'seen\n' })), {
      state: 'error',
      errorCode: code,
      traces: 'seen\n',
      score: null,
      pause: null,
    });
  }
});

t.test('a failure that concerns every request pauses the evaluator, at any attempt', async (t) => {
  for (const pause of PAUSE_REASONS) {
    for (const retry of ['never', 'later'] as const) {
      for (const attempt of [1, MAX_ATTEMPTS, MAX_ATTEMPTS + 3]) {
        const {
          state,
          pause: paused,
          errorCode,
        } = transition(failed({ code: 'judge_unauthorized', pause, retry }), attempt);
        t.same([state, paused, errorCode], ['paused', pause, 'judge_unauthorized']);
      }
    }
  }
});

t.test('PAUSED and postponed do not count as an attempt, DEAD does', async (t) => {
  t.match(PAUSED, { state: 'paused', isUncounted: true, pause: null, score: null });
  t.match(postponed(1_234), {
    state: 'pending',
    dueInMs: 1_234,
    isUncounted: true,
    errorCode: 'budget_exhausted',
    pause: null,
  });
  t.match(DEAD, { state: 'dead', isUncounted: false, errorCode: 'worker_lost', pause: null });
});

t.test(
  'only a completed evaluation has a score, messages are printable and short, and delays are bounded',
  async () => {
    const outcome: fc.Arbitrary<Outcome> = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((score): Outcome => ({ ...COMPLETED, score })),
      fc.record({
        state: fc.constant('skipped' as const),
        reason: fc.constantFrom(...SKIP_REASONS),
        message: fc.string({ unit: anyCharacter, maxLength: 700 }),
      }),
      fc.record({
        state: fc.constant('failed' as const),
        code: fc.constantFrom(...EVALUATION_ERROR_CODES),
        message: fc.string({ unit: anyCharacter, maxLength: 700 }),
        retry: fc.constantFrom('never' as const, 'later' as const),
        retryAfterMs: fc.option(fc.nat(86_400_000)),
        pause: fc.option(fc.constantFrom(...PAUSE_REASONS)),
        traces: fc.option(fc.string()),
      }),
    );
    const point = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(outcome, fc.integer({ min: 1, max: 10 }), point, (given, attempt, jitter) => {
        const { state, score, errorMessage, dueInMs, pause } = transition(given, attempt, jitter);
        const longest = given.state === 'failed' ? Math.max(300_000, given.retryAfterMs ?? 0) * 1.2 : 0;
        return (
          (score !== null) === (state === 'completed') &&
          (score === null || Object.is(score, (given as typeof COMPLETED).score)) &&
          (errorMessage === null) === (state === 'completed') &&
          // biome-ignore lint/suspicious/noControlCharactersInRegex: the very ones that must not be there
          !/[\u0000-\u001f\u007f]/.test(errorMessage ?? '') &&
          (errorMessage ?? '').length <= 500 &&
          Number.isInteger(dueInMs) &&
          dueInMs >= 0 &&
          dueInMs <= Math.ceil(longest) &&
          (dueInMs === 0 || state === 'pending') &&
          (pause === null || state === 'paused')
        );
      }),
      { numRuns: 500 },
    );
  },
);
