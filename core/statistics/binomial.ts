/** Sums of the binomial distribution with probability 1/2. */

/** Beyond this the error of the series below is less than rounding. */
const LARGEST_PRODUCT = 20;

/** Returns ln(n!): by the product for small n, else by Stirling's series (NIST DLMF 5.11.1). */
function logFactorial(n: number): number {
  if (n <= LARGEST_PRODUCT) {
    let product = 1;
    for (let factor = 2; factor <= n; factor += 1) product *= factor;
    return Math.log(product);
  }
  const square = n * n;
  const series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * square)) / square) / square) / n;
  return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + series;
}

/** The probability of a count of heads in `trials` fair throws, and that of fewer. */
export type FairCount = { at: number; below: number };

/** Returns the probabilities of exactly and of fewer than `heads` in `trials` throws of a fair coin. */
export function fairCount(heads: number, trials: number): FairCount {
  const log = logFactorial(trials) - logFactorial(heads) - logFactorial(trials - heads);
  const at = Math.exp(log - trials * Math.LN2);
  let term = at;
  let below = 0;
  for (let count = heads; count > 0 && term > below * Number.EPSILON; count -= 1) {
    term *= count / (trials - count + 1);
    below += term;
  }
  return { at, below };
}
