/** Looks at an experiment while it runs. */
import t from 'tap';
import { bettingInterval, isBoundAbove } from '#core/statistics/betting.ts';
import { decisionOf, type PeekOptions, peek, standardWidth } from '#core/statistics/confidence-sequence.ts';
import { type Random, seededRandom } from '#core/statistics/random.ts';
import { type Draw, discordant, normal } from '../../../bench/statistics/draws.ts';
import { PEEKING_CASES, stopped } from '../../../bench/statistics/false-alarms.ts';
import { askOracles, skippedWithoutOracles } from '../../../bench/statistics/oracles.ts';

const skip = skippedWithoutOracles();
const UNBOUNDED: PeekOptions = { alpha: 0.05, direction: 'higher', margin: null, range: null };
const BOUNDED: PeekOptions = { ...UNBOUNDED, range: { low: 0, high: 1 } };

const several = (count: number, draw: Draw, random: Random) =>
  Array.from({ length: count }, () => draw(random));

const EXPERIMENTS = 300;

for (const one of PEEKING_CASES) {
  const kind = one.isBounded ? ' of a bounded metric' : '';
  t.test(
    `looking 40 times raises a false alarm in 5 % of experiments at most: ${one.name}${kind}`,
    async (t) => {
      const { share } = stopped(one, EXPERIMENTS, 20_261_126);
      t.ok(share <= 0.05, `${share}`);
    },
  );
}

t.test('a difference is found, and its sign follows the direction of the metric', async (t) => {
  const random = seededRandom(4);
  const gains = several(300, (source) => normal(source) + 0.6, random);
  const bits = several(400, discordant(0.3, 0.2), random);
  for (const [values, options] of [
    [gains, UNBOUNDED],
    [bits, BOUNDED],
  ] as const) {
    const losses = values.map((value) => -value);
    t.equal(decisionOf(values, options), 'better');
    t.equal(decisionOf(losses, options), 'worse');
    t.equal(decisionOf(values, { ...options, direction: 'lower' }), 'worse');
    t.equal(decisionOf(losses, { ...options, direction: 'lower' }), 'better');
  }
});

t.test(
  'an experiment is futile when its difference is certainly within the margin, and never without one',
  async (t) => {
    const random = seededRandom(5);
    const values = several(2_000, discordant(0.05), random);
    for (const options of [BOUNDED, UNBOUNDED]) {
      t.equal(decisionOf(values, options), 'continue');
      t.equal(decisionOf(values, { ...options, margin: 0.001 }), 'continue');
      t.equal(decisionOf(values, { ...options, margin: 0.05 }), 'futile');
      const { interval } = peek(values, options);
      t.ok(interval!.low > -0.05 && interval!.high < 0.05);
    }
  },
);

t.test('nothing is decided between looks, before the first one, nor without pairs', async (t) => {
  const certain = several(60, (source) => normal(source) / 10 + 5, seededRandom(6));
  t.equal(decisionOf(certain.slice(0, 50), UNBOUNDED), 'continue', 'too few carry the variance');
  t.equal(decisionOf([...certain, ...certain].slice(0, 100), UNBOUNDED), 'better');
  t.equal(decisionOf([...certain, ...certain].slice(0, 99), UNBOUNDED), 'continue');
  t.equal(decisionOf([], UNBOUNDED), 'continue');
  t.same(peek([], BOUNDED), { decision: 'continue', interval: null, method: 'betting' });
});

t.test(
  'equal differences decide nothing without a range, and at once with one when they are large',
  async (t) => {
    for (const value of [0, 0.03, -0.03]) {
      const values = new Array<number>(500).fill(value);
      t.equal(decisionOf(values, UNBOUNDED), 'continue');
      t.equal(peek(values, UNBOUNDED).interval, null);
    }
    t.equal(decisionOf(new Array<number>(25).fill(1), BOUNDED), 'better');
    t.equal(decisionOf(new Array<number>(25).fill(0), BOUNDED), 'continue');
  },
);

t.test('the bounds are where the decision changes', async (t) => {
  const differences = Float64Array.from(several(200, discordant(0.4, 0.1), seededRandom(7)));
  const { low, high } = bettingInterval(differences, 0.05);
  t.ok(isBoundAbove(differences, 0.05, 1, low - 1e-8) && !isBoundAbove(differences, 0.05, 1, low + 1e-8));
  t.ok(
    isBoundAbove(differences, 0.05, -1, -high - 1e-8) && !isBoundAbove(differences, 0.05, -1, -high + 1e-8),
  );
  const doubled = peek(
    [...differences].map((value) => 10 * value),
    { ...BOUNDED, range: { low: -5, high: 5 } },
  );
  t.ok(Math.abs(doubled.interval!.low - 10 * low) < 1e-6, 'the range scales the interval');
});

t.test('a bet on a mean is worth 2/α exactly at the bound', { skip }, async (t) => {
  const differences = several(120, discordant(0.4, 0.1), seededRandom(8));
  const { low } = bettingInterval(Float64Array.from(differences), 0.05);
  const stakes = [0.01, 0.02, 0.04, 0.08, 0.16, 0.3, 0.5, 0.7, 0.9];
  const [wealth] = askOracles([['betting', differences, stakes, low]]);
  t.ok(Math.abs(wealth![0]! / 40 - 1) < 1e-5, `${wealth}`);
});

t.test(
  'the asymptotic width is where the Gaussian mixture is worth 1/α, and narrowest at 50 pairs',
  { skip },
  async (t) => {
    // y − ln y = 1 − ln 0.05², by a table of the Lambert W function: W(−0.05²/e) = −9.2054.
    const scaled = 8.2054;
    const counts = [25, 100, 1_000];
    // The sum of `count` unit variables, in units of its standard deviation, and ρ² in those units.
    const answers = askOracles(
      counts.map((count) => [
        'mixture',
        standardWidth(count, 0.05) * Math.sqrt(count),
        (scaled * count) / 50,
      ]),
    );
    for (const [index, [value]] of answers.entries()) {
      t.ok(Math.abs(value! / 20 - 1) < 1e-3, `${counts[index]}: ${value}`);
    }
  },
);

t.test('what a look decides does not depend on the size of differences', async (t) => {
  const random = seededRandom(12);
  const gains = several(100, (source) => normal(source) + 0.6, random);
  const found = peek(gains, UNBOUNDED);
  for (const size of [2 ** -900, 2 ** 300, 2 ** 1_000]) {
    const sized = gains.map((gain) => gain * size);
    t.equal(decisionOf(sized, UNBOUNDED), decisionOf(gains, UNBOUNDED));
    t.equal(peek(sized, UNBOUNDED).interval!.low / size, found.interval!.low);
    const range = { low: 0, high: 4 * size };
    t.equal(
      decisionOf(sized, { ...BOUNDED, range }),
      decisionOf(gains, { ...BOUNDED, range: { low: 0, high: 4 } }),
    );
  }
  const largest = gains.map((gain) => (gain > 0.6 ? Number.MAX_VALUE : 0));
  t.equal(decisionOf(largest, UNBOUNDED), 'better');
});
