/** Random scripts of outcomes against a few lines that say what should come of them. */
import fc from 'fast-check';
import t from 'tap';
import type { ErrorCode } from '#core/contracts/errors.ts';
import { createCircuitBreaker } from '../../../../gateway/routing/mod.ts';
import {
  type CallOptions,
  candidateOf,
  type Ending,
  startCall,
  Time,
} from '../../../integration/gateway/routing/world.ts';
import { runs } from '../../../support/fuzz-runs.ts';

const RUNS = 800;
const MODELS = ['a', 'b', 'c', 'd'];

const STATUSES = [200, 204, 302, 400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529];
const CODES: ErrorCode[] = [
  'provider_unreachable',
  'provider_timeout',
  'provider_bad_answer',
  'internal_error',
];
const AGAIN = new Set<number | ErrorCode>([
  408,
  409,
  429,
  500,
  503,
  529,
  'provider_unreachable',
  'provider_timeout',
]);
const ELSEWHERE = new Set<number | ErrorCode>([...AGAIN, 401, 402, 403, 404, 'provider_bad_answer']);

const ending: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ status: fc.constantFrom(...STATUSES) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      status: fc.constantFrom(408, 429, 503),
      headers: fc.record({ 'retry-after': fc.constantFrom('0', '1', '10', '11', 'soon') }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ fails: fc.constantFrom(...CODES) }) },
  { weight: 1, arbitrary: fc.record({ breaksOff: fc.constantFrom(...CODES) }) },
  { weight: 1, arbitrary: fc.record({ breaksOffLate: fc.constantFrom(...CODES) }) },
);

const call: fc.Arbitrary<CallOptions & { retries: number }> = fc
  .record({ models: fc.integer({ min: 1, max: MODELS.length }), retries: fc.integer({ min: 0, max: 3 }) })
  .chain(({ models, retries }) => {
    const tries = fc.array(ending, { minLength: retries + 1, maxLength: retries + 1 });
    return fc.record({
      script: fc.record(Object.fromEntries(MODELS.slice(0, models).map((model) => [model, tries]))),
      retries: fc.constant(retries),
      isSynchronous: fc.boolean(),
      random: fc.double({ min: 0, max: 0.999, noNaN: true }).map((value) => () => value),
    });
  });

/** Null: it is an answer that nothing can follow. */
function failureOf(outcome: Ending, canFollow: boolean): number | ErrorCode | null {
  if (outcome === 'hangs' || 'breaksOffLate' in outcome) return null;
  if ('fails' in outcome) return outcome.fails;
  if ('breaksOff' in outcome) return canFollow ? outcome.breaksOff : null;
  return outcome.status < 400 ? null : outcome.status;
}

function isLongWait(outcome: Ending): boolean {
  return typeof outcome === 'object' && 'headers' in outcome && outcome.headers?.['retry-after'] === '11';
}

/** Returns the models that should be attempted, in order. */
function expectedTries({ script, retries }: CallOptions & { retries: number }): string[] {
  const tries: string[] = [];
  const models = Object.keys(script);
  for (const [place, model] of models.entries()) {
    const isLast = place === models.length - 1;
    for (const [before, outcome] of script[model]!.entries()) {
      tries.push(model);
      const failure = failureOf(outcome, before < retries || !isLast);
      if (failure === null) return tries;
      if (before < retries && AGAIN.has(failure) && !isLongWait(outcome)) continue;
      if (!ELSEWHERE.has(failure)) return tries;
      break;
    }
  }
  return tries;
}

const triesIn = (events: readonly string[]) =>
  events.filter((event) => event.startsWith('try ')).map((event) => event.slice(4));
const isHeard = (event: string) => / of [a-d]$/.test(event);

t.test(
  'the attempts of a random call follow from the outcomes, and the relay gets exactly the last one',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(call, async (options) => {
        const made = startCall(options);
        await made.finish();
        const { events, attempts, time } = made;
        const tries = triesIn(events);
        const expected = expectedTries(options);
        if (tries.join() !== expected.join()) throw new Error(`${events.join(', ')}; expected ${expected}`);
        const heard = events.filter(isHeard);
        if (heard.length !== 1) throw new Error(`heard ${heard.length} times: ${events.join(', ')}`);
        if (!heard[0]!.endsWith(` of ${tries.at(-1)}`)) throw new Error(`not the last: ${events.join(', ')}`);
        const after = events.slice(events.indexOf(heard[0]!) + 1);
        if (after.some((event) => event.startsWith('try'))) throw new Error(`tried on: ${events.join(', ')}`);
        const isPlain =
          tries.length === 1 && options.retries === 0 && Object.keys(options.script).length === 1;
        if (attempts.length !== (isPlain ? 0 : tries.length))
          throw new Error(`told of ${attempts.length} tries`);
        if (time.timers > 0) throw new Error('a timer is left');
      }),
      runs(t, RUNS),
    );
  },
);

t.test('after a client disconnects at any moment nothing is sent to it and no attempt begins', async (t) => {
  await fc.assert(
    fc.asyncProperty(call, fc.nat({ max: 40 }), async (options, steps) => {
      const call = startCall({ ...options, isSynchronous: false });
      const { events, step, abort, finish, time } = call;
      for (let taken = 0; taken < steps; taken += 1) await step();
      await abort();
      const before = events.length;
      const tries = triesIn(events).length;
      const told = call.attempts.length;
      if (time.timers > 0) throw new Error('a timer is left');
      await finish();
      await abort();
      if (events.length > before) throw new Error(`after it had left: ${events.slice(before).join(', ')}`);
      if (call.attempts.length !== told) throw new Error('a try was told of after it had left');
      const isPlain = options.retries === 0 && Object.keys(options.script).length === 1;
      if (!isPlain && told !== tries) throw new Error(`${tries} tries, of which ${told} were told of`);
    }),
    runs(t, RUNS),
  );
});

t.test('with a shared circuit breaker in any state each call ends once, within its attempts', async (t) => {
  const ORIGINS = ['http://x.test', 'http://y.test'];
  const world = fc.record({
    calls: fc.array(call, { minLength: 1, maxLength: 25 }),
    origins: fc.array(fc.constantFrom(...ORIGINS), { minLength: MODELS.length, maxLength: MODELS.length }),
    pauses: fc.array(fc.constantFrom(0, 10, 4_999, 5_000, 61_000), { minLength: 25, maxLength: 25 }),
    leavers: fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ calls, origins, pauses, leavers }) => {
      const time = new Time();
      const breaker = createCircuitBreaker({ clock: time.clock });
      for (const [at, options] of calls.entries()) {
        const models = Object.keys(options.script);
        const candidates = models.map((model, place) => candidateOf(model, origins[place]));
        const made = startCall({ ...options, candidates, time, breaker });
        if (leavers[at]) await made.abort();
        await made.finish();
        const heard = made.events.filter(isHeard).length;
        if (!leavers[at] && heard !== 1) throw new Error(`heard ${heard} times: ${made.events.join(', ')}`);
        const tries = triesIn(made.events).length;
        if (tries < 1 || tries > models.length * (1 + options.retries)) throw new Error(`${tries} tries`);
        time.pass(pauses[at]!);
      }
      // No call is under way, so none is a probe: after the longest pause one call may probe.
      time.pass(60_000);
      for (const origin of ORIGINS) {
        const { kind } = breaker.admit(origin);
        if (kind === 'open') throw new Error(`a probe was lost: ${origin} is never tried again`);
      }
    }),
    runs(t, RUNS / 4),
  );
});
