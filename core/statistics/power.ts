/** The smallest difference that an experiment can detect. */
import { fewestGroups } from './groups.ts';
import { normalQuantile } from './normal.ts';

export type PowerOptions = {
  /** Chance of a false alarm, two-sided; 0.05 by default. */
  alpha?: number | undefined;
  /** Chance of finding a difference of the returned size; 0.8 by default. */
  power?: number | undefined;
};

const DEFAULT_ALPHA = 0.05;
const DEFAULT_POWER = 0.8;

/** Returns the quantiles of the error of both kinds. */
function quantiles({ alpha = DEFAULT_ALPHA, power = DEFAULT_POWER }: PowerOptions) {
  return { falseAlarm: normalQuantile(1 - alpha / 2), miss: normalQuantile(power) };
}

/**
 * Returns the smallest mean difference that is found with the power asked for: (z(1−α/2) + z(power)) · sd / √n, with n less
 * z²/2 in place of n because the standard deviation is estimated (W. C. Guenther, The American Statistician 35, 1981). From
 * ten pairs on it differs by less than 2 % from the noncentral t distribution. Null when there are too few pairs to find any.
 * @param sd the standard deviation of the paired differences, in units of the metric
 * @param count independent pairs or clusters
 */
export function detectableDifference(sd: number, count: number, options: PowerOptions = {}): number | null {
  const { falseAlarm, miss } = quantiles(options);
  if (count < fewestGroups(options.alpha ?? DEFAULT_ALPHA)) return null;
  const left = count - falseAlarm ** 2 / 2;
  return left > 1 ? ((falseAlarm + miss) * sd) / Math.sqrt(left) : null;
}

/**
 * Returns the same from a standard error, which may be that of clusters: the standard deviation of one cluster is the standard
 * error times √count.
 */
export function detectableFromError(error: number, count: number, options: PowerOptions = {}): number | null {
  return detectableDifference(error * Math.sqrt(count), count, options);
}
