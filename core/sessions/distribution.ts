/** Distributions of whole numbers: histograms with round bounds, means and percentiles. */

/** A value, and how many times it occurs. */
export type Point = readonly [value: number, count: number];

/** A bar of a histogram: values from `start` up to, without, `end`. */
export type Bar = { start: number; end: number; count: number };

/** Values below this are kept as they are, greater ones by their first three digits. */
const EXACT_BELOW = 1_000;
const BUCKETS_OF_A_DECADE = 900;
/** Up to 10^18, more than a bigint of nano-dollars or milliseconds is ever used for. */
const DECADES = 15;

/** The number of buckets. */
export const BUCKETS = EXACT_BELOW + DECADES * BUCKETS_OF_A_DECADE;

/**
 * Returns the bucket of a whole number from 0: the number itself below 1,000, otherwise one for each first three digits and each
 * length. So a bucket is at most one per cent wide, and 1, 2 and 5 of every power of ten begin one.
 */
export function bucketOf(value: number): number {
  if (value < EXACT_BELOW) return value;
  let decade = 0;
  let digits = value;
  while (digits >= EXACT_BELOW) {
    digits = Math.floor(digits / 10);
    decade += 1;
  }
  return Math.min(EXACT_BELOW + (decade - 1) * BUCKETS_OF_A_DECADE + digits - 100, BUCKETS - 1);
}

/** Returns the least value of a bucket. */
export function valueOfBucket(bucket: number): number {
  if (bucket < EXACT_BELOW) return bucket;
  const decade = Math.floor((bucket - EXACT_BELOW) / BUCKETS_OF_A_DECADE) + 1;
  return (100 + ((bucket - EXACT_BELOW) % BUCKETS_OF_A_DECADE)) * 10 ** decade;
}

/** Returns the number of values. */
export function countOf(points: readonly Point[]): number {
  return points.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * Returns the least value that at least `share` of all values do not exceed; null without values.
 * @param points in ascending order
 */
export function percentileOf(points: readonly Point[], share: number): number | null {
  const rank = Math.max(1, Math.ceil(share * countOf(points)));
  let passed = 0;
  for (const [value, count] of points) {
    passed += count;
    if (passed >= rank) return value;
  }
  return null;
}

/**
 * Returns the bars from the least value to the greatest, empty ones between them too. Their bounds are 1, 2 and 5 of every power
 * of ten from `unit` on; what is less is in a bar from 0.
 *
 * @param points in ascending order
 * @param unit a power of ten
 */
export function histogramOf(points: readonly Point[], unit: number): Bar[] {
  const bars: Bar[] = [];
  let [start, end] = [0, unit];
  for (const [value, count] of points) {
    while (value >= end) {
      [start, end] = [end, nextBound(end)];
      if (bars.length > 0) bars.push({ start, end, count: 0 });
    }
    const last = bars.at(-1);
    if (last === undefined) bars.push({ start, end, count });
    else last.count += count;
  }
  return bars;
}

/** Returns the bound after one: 1, 2, 5, 10, 20, … */
function nextBound(bound: number): number {
  return String(bound).startsWith('2') ? (bound / 2) * 5 : bound * 2;
}
