/** The bootstrap interval and the sign-flip test. */
import fc from 'fast-check';
import t from 'tap';
import { bootstrapInterval } from '#core/statistics/bootstrap.ts';
import { groupPairs, singleGroups, standardError } from '#core/statistics/groups.ts';
import { permutationTest } from '#core/statistics/permutation.ts';
import { seededRandom } from '#core/statistics/random.ts';
import { normal } from '../../../bench/statistics/draws.ts';

const OPTIONS = { alpha: 0.05, seed: 7, resamples: 200 };
const bootstrap = (values: readonly number[]) => bootstrapInterval(singleGroups(values), OPTIONS);
const flip = (values: readonly number[]) =>
  permutationTest(singleGroups(values), { seed: 7, permutations: 200 });

/** Differences, none so small that another unit makes it 0. */
const difference = fc
  .double({ min: -100, max: 100, noNaN: true })
  .map((value) => (Math.abs(value) < 1e-100 ? 0 : value));
const differences = fc.array(difference, { minLength: 2, maxLength: 40 });
const isNear = (one: number, other: number, scale: number) => Math.abs(one - other) <= 1e-9 * (1 + scale);

t.test('swapping the sides mirrors the interval and keeps p', async () => {
  fc.assert(
    fc.property(differences, (values) => {
      const [one, other] = [bootstrap(values), bootstrap(values.map((value) => -value))];
      if (one.interval === null || other.interval === null) return one.interval === other.interval;
      return (
        isNear(one.interval.low, -other.interval.high, 100) &&
        isNear(one.interval.high, -other.interval.low, 100) &&
        flip(values).pValue === flip(values.map((value) => -value)).pValue
      );
    }),
  );
});

t.test('another unit of the metric scales the interval and keeps p', async () => {
  fc.assert(
    fc.property(differences, fc.constantFrom(0.001, 0.5, 4, 1_024), (values, factor) => {
      const scaled = values.map((value) => value * factor);
      const [one, other] = [bootstrap(values), bootstrap(scaled)];
      if (one.interval === null || other.interval === null) return one.interval === other.interval;
      return (
        isNear(one.interval.low * factor, other.interval.low, 100 * factor) &&
        isNear(one.interval.high * factor, other.interval.high, 100 * factor) &&
        Math.abs(flip(values).pValue - flip(scaled).pValue) < 1e-9
      );
    }),
  );
});

t.test('the interval lies within the values and around most of their mass', async () => {
  fc.assert(
    fc.property(differences, (values) => {
      const { interval } = bootstrap(values);
      if (interval === null) return true;
      return (
        Math.min(...values) <= interval.low + 1e-9 &&
        interval.low <= interval.high &&
        interval.high <= Math.max(...values) + 1e-9
      );
    }),
  );
});

t.test('there is no interval of fewer than six groups, nor of equal differences', async (t) => {
  for (const values of [[], [3], [1, 2], [1, 2, 3, 4, 5]])
    t.match(bootstrap(values), { interval: null, reason: /fewer than 6/ });
  t.ok(bootstrap([1, 2, 3, 4, 5, 6]).interval);
  for (const value of [0, 0.1, -2])
    t.match(bootstrap(new Array(6).fill(value)), { interval: null, reason: /are equal/ });
});

t.test('skewed differences have the bounds that scipy gives', async (t) => {
  // scipy 1.17.1 with 100,000 resamples: 0.775 and 3.40 to 3.43; the standard error is 0.588.
  const values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.1, 1.5, 2.2, 3.9, 7.4];
  const options = { alpha: 0.05, seed: 1, resamples: 10_000 };
  const asScipy = bootstrapInterval(singleGroups(values), { ...options, isExpanded: false }).interval!;
  t.ok(
    Math.abs(asScipy.low - 0.775) < 0.03 && Math.abs(asScipy.high - 3.415) < 0.15,
    JSON.stringify(asScipy),
  );
  const { low, high } = bootstrapInterval(singleGroups(values), options).interval!;
  t.ok(low < asScipy.low && asScipy.high < high, 'the interval is expanded for so few');
});

