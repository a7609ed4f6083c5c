/** The database's holds against the model that test/integration/platform/limiter/money-model.test.ts is made with. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { used, windowShape } from '#core/rate-limit/mod.ts';
import type { HoldRequest, Settlement } from '#platform/limiter/counter-store.ts';
import { modelCounter } from './model-store.ts';
import { limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
/** So long that nothing leaves it. */
const WINDOW_S = 86_400;
const HELD = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const MISSED = ['x', 'y', 'z'];

type Word = Omit<Settlement, 'organizationId'>;
type Step =
  | { kind: 'hold'; wish: Omit<HoldRequest, 'reservationId'>; words: Word[] }
  | { kind: 'settle'; words: Word[] }
  | { kind: 'missed'; id: string; estimateNano: number };

const amount = fc.nat(1_000);
const wordsOf = (minLength: number): fc.Arbitrary<Word[]> =>
  fc.uniqueArray(
    fc.record({
      reservationId: fc.constantFrom(...HELD, ...MISSED),
      costNano: fc.nat(4_000),
      revision: fc.integer({ min: 1, max: 4 }),
      isOpen: fc.boolean(),
    }),
    { minLength, maxLength: 4, selector: ({ reservationId }) => reservationId },
  );
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('hold' as const),
      wish: fc.record({
        estimatesNano: fc.array(amount, { maxLength: 4 }),
        prefetchNano: fc.nat(5_000),
        minPrefetchNano: fc.nat(2_000),
        shares: fc.integer({ min: 1, max: 6 }),
      }),
      words: wordsOf(0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      words: wordsOf(1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('missed' as const),
      id: fc.constantFrom(...MISSED),
      estimateNano: amount,
    }),
  },
);

t.test('the database reserves and settles as the model does', async () => {
  const store = world.store();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10_000 }),
      fc.array(step, { minLength: 1, maxLength: 20, size: 'max' }),
      async (quota, steps) => {
        const counter = makeCounter({ unit: 'cents' });
        const { organizationId } = counter;
        const ask = queryOf(counter, makePolicy(quota, WINDOW_S, 'cents'));
        const model = modelCounter(windowShape(WINDOW_S), quota);
        const ids = [...HELD];
        for (const step of steps) {
          if (step.kind === 'hold') {
            const wish = { ...step.wish, reservationId: ids.shift() ?? randomUUID() };
            const told = step.words.map((word) => ({ ...word, organizationId }));
            const { granted, prefetchedNano, used } = await store.reserve(ask, wish, told);
            const expected = model.reserve(wish, 0, told);
            if (
              granted !== expected.granted ||
              prefetchedNano !== expected.prefetchedNano ||
              used !== expected.used
            )
              return false;
          } else if (step.kind === 'settle') {
            const words = step.words.map((word) => ({ ...word, organizationId }));
            await store.settle(words);
            model.settle(words, 0);
          } else {
            const missed = [{ reservationId: step.id, estimateNano: step.estimateNano, ageMs: 0 }];
            await store.reserveDegraded(ask, missed);
            model.reserveDegraded(missed, 0);
          }
          if ((await store.peek(ask)).used !== used(model.window, 0)) return false;
        }
        return true;
      },
    ),
    { numRuns: 250, seed: 35 },
  );
});
