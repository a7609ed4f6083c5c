import fc from 'fast-check';
import t from 'tap';
import {
  addBins,
  binOf,
  type Histogram,
  quantilesOf,
  RELATIVE_ERROR,
  valueOfBin,
} from '#core/rollups/histogram.ts';

/** The quantile of values that Postgres's percentile_cont and numpy return: interpolated between two of them. */
function exactQuantile(values: readonly number[], share: number): number {
  const ascending = values.toSorted((left, right) => left - right);
  const rank = share * (ascending.length - 1);
  const low = ascending[Math.floor(rank)]!;
  return low + (ascending[Math.ceil(rank)]! - low) * (rank - Math.floor(rank));
}

function histogramOf(values: readonly number[]): Histogram {
  const histogram: Histogram = new Map();
  for (const value of values) addBins(histogram, [binOf(value)], [1]);
  return histogram;
}

const ROUNDING = 1e-9;

t.test('the value of a bin is within two per cent of each number that is in it', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 2 ** 53 - 1 })),
      (value) => {
        return Math.abs(valueOfBin(binOf(value)) - value) <= value * (RELATIVE_ERROR + ROUNDING);
      },
    ),
  );
  t.equal(valueOfBin(binOf(0)), 0);
  t.equal(valueOfBin(binOf(-5)), 0, 'negative values count as 0');
  t.ok(binOf(2 ** 53) < 2 ** 15, 'bins of the greatest numbers are small integers of Postgres');
});

t.test('a quantile of a histogram is within two per cent of that of the values', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 60 }),
      fc.constantFrom(0, 0.5, 0.9, 0.95, 0.99, 0.999, 1),
      (values, share) => {
        const exact = exactQuantile(values, share);
        const [approximate] = quantilesOf(histogramOf(values), [share]);
        return Math.abs(approximate! - exact) <= exact * (RELATIVE_ERROR + ROUNDING);
      },
    ),
  );
  t.pass();
});

t.test('histograms that are added up have the quantiles of all of their values', async (t) => {
  const [left, right] = [
    [1, 5, 900],
    [3, 3, 70_000],
  ];
  const sum = histogramOf(left);
  const other = histogramOf(right);
  addBins(sum, [...other.keys()], [...other.values()]);
  const shares = [0.1, 0.5, 0.99];
  t.same(quantilesOf(sum, shares), quantilesOf(histogramOf([...left, ...right]), shares));
});

t.test('an empty histogram has no quantiles', async (t) => {
  t.same(quantilesOf(new Map(), [0.5, 0.99]), [null, null]);
});
