/** Bounds of the mean of bounded differences of which too few are other than 0 for resampling to show their spread. */
import { type Groups, unequalGroups } from './groups.ts';
import { type Random, seededRandom } from './random.ts';
import type { Interval } from './wilson.ts';

export type BoundedOptions = {
  /** One less the confidence: 0.05 for 95 %. */
  alpha: number;
  /** The smallest and the largest value of the metric: differences are as far from 0 as these are apart, at most. */
  range: Interval;
  seed: number;
  draws?: number | undefined;
};

/** As many as the bootstrap has resamples. */
const DEFAULT_DRAWS = 10_000;
/** Counts up to here are drawn as sums of as many exponential variables. */
const MOST_SUMMED = 8;

function normalOf(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
}

/** Draws the sum of `count` exponential variables (G. Marsaglia and W. W. Tsang, ACM TOMS 26, 2000). */
function drawSum(random: Random, count: number): number {
  if (count <= MOST_SUMMED) {
    let sum = 0;
    for (let drawn = 0; drawn < count; drawn += 1) sum -= Math.log(1 - random.uniform());
    return sum;
  }
  const shape = count - 1 / 3;
  const scale = 1 / Math.sqrt(9 * shape);
  for (;;) {
    const normal = normalOf(random);
    const cube = (1 + scale * normal) ** 3;
    const isAccepted =
      cube > 0 &&
      Math.log(1 - random.uniform()) < normal ** 2 / 2 + shape - shape * cube + shape * Math.log(cube);
    if (isAccepted) return shape * cube;
  }
}

/**
 * Returns the interval of N. Gaffke ("Three test statistics for a nonparametric one-sided hypothesis on the mean of a
 * nonnegative variable", Mathematical Methods of Statistics 14, 2005; E. Learned-Miller and P. Thomas, arXiv 1905.06208,
 * 2019): groups have random weights, and one more group, which was not seen, lies at the worst difference for the lower bound
 * and at the best for the upper. Of zeros and ones it is that of Clopper and Pearson. That it holds for each distribution and
 * number of groups is not proven, and no case is known in which it does not. It takes time for groups other than 0 alone; the
 * group that was not seen has the mean size.
 */
export function boundedInterval(groups: Groups, options: BoundedOptions): Interval {
  const { alpha, range, seed, draws = DEFAULT_DRAWS } = options;
  const random = seededRandom(seed);
  const span = range.high - range.low;
  const size = groups.pairs / groups.sums.length;
  const unequal = unequalGroups(groups);
  const equalCount = groups.sums.length - unequal.length;
  const equalPairs = groups.pairs - unequal.reduce((sum, index) => sum + groups.sizes[index]!, 0);
  const equalSize = equalCount === 0 ? 0 : equalPairs / equalCount;
  const [lows, highs] = [new Float64Array(draws), new Float64Array(draws)];
  for (let draw = 0; draw < draws; draw += 1) {
    let sum = 0;
    let pairs = drawSum(random, equalCount) * equalSize;
    for (const index of unequal) {
      const weight = drawSum(random, 1);
      sum += weight * groups.sums[index]!;
      pairs += weight * groups.sizes[index]!;
    }
    const unseen = drawSum(random, 1) * size;
    lows[draw] = (sum - unseen * span) / (pairs + unseen);
    highs[draw] = (sum + unseen * span) / (pairs + unseen);
  }
  const tail = Math.floor((alpha / 2) * draws);
  return { low: lows.sort()[tail]!, high: highs.sort()[draws - 1 - tail]! };
}
