/** Comparisons of two sides, and their verdicts. */
import fc from 'fast-check';
import t from 'tap';
import {
  type CompareOptions,
  type Comparison,
  compareMetric,
  compareMetrics,
  type MetricKind,
} from '#core/statistics/compare.ts';
import { pairRuns, type Run } from '#core/statistics/pairs.ts';
import type { Random } from '#core/statistics/random.ts';
import { type Direction, verdictOf } from '#core/statistics/verdict.ts';
import { experimentSeeds, normal } from '../../../bench/statistics/draws.ts';

const run = (itemId: string, value: number, cluster: string | null = null, repetition = 0): Run => ({
  itemId,
  cluster,
  repetition,
  value,
});

const side = (values: readonly number[], clusterOf: (index: number) => string | null = () => null) =>
  values.map((value, index) => run(`${index}`.padStart(4, '0'), value, clusterOf(index)));

const OPTIONS = { seed: 3, resamples: 200 };
const compare = (
  baseline: readonly Run[],
  candidate: readonly Run[],
  kind: MetricKind,
  options: Partial<CompareOptions> = {},
): Comparison =>
  compareMetric({
    paired: pairRuns(baseline, candidate),
    options: { kind, direction: 'higher', ...OPTIONS, ...options },
  });

t.test('repetitions are averaged within items, and items of one side alone are counted', async (t) => {
  const baseline = [run('b', 1), run('a', 0, 'x', 1), run('a', 1, 'x', 0), run('only', 1)];
  const candidate = [
    run('a', 1),
    run('b', 4, null, 1),
    run('b', 2),
    run('c', 1),
    run('d', 1),
    run('only', Number.NaN),
  ];
  t.same(pairRuns(baseline, candidate), {
    pairs: [
      { itemId: 'a', cluster: 'x', baseline: 0.5, candidate: 1 },
      { itemId: 'b', cluster: null, baseline: 1, candidate: 3 },
    ],
    missingBaseline: 2,
    missingCandidate: 1,
    repetitions: 2,
  });
});

t.test('repetitions that differ in their order, or by rounding alone, are no difference', async (t) => {
  const repeated = (...values: number[]) =>
    Array.from({ length: 30 }, (_, item) =>
      values.map((value, at) => run(`${item}`, value, null, at)),
    ).flat();
  const range = { low: 0, high: 1 };
  for (const [before, after] of [
    [repeated(0.1, 0.2, 0.3), repeated(0.3, 0.2, 0.1)],
    [repeated(0.1, 0.2), repeated(0.3, 0)],
    [repeated(-0.3, 0.1, 0.2, 0.6), repeated(0.2, 0.6, 0.1, -0.3)],
  ] as const) {
    t.match(compare(before, after, 'ordinal', { range, margin: 0.2 }), {
      means: { difference: 0 },
      interval: { method: 'unanimous' },
      pValue: { value: 1 },
      wilcoxon: { pValue: 1, wins: 0, ties: 30, losses: 0 },
      verdict: 'not_worse',
    });
  }
  // Values that were measured once, and differences beyond rounding, stay as they are.
  t.same(pairRuns([run('a', 0.1 + 0.2)], [run('a', 0.3)]).pairs, [
    { itemId: 'a', cluster: null, baseline: 0.1 + 0.2, candidate: 0.3 },
  ]);
  const [nearly] = pairRuns(
    [run('a', 1), run('a', 1, null, 1)],
    [run('a', 1), run('a', 1 + 1e-14, null, 1)],
  ).pairs;
  t.not(nearly!.candidate, nearly!.baseline);
});

t.test('equal differences of mean ratings share their ranks in the signed-rank test', async (t) => {
  const before = [10, 12, 9, 13, 11, 14, 8, 12, 10, 13, 9, 11, 12, 10, 15, 9];
  const after = [11, 14, 12, 12, 13, 15, 11, 14, 9, 14, 11, 14, 13, 12, 14, 12];
  const thirds = (values: readonly number[]) => side(values.map((value) => value / 3));
  const { wilcoxon } = compare(thirds(before), thirds(after), 'ordinal');
  t.same(wilcoxon, compare(side(before), side(after), 'ordinal').wilcoxon);
  t.ok(Math.abs(wilcoxon!.pValue - 0.0033009616729099086) < 1e-9, 'of scipy, for the sums of three ratings');
});

