/** A proportion, and Wilson's interval of it. */
import { Z95 } from './normal.ts';

/** The bounds of a confidence interval. */
export type Interval = { low: number; high: number };

/** A share with its 95 % confidence interval, all from 0 to 1. */
export type Rate = Interval & { value: number };

/**
 * Returns the bounds of Wilson's score interval of a proportion (E. B. Wilson, JASA 22, 1927; method 3 of R. G. Newcombe,
 * Statistics in Medicine 17, 1998): sound for few samples and near 0 and 1, where the textbook interval is not.
 * @param z the quantile of the standard normal distribution, such as 1.96 for 95 %
 * @param total at least 1
 */
export function wilsonInterval(successes: number, total: number, z: number): Interval {
  const share = successes / total;
  const square = z * z;
  const centre = (share + square / (2 * total)) / (1 + square / total);
  const spread =
    (z / (1 + square / total)) * Math.sqrt((share * (1 - share)) / total + square / (4 * total * total));
  // At the ends the interval touches 0 and 1 exactly; rounding would miss them by a little.
  return {
    low: successes === 0 ? 0 : Math.max(0, centre - spread),
    high: successes === total ? 1 : Math.min(1, centre + spread),
  };
}

/** Returns the share of `successes` in `total` with its interval; null when `total` is 0. */
export function rateOf(successes: number, total: number): Rate | null {
  return total === 0 ? null : { value: successes / total, ...wilsonInterval(successes, total, Z95) };
}
