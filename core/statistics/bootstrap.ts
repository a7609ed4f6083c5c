/** Bootstrap interval of a mean paired difference. */
import { fewestGroups, type Groups, isConstant } from './groups.ts';
import { normalCdf, normalQuantile } from './normal.ts';
import { seededRandom } from './random.ts';
import { studentQuantile } from './student.ts';
import type { Interval } from './wilson.ts';

export type BootstrapOptions = {
  /** One less the confidence: 0.05 for 95 %. */
  alpha: number;
  seed: number;
  /** Resamples at most; fewer are drawn of many groups, see `MOST_DRAWS`. */
  resamples?: number | undefined;
  /** False: without the expansion for small samples, as scipy computes it. */
  isExpanded?: boolean | undefined;
};

/** An interval, or the reason that there is none. */
export type BootstrapResult = { interval: Interval; resamples: number } | { interval: null; reason: string };

/** The number of resamples that Efron and others use for bounds in the tails. */
const DEFAULT_RESAMPLES = 10_000;

/**
 * Draws of all resamples together, at most. 10,000 resamples of 2,000 groups take all of them; with 10,000 groups 2,000
 * resamples are left, whose bounds vary with the seed by 6 % of a standard error (3 % with 10,000). More would block a
 * process for half a second and more; fewer would show in the third digit of bounds.
 */
const MOST_DRAWS = 20_000_000;
/** Fewer resamples do not reach the tails of the distribution. */
const FEWEST_RESAMPLES = 1_000;

/**
 * Returns means of resamples in ascending order: groups are drawn with replacement, as many as there are.
 * @internal Exported so that a test gives scipy the same resamples.
 */
export function resampledMeans(
  { sums, sizes, pairs }: Groups,
  resamples: number,
  seed: number,
): Float64Array {
  const random = seededRandom(seed);
  const count = sums.length;
  const isPlain = count === pairs;
  const means = new Float64Array(resamples);
  const drawn = new Uint32Array(count);
  for (let resample = 0; resample < resamples; resample += 1) {
    random.fillBelow(drawn, count);
    let sum = 0;
    for (let draw = 0; draw < count; draw += 1) sum += sums[drawn[draw]!]!;
    let size = isPlain ? count : 0;
    if (!isPlain) for (let draw = 0; draw < count; draw += 1) size += sizes[drawn[draw]!]!;
    means[resample] = sum / size;
  }
  return means.sort();
}

/** Returns the share of sorted values below `value`, those equal to it counted by half. */
function shareBelow(sorted: Float64Array, value: number, tolerance: number): number {
  const firstAbove = (bound: number): number => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! > bound) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return (firstAbove(value - tolerance) + firstAbove(value + tolerance)) / (2 * sorted.length);
}

/** Returns the acceleration from the means without each group: the skewness of their deviations over 6 (Efron 1987, 6.6). */
function acceleration({ sums, sizes, pairs, mean }: Groups): number {
  const total = mean * pairs;
  const without = sums.map((sum, index) => (total - sum) / (pairs - sizes[index]!));
  const centre = without.reduce((sum, value) => sum + value, 0) / without.length;
  let [squares, cubes] = [0, 0];
  for (const value of without) {
    squares += (centre - value) ** 2;
    cubes += (centre - value) ** 3;
  }
  return cubes / (6 * squares ** 1.5);
}

/** Returns a quantile of sorted values, interpolated as numpy does by default. */
function quantile(sorted: Float64Array, share: number): number {
  const rank = share * (sorted.length - 1);
  const low = sorted[Math.floor(rank)]!;
  return low + (sorted[Math.ceil(rank)]! - low) * (rank - Math.floor(rank));
}

/**
 * Returns the quantile of the normal distribution whose levels the bounds have. Resamples vary less than samples do, by a
 * factor of (n − 1)/n, and percentiles take the spread for known: T. C. Hesterberg ("What Teachers Should Know About the
 * Bootstrap", The American Statistician 69, 2015, section 5.3) expands them to √(n/(n − 1)) · t. Of 30 normal differences,
 * 92.5 % of intervals hold the mean without it, and 95 % with it.
 */
function levelQuantile(count: number, { alpha, isExpanded = true }: BootstrapOptions): number {
  if (!isExpanded) return normalQuantile(1 - alpha / 2);
  return Math.sqrt(count / (count - 1)) * studentQuantile(alpha, count - 1);
}

/** Returns a function of a bound's normal quantile: its level among resamples, corrected for bias and skewness (Efron 14.10). */
function correctedLevel(groups: Groups, means: Float64Array): (z: number) => number {
  const tolerance = 1e-12 * Math.max(Math.abs(means[0]!), Math.abs(means.at(-1)!));
  // At least half a resample on each side, so that the quantile is finite.
  const least = 0.5 / means.length;
  const share = Math.min(1 - least, Math.max(least, shareBelow(means, groups.mean, tolerance)));
  const bias = normalQuantile(share);
  const skew = acceleration(groups);
  return (z) => {
    const shifted = bias + z;
    const divisor = 1 - skew * shifted;
    // A divisor that is not positive stands for a bound beyond all resamples.
    return divisor > 0 ? normalCdf(bias + shifted / divisor) : z < 0 ? 0 : 1;
  };
}

/**
 * Returns the BCa bootstrap interval of the mean difference (B. Efron, "Better Bootstrap Confidence Intervals", JASA 82, 1987;
 * B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, formulas 14.9 to 14.15), expanded for small samples.
 * Groups are resampled, and left out for the acceleration, as a whole. There is none of fewer groups than `fewestGroups`, whose
 * expanded levels lie outside those of all resamples, nor when all differences are equal: resampling cannot show the spread of
 * values that were not seen.
 */
export function bootstrapInterval(groups: Groups, options: BootstrapOptions): BootstrapResult {
  const count = groups.sums.length;
  const fewest = fewestGroups(options.alpha);
  if (count < fewest)
    return { interval: null, reason: `there are fewer than ${fewest} independent items or clusters` };
  if (isConstant(groups)) return { interval: null, reason: 'all differences are equal' };
  const wanted = options.resamples ?? DEFAULT_RESAMPLES;
  const resamples = Math.min(wanted, Math.max(FEWEST_RESAMPLES, Math.floor(MOST_DRAWS / count)));
  const means = resampledMeans(groups, resamples, options.seed);
  const level = correctedLevel(groups, means);
  const z = levelQuantile(count, options);
  return { interval: { low: quantile(means, level(-z)), high: quantile(means, level(z)) }, resamples };
}