t.test('independent zeros and ones are compared by McNemar and Newcombe', async (t) => {
  const [baseline, candidate] = [side([1, 1, 0, 0, 0, 0, 0, 0]), side([1, 0, 1, 1, 1, 1, 1, 0])];
  t.match(compare(baseline, candidate, 'binary'), {
    pairs: 8,
    groups: 8,
    means: { baseline: 0.25, candidate: 0.75, difference: 0.5 },
    interval: { method: 'newcombe' },
    pValue: { method: 'mcnemar mid-p' },
    table: { both: 1, baselineOnly: 1, candidateOnly: 5, neither: 1 },
    wilcoxon: null,
  });
});

t.test('clusters, repetitions and other values are compared by bootstrap and sign flips', async (t) => {
  const values = [0, 1, 0, 1, 0, 0, 1, 0];
  const others = [1, 1, 1, 1, 1, 1, 0, 1];
  const expected = { interval: { method: 'bca' }, pValue: { method: 'sign flip, exact' }, table: null };
  const clusterOf = (index: number) => `${index >> 1}`;
  const [twice, othersTwice] = [
    [...values, ...values],
    [...others, ...others],
  ];
  t.match(compare(side(twice, clusterOf), side(othersTwice, clusterOf), 'binary'), {
    ...expected,
    groups: 8,
  });
  t.match(compare(side(values), [...side(others), run('0000', 0, null, 1)], 'binary'), {
    ...expected,
    groups: 8,
  });
  t.match(compare(side(values), side(others.map((value) => value / 2)), 'binary'), expected);
  t.match(compare(side(values), side(others), 'numeric'), expected);
  t.match(compare(side(values), side(others), 'ordinal'), {
    ...expected,
    wilcoxon: { wins: 5, ties: 2, losses: 1 },
  });
  const alone = (index: number) => `cluster ${index}`;
  t.match(compare(side(values, alone), side(others, alone), 'binary'), { interval: { method: 'newcombe' } });
});

t.test(
  'comparisons of no pair, of one, and of equal differences say why they have no interval',
  async (t) => {
    t.match(compare([], side([1]), 'numeric'), {
      pairs: 0,
      missingBaseline: 1,
      means: null,
      interval: null,
      intervalNote: /fewer than 6/,
      pValue: null,
      adjustedPValue: null,
      minimumDetectable: null,
      verdict: 'undecided',
    });
    t.match(compare(side([1]), side([2]), 'numeric'), { interval: null, intervalNote: /fewer than 6/ });
    const counted = [1, 2, 3, 4, 5, 6];
    t.match(compare(side(counted), side(counted.map((value) => value + 1)), 'numeric'), {
      interval: null,
      intervalNote: /are equal/,
      verdict: 'better',
    });
  },
);

t.test(
  'fewer items or clusters than a test of signs can call different have no interval, and are undecided',
  async (t) => {
    const gains = [0.1, 0.2, 0.3, 0.25, 0.15, 0.35];
    const few = { interval: null, minimumDetectable: null, verdict: 'undecided' } as const;
    const compared = (count: number, kind: MetricKind, options: Partial<CompareOptions> = {}) =>
      compare(side(gains.slice(0, count).map(() => 0)), side(gains.slice(0, count)), kind, {
        margin: 0.05,
        ...options,
      });
    const note = 'there are fewer than 6 independent items or clusters';
    for (const count of [2, 3, 4, 5]) {
      t.match(compared(count, 'numeric'), { ...few, intervalNote: note }, `${count}`);
      t.match(compared(count, 'ordinal'), { ...few, intervalNote: note }, `${count}`);
    }
    t.match(compared(6, 'numeric'), { interval: { method: 'bca' }, intervalNote: null, verdict: 'better' });
    // The least p of n groups is 2^(1 − n): 0.125 of four and 0.25 of three, 0.008 of eight and 0.016 of seven.
    t.match(compared(4, 'numeric', { alpha: 0.2 }), { interval: { method: 'bca' }, verdict: 'better' });
    t.match(compared(3, 'numeric', { alpha: 0.2 }), { ...few, intervalNote: /fewer than 4/ });
    t.match(compared(6, 'numeric', { alpha: 0.01 }), { ...few, intervalNote: /fewer than 8/ });
    const clusterOf = (index: number) => `${index % 5}`;
    const many = Array.from({ length: 100 }, (_, index) => index / 1_000);
    t.match(
      compare(
        side(
          many.map(() => 0),
          clusterOf,
        ),
        side(many, clusterOf),
        'numeric',
        { margin: 0.1 },
      ),
      {
        ...few,
        groups: 5,
        intervalNote: note,
      },
    );
    const [before, after] = [side([0, 1, 1, 0, 0]), side([1, 1, 1, 1, 1])];
    t.match(compare(before, after, 'binary', { margin: 0.3 }), { ...few, intervalNote: note });
  },
);