t.test('the same seed gives the same interval, and another one a slightly different one', async (t) => {
  const random = seededRandom(1);
  const groups = singleGroups(Array.from({ length: 50 }, () => normal(random)));
  const interval = (seed: number) => bootstrapInterval(groups, { alpha: 0.05, seed }).interval!;
  t.same(interval(1), interval(1));
  t.not(interval(1).low, interval(2).low);
  const error = standardError(groups)!;
  t.ok(Math.abs(interval(1).low - interval(2).low) < 0.2 * error);
});

t.test('many groups get fewer resamples', async (t) => {
  const random = seededRandom(1);
  const groups = (count: number) => singleGroups(Array.from({ length: count }, () => random.uniform()));
  t.match(bootstrapInterval(groups(1_000), { alpha: 0.05, seed: 1 }), { resamples: 10_000 });
  t.match(bootstrapInterval(groups(10_000), { alpha: 0.05, seed: 1 }), { resamples: 2_000 });
  t.match(bootstrapInterval(groups(30_000), { alpha: 0.05, seed: 1 }), { resamples: 1_000 });
});

/** Pairs of clusters that each repeat one difference. */
const repeated = (values: readonly number[], times: number) =>
  values.flatMap((value, cluster) =>
    Array.from({ length: times }, (_, index) => ({
      itemId: `${cluster}-${index}`,
      cluster: `${cluster}`,
      baseline: 0,
      candidate: value,
    })),
  );

t.test('a cluster counts as one, however often it repeats its difference', async (t) => {
  const values = [0.3, -0.1, 0.8, 0.2, 0.5, -0.4, 0.9, 0.1, 0.6, 0.7, 0.2, 0.4];
  const [once, often] = [singleGroups(values), groupPairs(repeated(values, 5))];
  t.match({ groups: often.sums.length, pairs: often.pairs }, { groups: 12, pairs: 60 });
  const [one, other] = [
    bootstrapInterval(once, OPTIONS).interval!,
    bootstrapInterval(often, OPTIONS).interval!,
  ];
  t.ok(isNear(one.low, other.low, 1) && isNear(one.high, other.high, 1));
  t.equal(permutationTest(often, { seed: 7 }).pValue, permutationTest(once, { seed: 7 }).pValue);
  t.ok(isNear(standardError(once)!, standardError(often)!, 1));
});

/** The share of all choices of signs with a mean at least as far from 0, by a loop over them. */
function enumerated(values: readonly number[]): number {
  const total = (signs: number) =>
    Math.abs(values.reduce((sum, value, index) => sum + ((signs >> index) & 1 ? -value : value), 0));
  const choices = 2 ** values.length;
  let extreme = 0;
  for (let signs = 0; signs < choices; signs += 1) if (total(signs) >= total(0) - 1e-9) extreme += 1;
  return extreme / choices;
}

t.test('sign flips of few pairs are enumerated', async () => {
  const whole = fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 10 });
  fc.assert(
    fc.property(whole, (values) => {
      const { pValue, method } = flip(values);
      return method === 'exact' && Math.abs(pValue - enumerated(values)) < 1e-12;
    }),
  );
});

t.test('drawn sign flips approach the enumerated p, and are never 0', async (t) => {
  const random = seededRandom(3);
  const values = Array.from({ length: 17 }, () => normal(random) + 0.4);
  const { pValue, method } = permutationTest(singleGroups(values), { seed: 1, permutations: 20_000 });
  t.equal(method, 'Monte Carlo');
  const exact = enumerated(values);
  t.ok(Math.abs(pValue - exact) < 4 * Math.sqrt((exact * (1 - exact)) / 20_000), `${pValue} and ${exact}`);
  const certain = permutationTest(singleGroups(new Array(200).fill(1)), { seed: 1, permutations: 999 });
  t.equal(certain.pValue, 0.001);
});
