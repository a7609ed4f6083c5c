import fc from 'fast-check';
import t from 'tap';
import { drawOrder, type Weighted } from '../../../../gateway/routing/draw.ts';
import { seededRandom } from '../../../support/random.ts';

const weighted = (weights: Record<string, number>): Weighted<string>[] =>
  Object.entries(weights).map(([item, weight]) => ({ item, weight }));

/** Returns the number of times each order occurs in `draws`. */
function countOrders(weights: Record<string, number>, draws: number, seed: number): Map<string, number> {
  const random = seededRandom(seed);
  const counts = new Map<string, number>();
  for (let draw = 0; draw < draws; draw += 1) {
    const order = drawOrder(weighted(weights), random).join('');
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  return counts;
}

/** The chance of an order, drawn one after the other by weight from what is left. */
function chanceOf(order: string, weights: Record<string, number>): number {
  let left = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  let chance = 1;
  for (const item of order) {
    chance *= weights[item]! / left;
    left -= weights[item]!;
  }
  return chance;
}

function ordersOf(items: string): string[] {
  if (items.length < 2) return [items];
  return [...items].flatMap((item) => ordersOf(items.replace(item, '')).map((rest) => item + rest));
}

const DRAWS = 60_000;
/** Chi-square that is exceeded once in 10,000 times by chance alone, by degrees of freedom. */
const BOUNDS: Record<number, number> = { 1: 15.14, 5: 25.74, 23: 55.7 };

t.test('random orders occur as often as their weights require', async (t) => {
  for (const weights of [
    { a: 7, b: 3 },
    { a: 1, b: 999 },
    { a: 0.5, b: 0.25, c: 0.25 },
    { a: 70, b: 20, c: 10 },
    { a: 1, b: 1, c: 1, d: 5 },
  ] as Record<string, number>[]) {
    const counts = countOrders(weights, DRAWS, 6);
    const orders = ordersOf(Object.keys(weights).join(''));
    const chiSquare = orders.reduce((sum, order) => {
      const expected = DRAWS * chanceOf(order, weights);
      return sum + ((counts.get(order) ?? 0) - expected) ** 2 / expected;
    }, 0);
    const bound = BOUNDS[orders.length - 1]!;
    t.ok(chiSquare < bound, `${JSON.stringify(weights)}: chi-square ${chiSquare.toFixed(2)} of ${bound}`);
  }
});

t.test('items of weight 0 come last, in their given order', async (t) => {
  for (const [order, count] of countOrders({ a: 0, b: 1, c: 0, d: 1 }, 1_000, 1)) {
    t.match(order, /^(?:bd|db)ac$/, `${count} times`);
  }
  t.same([...countOrders({ a: 0, b: 0, c: 0 }, 100, 1).keys()], ['abc']);
});

t.test('each item is drawn exactly once, whatever the weights and the random numbers', async () => {
  const weight = fc.oneof(
    fc.constantFrom(0, 1, 1e-9, 1_000_000),
    fc.double({ min: 0, max: 1e6, noNaN: true }),
  );
  fc.assert(
    fc.property(
      fc.array(weight, { maxLength: 10 }),
      fc.constantFrom(0, 0.5, 1 - 2 ** -53),
      (weights, chance) => {
        const order = drawOrder(
          weights.map((given, item) => ({ item, weight: given })),
          () => chance,
        );
        if (order.length !== weights.length || new Set(order).size !== weights.length)
          throw new Error(order.join());
        const firstLight = order.findIndex((item) => weights[item] === 0);
        if (firstLight >= 0 && order.slice(firstLight).some((item) => weights[item]! > 0))
          throw new Error(order.join());
      },
    ),
    { numRuns: 3_000 },
  );
});
