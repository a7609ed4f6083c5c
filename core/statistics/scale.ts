/** Keeps sums and powers of values within a double, whatever their size. */

/** The values of an item on both sides. */
type Sides = { baseline: number; candidate: number };

/** Between these, sums of fourth powers of values neither overflow nor vanish. */
const SMALLEST = 1e-60;
const LARGEST = 1e60;
/** The largest exponent of a double. Logarithms of the largest ones are rounded to one more. */
const MAX_EXPONENT = 1_023;

/**
 * Returns the divisor that brings the largest of some sizes near to 1: a power of two, so that nothing is rounded. It is 1 where
 * powers are within a double anyway.
 */
function scaleOf(largest: number): number {
  return largest === 0 || (largest >= SMALLEST && largest <= LARGEST)
    ? 1
    : 2 ** Math.min(MAX_EXPONENT, Math.floor(Math.log2(largest)));
}

/** Returns the divisor of values. */
export function scaleFor(values: ArrayLike<number>): number {
  let largest = 0;
  for (let index = 0; index < values.length; index += 1)
    largest = Math.max(largest, Math.abs(values[index]!));
  return scaleOf(largest);
}

/** Returns the divisor of the values of both sides, whose differences may be larger than any double. */
export function scaleForPairs(pairs: readonly Sides[]): number {
  let largest = 0;
  for (const { baseline, candidate } of pairs)
    largest = Math.max(largest, Math.abs(baseline), Math.abs(candidate));
  return scaleOf(largest);
}

/** Returns pairs with their values divided. */
export function dividePairs<Pair extends Sides>(pairs: readonly Pair[], scale: number): Pair[] {
  if (scale === 1) return [...pairs];
  return pairs.map((pair) => ({
    ...pair,
    baseline: pair.baseline / scale,
    candidate: pair.candidate / scale,
  }));
}

/** Returns a product that is finite: beyond the largest double it is that one. */
export function finiteProduct(value: number, scale: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value * scale));
}

/** Returns the mean, whatever the order of the values; null without any. */
export function meanOf(values: Float64Array): number | null {
  const scale = scaleFor(values);
  const sum = values.toSorted().reduce((all, value) => all + value / scale, 0);
  return values.length === 0 ? null : finiteProduct(sum / values.length, scale);
}

/** Returns the standard deviation of a sample; null of fewer than two values. */
export function sampleDeviation(values: readonly number[]): number | null {
  const count = values.length;
  if (count < 2) return null;
  const scale = scaleFor(values);
  const scaled = values.map((value) => value / scale);
  const mean = scaled.reduce((sum, value) => sum + value, 0) / count;
  const squares = scaled.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return finiteProduct(Math.sqrt(squares / (count - 1)), scale);
}
