/** The database's holds against the model with which test/integration/platform/limiter/money-model.test.ts tests gateways. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { windowShape } from '#core/rate-limit/mod.ts';
import { used } from '#core/rate-limit/window.ts';
import type { HoldRequest, Settlement } from '#platform/limiter/counter-store.ts';
import { modelCounter } from './model-store.ts';
import { limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
/** Long enough that nothing leaves it. */
const WINDOW_S = 86_400;
const HOLD_IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const DEGRADED_IDS = ['x', 'y', 'z'];

type Report = Omit<Settlement, 'organizationId'>;
type Step =
  | { kind: 'hold'; request: Omit<HoldRequest, 'reservationId'>; settlements: Report[] }
  | { kind: 'settle'; settlements: Report[] }
  | { kind: 'degraded'; id: string; estimateNano: number };

const amount = fc.nat(1_000);
const reportsOf = (minLength: number): fc.Arbitrary<Report[]> =>
  fc.uniqueArray(
    fc.record({
      reservationId: fc.constantFrom(...HOLD_IDS, ...DEGRADED_IDS),
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
      request: fc.record({
        estimatesNano: fc.array(amount, { maxLength: 4 }),
        prefetchNano: fc.nat(5_000),
        minPrefetchNano: fc.nat(2_000),
        shares: fc.integer({ min: 1, max: 6 }),
      }),
      settlements: reportsOf(0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      settlements: reportsOf(1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('degraded' as const),
      id: fc.constantFrom(...DEGRADED_IDS),
      estimateNano: amount,
    }),
  },
);

t.test('the SQL functions reserve and settle exactly as the model does', async () => {
  const store = world.store();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10_000 }),
      fc.array(step, { minLength: 1, maxLength: 20, size: 'max' }),
      async (quota, steps) => {
        const counter = makeCounter({ unit: 'cents' });
        const { organizationId } = counter;
        const query = queryOf(counter, makePolicy(quota, WINDOW_S, 'cents'));
        const model = modelCounter(windowShape(WINDOW_S), quota);
        const ids = [...HOLD_IDS];
        for (const step of steps) {
          if (step.kind === 'hold') {
            const request = { ...step.request, reservationId: ids.shift() ?? randomUUID() };
            const settlements = step.settlements.map((report) => ({ ...report, organizationId }));
            const { granted, prefetchedNano, used } = await store.reserve(query, request, settlements);
            const expected = model.reserve(request, 0, settlements);
            if (
              granted !== expected.granted ||
              prefetchedNano !== expected.prefetchedNano ||
              used !== expected.used
            )
              return false;
          } else if (step.kind === 'settle') {
            const settlements = step.settlements.map((report) => ({ ...report, organizationId }));
            await store.settle(settlements);
            model.settle(settlements, 0);
          } else {
            const calls = [{ reservationId: step.id, estimateNano: step.estimateNano, ageMs: 0 }];
            await store.reserveDegraded(query, calls);
            model.reserveDegraded(calls, 0);
          }
          if ((await store.peek(query)).used !== used(model.window, 0)) return false;
        }
        return true;
      },
    ),
    { numRuns: 250, seed: 35 },
  );
});

t.test('a reservation that is given up twice in one statement is given back once', async (t) => {
  const store = world.store();
  const counter = makeCounter({ unit: 'cents' });
  const { organizationId } = counter;
  const query = queryOf(counter, makePolicy(10_000, WINDOW_S, 'cents'));
  const request = { prefetchNano: 0, minPrefetchNano: 0, shares: 1 };
  const reserve = (reservationId: string, estimate: number, settlements: Settlement[]) =>
    store.reserve(query, { ...request, reservationId, estimatesNano: [estimate] }, settlements);
  // A gateway gives up a reservation whose answer does not come, and again when it comes after all.
  const givenUp = (reservationId: string) => {
    const settlement = { organizationId, reservationId, costNano: 0, revision: 1, isOpen: false };
    return [settlement, settlement];
  };
  await reserve('kept', 3_000, []);
  await reserve('late', 500, []);
  await store.settle(givenUp('late'));
  t.equal((await store.peek(query)).used, 3_000);
  await reserve('late too', 700, []);
  await reserve('next', 20, givenUp('late too'));
  t.equal((await store.peek(query)).used, 3_020);
});