type Drawn = { baseline: number[]; candidate: number[] };

/** The share of experiments that pass for not worse although the true loss is just the margin. */
function passing(
  draw: (random: Random) => Drawn,
  experiments: number,
  kind: MetricKind,
  options: Partial<CompareOptions>,
): number {
  const passed = experimentSeeds(20_261_127, experiments).filter((random) => {
    const { baseline, candidate } = draw(random);
    const seeded = { ...options, seed: random.bits(), resamples: 1_000 };
    const { verdict } = compare(side(baseline), side(candidate), kind, seeded);
    return verdict === 'not_worse' || verdict === 'better';
  });
  return passed.length / experiments;
}

/** Three standard errors of a share of 0.025. */
const chanceOf = (experiments: number) => 3 * Math.sqrt((0.025 * 0.975) / experiments);

t.test('a loss of just the margin passes in 2.5 % of experiments at most, with few items too', async (t) => {
  const [experiments, margin] = [600, 0.5];
  for (const count of [2, 3, 4, 5, 12, 30]) {
    const draw = (random: Random) => {
      const candidate = Array.from({ length: count }, () => normal(random) - margin);
      return { baseline: candidate.map(() => 0), candidate };
    };
    const share = passing(draw, experiments, 'numeric', { margin });
    t.ok(share <= 0.025 + chanceOf(experiments), `${count} items: ${share}`);
  }
});

t.test('so it does of ratings most of which are equal, and some of which lose much', async (t) => {
  const experiments = 300;
  for (const count of [6, 10, 20, 60]) {
    const draw = (random: Random) => {
      const baseline = Array.from({ length: count }, () => 5);
      const candidate = baseline.map((rating) => {
        const place = random.uniform();
        return place < 0.1 ? rating - 3 : place < 0.2 ? rating + 1 : rating;
      });
      return { baseline, candidate };
    };
    const share = passing(draw, experiments, 'ordinal', { margin: 0.2, range: { low: 1, high: 6 } });
    t.ok(share <= 0.025 + chanceOf(experiments), `${count} ratings: ${share}`);
  }
});

t.test('so it does of a margin that is a large share of a mean that is estimated as well', async (t) => {
  const [experiments, count] = [600, 40];
  for (const share of [0.1, 0.5, 1]) {
    const latency = (random: Random) => Math.exp(0.4 * normal(random));
    const draw = (random: Random) => ({
      baseline: Array.from({ length: count }, () => latency(random)),
      candidate: Array.from({ length: count }, () => (1 + share) * latency(random)),
    });
    const passed = passing(draw, experiments, 'numeric', { direction: 'lower', marginShare: share });
    t.ok(passed <= 0.025 + chanceOf(experiments), `${share}: ${passed}`);
  }
});

t.test('a margin that is a share is held against each item, however different the items are', async (t) => {
  const costs = Array.from({ length: 20 }, (_, index) => 2 ** index);
  const compared = (factor: number) => {
    const dearer = costs.map((cost, index) => cost * factor * (1 + 0.001 * (index % 3)));
    return compare(side(costs), side(dearer), 'numeric', { direction: 'lower', marginShare: 0.1 }).verdict;
  };
  t.equal(compared(1.05), 'not_worse');
  t.equal(compared(1.15), 'worse');
  t.equal(compared(0.9), 'better');
});

