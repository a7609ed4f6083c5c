/** Detectable differences, corrected differences, and win rates. */
import fc from 'fast-check';
import t from 'tap';
import { correctedDifference } from '#core/statistics/corrected.ts';
import { singleGroups } from '#core/statistics/groups.ts';
import { permutationTest } from '#core/statistics/permutation.ts';
import { detectableDifference, detectableFromError } from '#core/statistics/power.ts';
import { seededRandom } from '#core/statistics/random.ts';
import { type Preference, settleOrders, winRateOf } from '#core/statistics/win-rate.ts';
import { normal } from '../../../bench/statistics/draws.ts';

t.test('a difference of the detectable size is found in four of five experiments', async (t) => {
  const random = seededRandom(12);
  const count = 60;
  const mean = detectableDifference(1, count)!;
  let found = 0;
  for (let experiment = 0; experiment < 300; experiment += 1) {
    const values = Array.from({ length: count }, () => normal(random) + mean);
    if (permutationTest(singleGroups(values), { seed: experiment, permutations: 500 }).pValue <= 0.05)
      found += 1;
  }
  // Three standard errors of a share of 0.8 in 300 are 0.07.
  t.ok(Math.abs(found / 300 - 0.8) < 0.07, `${found} of 300`);
});

t.test('what can be detected follows the spread and the number of pairs', async (t) => {
  t.ok(Math.abs(detectableDifference(3, 100)! - 3 * detectableDifference(1, 100)!) < 1e-12);
  t.ok(Math.abs(detectableFromError(0.1, 100)! - detectableDifference(1, 100)!) < 1e-12);
  t.ok(detectableDifference(1, 400)! < detectableDifference(1, 100)! / 1.9);
  t.ok(detectableDifference(1, 100, { power: 0.9 })! > detectableDifference(1, 100)!);
  t.ok(detectableDifference(1, 100, { alpha: 0.01 })! > detectableDifference(1, 100)!);
  t.equal(detectableDifference(1, 5), null, 'no difference of so few is found');
  t.ok(detectableDifference(1, 6)! > detectableDifference(1, 7)!);
});

const TABLE = { truePositive: 90, falsePositive: 20, falseNegative: 10, trueNegative: 80 };
const corrected = (input: Partial<Parameters<typeof correctedDifference>[0]>) =>
  correctedDifference({ difference: 0.07, error: 0.03, confusion: TABLE, alpha: 0.05, ...input });

t.test(
  "a corrected difference is the judge's over its skill, with an interval that is wider than the judge's",
  async (t) => {
    const result = corrected({});
    t.ok(result.difference !== null && Math.abs(result.difference - 0.1) < 1e-12);
    if (result.difference === null) return;
    t.ok(result.interval.high - result.interval.low > (2 * 1.96 * 0.03) / 0.7);
    const mirrored = corrected({ difference: -0.07 });
    t.ok(mirrored.difference !== null && Math.abs(mirrored.interval.low + result.interval.high) < 1e-12);
  },
);

t.test(
  'a corrected difference is null with a reason when the judge cannot be told from chance',
  async (t) => {
    t.match(corrected({ confusion: null }), { difference: null, reason: /people rated none/ });
    t.match(corrected({ confusion: { ...TABLE, falsePositive: 0, trueNegative: 0 } }), {
      reason: /no bad one/,
    });
    t.match(corrected({ confusion: { ...TABLE, truePositive: 20, falseNegative: 80 } }), {
      reason: /no better than chance/,
    });
    const few = { truePositive: 2, falsePositive: 1, falseNegative: 1, trueNegative: 2 };
    t.match(corrected({ confusion: few }), { reason: /too few/ });
  },
);

t.test('a corrected difference lies between −1 and 1, within its interval', async () => {
  const count = fc.nat(60);
  fc.assert(
    fc.property(
      fc.tuple(count, count, count, count),
      fc.double({ min: -1, max: 1, noNaN: true }),
      ([a, b, c, d], difference) => {
        const result = corrected({
          difference,
          confusion: { truePositive: a, falsePositive: b, falseNegative: c, trueNegative: d },
        });
        if (result.difference === null) return true;
        const { low, high } = result.interval;
        return -1 <= low && low <= result.difference && result.difference <= high && high <= 1;
      },
    ),
  );
});

t.test('a judge whose two orders disagree prefers neither answer', async (t) => {
  t.equal(settleOrders('candidate', 'candidate'), 'candidate');
  t.equal(settleOrders('baseline', 'baseline'), 'baseline');
  for (const [one, other] of [
    ['candidate', 'baseline'],
    ['tie', 'candidate'],
    ['baseline', 'tie'],
    ['tie', 'tie'],
  ] as const) {
    t.equal(settleOrders(one, other), 'tie');
  }
});

t.test('a win rate counts ties by half, and swapping the sides mirrors it', async (t) => {
  t.match(winRateOf(['candidate', 'candidate', 'tie', 'baseline']), {
    wins: 2,
    ties: 1,
    losses: 1,
    rate: 0.625,
  });
  t.match(winRateOf([]), { rate: null, interval: null, pValue: null });
  const swap = { candidate: 'baseline', baseline: 'candidate', tie: 'tie' } as const;
  const preference = fc.constantFrom<Preference>('candidate', 'baseline', 'tie');
  fc.assert(
    fc.property(fc.array(preference, { minLength: 1, maxLength: 60 }), (preferences) => {
      const [one, other] = [winRateOf(preferences), winRateOf(preferences.map((side) => swap[side]))];
      const [low, high] = [one.interval!.low, one.interval!.high];
      return (
        Math.abs(one.rate! - (1 - other.rate!)) < 1e-12 &&
        Math.abs(low - (1 - other.interval!.high)) < 1e-9 &&
        one.pValue === other.pValue &&
        -1e-9 <= low &&
        low <= one.rate! + 1e-9 &&
        one.rate! <= high + 1e-9 &&
        high <= 1 + 1e-9
      );
    }),
  );
});
