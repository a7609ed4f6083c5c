import t from 'tap';
import {
  BUCKETS,
  bucketOf,
  countOf,
  histogramOf,
  type Point,
  percentileOf,
  valueOfBucket,
} from '#core/sessions/mod.ts';
import { seededRandom } from '../../../support/random.ts';

const pointsOf = (values: number[]): Point[] =>
  [...Map.groupBy(values, (value) => value)]
    .map(([value, all]) => [value, all.length] as const)
    .sort(([one], [other]) => one - other);

t.test('a bucket begins at most one per cent below each of its values, and at 1, 2 and 5', async (t) => {
  for (const value of [
    0, 1, 7, 999, 1_000, 1_009, 1_010, 12_345, 99_999, 100_000, 5e9, 123_456_789_012, 9.99e17,
  ]) {
    const least = valueOfBucket(bucketOf(value));
    t.ok(
      least <= value && value - least < Math.max(1, value * 0.01),
      `${value} is in the bucket of ${least}`,
    );
    t.ok(bucketOf(value) < BUCKETS);
  }
  for (let bound = 1; bound < 1e17; bound *= 10) {
    for (const one of [bound, 2 * bound, 5 * bound]) t.equal(valueOfBucket(bucketOf(one)), one);
  }
});

t.test('buckets are in the order of their values', async (t) => {
  let last = -1;
  for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
    const value = valueOfBucket(bucket);
    if (value <= last || bucketOf(value) !== bucket) t.fail(`bucket ${bucket} of ${value}`);
    last = value;
  }
});

t.test('a percentile is the least value that enough values do not exceed', async (t) => {
  t.equal(percentileOf([], 0.5), null);
  t.equal(percentileOf([[7, 1]], 0.01), 7);
  const random = seededRandom(7);
  for (let round = 0; round < 50; round += 1) {
    const values = Array.from({ length: 1 + Math.floor(random() * 60) }, () => Math.floor(random() * 30));
    const sorted = values.toSorted((one, other) => one - other);
    for (const share of [0.01, 0.25, 0.5, 0.9, 0.99, 1]) {
      const expected = sorted[Math.ceil(share * sorted.length) - 1] ?? sorted[0];
      t.equal(percentileOf(pointsOf(values), share), expected, `${share} of ${sorted}`);
    }
  }
});

t.test('a histogram has every value in one bar, between round bounds, and no gap', async (t) => {
  t.same(histogramOf([], 1), []);
  t.same(histogramOf(pointsOf([1, 1, 2, 4, 5, 60]), 1), [
    { start: 1, end: 2, count: 2 },
    { start: 2, end: 5, count: 2 },
    { start: 5, end: 10, count: 1 },
    { start: 10, end: 20, count: 0 },
    { start: 20, end: 50, count: 0 },
    { start: 50, end: 100, count: 1 },
  ]);
  t.same(
    histogramOf(pointsOf([0, 999, 1_000]), 1_000),
    [
      { start: 0, end: 1_000, count: 2 },
      { start: 1_000, end: 2_000, count: 1 },
    ],
    'what is less than the unit is in the bar from zero',
  );
  t.same(histogramOf([[5e12, 3]], 1_000), [{ start: 5e12, end: 1e13, count: 3 }]);
  t.equal(countOf(pointsOf([1, 1, 9])), 3);
});