t.test(
  'where fewer differ than can be called different, what was not seen is bounded by the range',
  async (t) => {
    const baseline = Array.from({ length: 50 }, () => 0);
    const candidate = baseline.map((_, index) => (index < 2 ? -1 : 0));
    const options = { range: { low: -1, high: 0 }, resamples: 10_000 };
    const { interval } = compare(side(baseline), side(candidate), 'numeric', options);
    t.match(interval, { method: 'bounded' });
    // Two of fifty, by Clopper and Pearson: the 97.5 % quantile of the beta distribution of 3 and 48.
    t.ok(Math.abs(interval!.low + 0.137138) < 0.004, `${interval!.low}`);
    const scaled = compare(side(baseline), side(candidate.map((value) => 4 * value)), 'ordinal', {
      ...options,
      range: { low: 1, high: 5 },
    });
    t.ok(Math.abs(scaled.interval!.low - 4 * interval!.low) < 1e-9);
    t.match(compare(side(baseline), side(candidate), 'numeric', { margin: 0.5 }), {
      interval: null,
      intervalNote: 'fewer than 6 independent items or clusters differ',
      verdict: 'undecided',
    });
    const clusterOf = (index: number) => `${index >> 1}`;
    const clustered = compare(side(baseline, clusterOf), side(candidate, clusterOf), 'numeric', options);
    t.match(clustered, { groups: 25, interval: { method: 'bounded' } });
    t.ok(clustered.interval!.low < interval!.low, 'fewer groups say less');
  },
);

t.test('a metric by whose p nothing is decided makes no other harder to decide', async (t) => {
  const [before, after] = [side([0, 0, 0, 0, 0, 0, 1]), side([1, 1, 1, 1, 1, 1, 1])];
  const metric = {
    paired: pairRuns(before, after),
    options: { kind: 'binary', direction: 'higher' },
  } as const;
  const idle = { paired: pairRuns(before, before), options: { ...metric.options, isTested: false } };
  const [first, second] = compareMetrics([metric, idle]);
  t.equal(first!.adjustedPValue, first!.pValue!.value);
  t.equal(second!.adjustedPValue, second!.pValue!.value);
  const [adjusted] = compareMetrics([metric, { ...idle, options: metric.options }]);
  t.equal(adjusted!.adjustedPValue, 2 * first!.pValue!.value);
});

t.test('equal differences of a metric with a range are bounded by what could have gone unseen', async (t) => {
  const values = Array.from({ length: 200 }, (_, index) => (index % 10) / 10);
  const { interval, verdict } = compare(side(values), side(values), 'numeric', {
    range: { low: 0, high: 1 },
    margin: 0.05,
  });
  // 1 − 0.025^(1/200), near the 3.69/200 that exp gives.
  t.match(interval, { method: 'unanimous' });
  t.ok(Math.abs(interval!.high - 0.018275) < 1e-6 && interval!.low === -interval!.high);
  t.equal(verdict, 'not_worse');
});

t.test('where every pair has the same difference, its direction is certain once p is', async (t) => {
  const values = Array.from({ length: 12 }, (_, index) => index);
  const compared = (shift: number, direction: Direction, margin: number | null = null) => {
    const shifted = values.map((value) => value + shift);
    const { verdict, interval, minimumDetectable } = compare(side(values), side(shifted), 'numeric', {
      direction,
      margin,
    });
    t.same([interval, minimumDetectable], [null, null]);
    return verdict;
  };
  t.same([compared(2, 'higher'), compared(2, 'lower')], ['better', 'worse']);
  t.same([compared(-2, 'higher'), compared(-2, 'lower')], ['worse', 'better']);
  t.equal(compared(2, 'lower', 1), 'worse', 'more than the margin');
  t.equal(compared(2, 'lower', 3), 'undecided', 'within the margin, which other items might not be');
  t.equal(compared(0, 'lower', 3), 'undecided');
  // Floating point: the differences are equal but for their last bits.
  const costs = values.map((value) => 0.0000135 * (value + 1));
  const dearer = costs.map((cost) => cost + 0.0002115);
  t.equal(compare(side(costs), side(dearer), 'numeric', { direction: 'lower' }).verdict, 'worse');
});

