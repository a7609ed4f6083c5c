/**
 * A confidence sequence of the mean of bounded differences by betting. A player with one coin, who stakes a share f of it
 * against each difference at odds that are fair if the true mean is m, is a martingale: that the coin ever becomes 1/α has a
 * chance of α at most (Ville's inequality), for any distribution, however rare its differences, and any number of looks.
 * I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024; the mixture over
 * shares is the universal portfolio of F. Orabona and K.-S. Jun, IEEE Transactions on Information Theory 70, 2024.
 */
import type { Interval } from './wilson.ts';

/**
 * The stakes that the coin is divided among, in equal parts. The best one is the mean over the variance: the smallest is for
 * a difference of a hundredth of the range; more than the largest gains little and a single loss takes nearly all.
 */
const STAKES = [0.01, 0.02, 0.04, 0.08, 0.16, 0.3, 0.5, 0.7, 0.9] as const;

/** Factors that are multiplied before their logarithm is taken: few enough that the product neither overflows nor vanishes. */
const FACTORS_A_LOGARITHM = 16;

/** Bisections of a range of 2: the bound is found to 10⁻⁹. */
const BISECTIONS = 31;

/** Differences from −1 to 1. */
export type BoundedDifferences = Float64Array;

/** Returns the logarithm of the coin after all bets of `stake` on a mean above `mean`; `sign` −1: on one below `-mean`. */
function logCoin(differences: BoundedDifferences, sign: 1 | -1, stake: number, mean: number): number {
  const odds = stake / (1 + mean);
  let sum = 0;
  let product = 1;
  for (let index = 0; index < differences.length; index += 1) {
    product *= 1 - stake + odds * (1 + sign * differences[index]!);
    if (index % FACTORS_A_LOGARITHM === FACTORS_A_LOGARITHM - 1) {
      sum += Math.log(product);
      product = 1;
    }
  }
  return sum + Math.log(product);
}

/**
 * Returns whether the lower bound of the mean is above `mean`. The coin falls as `mean` rises, so this holds up to the bound.
 * @param alpha of an interval with two sides, each of which has half of it
 * @param sign −1 for the differences with the opposite sign: then for the upper bound
 * @param mean above −1
 */
export function isBoundAbove(
  differences: BoundedDifferences,
  alpha: number,
  sign: 1 | -1,
  mean: number,
): boolean {
  if (mean <= -1) return differences.length > 0;
  const logs = STAKES.map((stake) => logCoin(differences, sign, stake, mean));
  const largest = Math.max(...logs);
  const sum = logs.reduce((total, log) => total + Math.exp(log - largest), 0);
  return largest + Math.log(sum / STAKES.length) >= Math.log(2 / alpha);
}

function lowerBound(differences: BoundedDifferences, alpha: number, sign: 1 | -1): number {
  let [low, high] = [-1, 1];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (isBoundAbove(differences, alpha, sign, middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Returns the interval of the mean of differences from −1 to 1 at this look. */
export function bettingInterval(differences: BoundedDifferences, alpha: number): Interval {
  return { low: lowerBound(differences, alpha, 1), high: -lowerBound(differences, alpha, -1) };
}