t.test('a verdict follows the direction and the margin', async (t) => {
  const verdict = (low: number, high: number, margin: number | null = null, pValue = 0.01) =>
    (['higher', 'lower'] as const).map((direction) =>
      verdictOf({ interval: { low, high }, pValue, alpha: 0.05, margin, direction }),
    );
  t.same(verdict(0.1, 0.3), ['better', 'worse']);
  t.same(verdict(-0.3, -0.1), ['worse', 'better']);
  t.same(verdict(-0.1, 0.3), ['undecided', 'undecided']);
  t.same(verdict(-0.1, 0.3, 0.2), ['not_worse', 'undecided']);
  t.same(verdict(-0.1, 0.3, 0.1), ['undecided', 'undecided'], 'the bound must be above the margin');
  t.same(verdict(-0.1, -0.05, 0.2), ['not_worse', 'better'], 'a certain loss within the margin');
  t.same(verdict(0.1, 0.3, 0.2, 0.06), ['not_worse', 'undecided'], 'without significance');
  t.same(verdict(0, 0.3), ['undecided', 'undecided'], 'a bound of 0 does not leave 0 out');
});

const value = fc.constantFrom(0, 0.25, 0.5, 0.75, 1);
const sides = fc
  .array(fc.tuple(value, value, fc.integer({ min: 0, max: 8 })), { minLength: 2, maxLength: 40 })
  .map((items) => ({
    baseline: items.map(([one, , cluster], index) => run(`${index}`, one, cluster > 4 ? null : `${cluster}`)),
    candidate: items.map(([, other, cluster], index) =>
      run(`${index}`, other, cluster > 4 ? null : `${cluster}`),
    ),
  }));
const kinds = fc.constantFrom<MetricKind>('binary', 'ordinal', 'numeric');
const margins = fc.constantFrom(null, 0, 0.1, 0.5);

t.test('a verdict never contradicts its interval, nor its p value', async () => {
  fc.assert(
    fc.property(sides, kinds, margins, ({ baseline, candidate }, kind, margin) => {
      const { interval, adjustedPValue, verdict } = compare(baseline, candidate, kind, { margin });
      if (interval === null) return verdict === 'undecided';
      if (verdict === 'better') return interval.low > 0 && adjustedPValue! <= 0.05;
      if (verdict === 'worse') return interval.high < 0 && adjustedPValue! <= 0.05;
      return verdict === 'undecided' || (margin !== null && interval.low > -margin);
    }),
  );
});

const MIRRORED = {
  better: 'worse',
  worse: 'better',
  not_worse: 'not_worse',
  undecided: 'undecided',
} as const;
const isNear = (one: number, other: number) => Math.abs(one - other) < 1e-9;

t.test('swapping the sides mirrors a comparison', async () => {
  fc.assert(
    fc.property(sides, kinds, ({ baseline, candidate }, kind) => {
      const [one, other] = [compare(baseline, candidate, kind), compare(candidate, baseline, kind)];
      const isMirrored =
        one.interval === null
          ? other.interval === null
          : isNear(one.interval.low, -other.interval!.high) &&
            isNear(one.interval.high, -other.interval!.low);
      return (
        isMirrored &&
        isNear(one.means!.difference, -other.means!.difference) &&
        isNear(one.pValue!.value, other.pValue!.value) &&
        one.wilcoxon?.wins === other.wilcoxon?.losses &&
        (one.wilcoxon === null || isNear(one.wilcoxon.pValue, other.wilcoxon!.pValue)) &&
        one.verdict === MIRRORED[other.verdict]
      );
    }),
  );
});

t.test('the order of runs does not matter', async () => {
  fc.assert(
    fc.property(sides, kinds, fc.infiniteStream(fc.nat()), ({ baseline, candidate }, kind, stream) => {
      const shuffled = (runs: readonly Run[]) =>
        runs
          .map((one) => ({ one, key: stream.next().value as number }))
          .sort((left, right) => left.key - right.key)
          .map(({ one }) => one);
      const one = compare(baseline, candidate, kind);
      return JSON.stringify(one) === JSON.stringify(compare(shuffled(baseline), shuffled(candidate), kind));
    }),
  );
});

t.test('several metrics are adjusted together, and a verdict needs the adjusted p', async (t) => {
  const zeros = new Array<number>(40).fill(0);
  const ones = (count: number) => zeros.map((_, index) => (index < count ? 1 : 0));
  const options: CompareOptions = { kind: 'binary', direction: 'higher' };
  const metric = (count: number) => ({ paired: pairRuns(side(zeros), side(ones(count))), options });
  const empty = { paired: pairRuns([], []), options };
  const adjusted = (comparisons: readonly Comparison[]) =>
    comparisons.map(({ adjustedPValue }) => Number(adjustedPValue?.toPrecision(12)));
  const verdicts = (comparisons: readonly Comparison[]) => comparisons.map(({ verdict }) => verdict);
  // Mid-p of 6 and of 20 discordant pairs on one side: 2⁻⁶ and 2⁻²⁰.
  const alone = compareMetrics([metric(6)]);
  t.same([adjusted(alone), verdicts(alone)], [[2 ** -6], ['better']]);
  const together = compareMetrics([metric(6), metric(20), empty, metric(6), metric(6), metric(6)]);
  const others = 4 * 2 ** -6;
  const nothing = Number.NaN;
  t.same(adjusted(together), [
    others,
    Number((5 * 2 ** -20).toPrecision(12)),
    nothing,
    others,
    others,
    others,
  ]);
  t.same(verdicts(together), ['undecided', 'better', 'undecided', 'undecided', 'undecided', 'undecided']);
  t.ok(together[0]!.interval!.low > 0, 'the interval is not adjusted');
  t.equal(together[0]!.pValue!.value, alone[0]!.pValue!.value);
  const accepted = { ...metric(6), options: { ...options, margin: 0.02 } };
  t.equal(compareMetrics([accepted, metric(1), metric(1), metric(1)])[0]!.verdict, 'not_worse');
});

t.test('a comparison does not depend on the size of values', async (t) => {
  const [random] = experimentSeeds(11, 1);
  const values = Array.from({ length: 40 }, () => [normal(random!), normal(random!) + 0.4] as const);
  const clusterOf = (index: number) => `${index % 15}`;
  const sized = (size: number, clusters?: typeof clusterOf) =>
    compare(
      side(
        values.map(([one]) => one * size),
        clusters,
      ),
      side(
        values.map(([, other]) => other * size),
        clusters,
      ),
      'numeric',
      { margin: 0.1 * size, range: { low: -9 * size, high: 9 * size } },
    );
  for (const clusters of [undefined, clusterOf]) {
    const plain = sized(1, clusters);
    t.match(plain, { interval: { method: 'bca' }, minimumDetectable: Number });
    for (const size of [2 ** -900, 2 ** -400, 2 ** 400, 2 ** 1_000]) {
      const found = sized(size, clusters);
      t.equal(found.interval!.low / size, plain.interval!.low);
      t.equal(found.interval!.high / size, plain.interval!.high);
      t.equal(found.means!.difference / size, plain.means!.difference);
      t.equal(found.minimumDetectable! / size, plain.minimumDetectable);
      t.match(found, { pValue: plain.pValue, verdict: plain.verdict });
    }
  }
});

t.test('differences beyond the largest double are that one, and their p is not 0', async (t) => {
  const [baseline, candidate] = [
    side(new Array(12).fill(-1.7e308)),
    side(Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? 1.7e308 : 1e308))),
  ];
  const found = compare([...baseline, ...baseline], candidate, 'numeric');
  t.match(found, {
    means: { difference: Number.MAX_VALUE },
    interval: { low: Number.MAX_VALUE, high: Number.MAX_VALUE },
    pValue: { value: 2 ** -11 },
    verdict: 'better',
  });
  t.ok(Math.abs(found.means!.baseline / -1.7e308 - 1) < 1e-12, 'also of repetitions, whose sum is infinite');
});
