/** Groups paired differences by cluster: what is resampled, flipped or left out as a whole. */
import type { Pair } from './pairs.ts';

/** Sums of differences by group. An item without a cluster is a group of its own. */
export type Groups = {
  /** The sum of the differences of each group. */
  sums: Float64Array;
  /** The number of pairs of each group. */
  sizes: Float64Array;
  /** The number of all pairs. */
  pairs: number;
  /** The mean difference over all pairs; NaN without pairs. */
  mean: number;
};

function groupsOf(sums: Float64Array, sizes: Float64Array): Groups {
  const total = sums.reduce((sum, value) => sum + value, 0);
  const pairs = sizes.reduce((sum, size) => sum + size, 0);
  return { sums, sizes, pairs, mean: total / pairs };
}

/**
 * Returns differences that have no clusters as groups of one.
 * @internal Exported so that tests and benchmarks need no pairs.
 */
export function singleGroups(differences: ArrayLike<number>): Groups {
  return groupsOf(Float64Array.from(differences), new Float64Array(differences.length).fill(1));
}

/** Returns the groups of pairs by cluster, in the order of their first pairs. */
export function groupPairs(pairs: readonly Pair[]): Groups {
  const indexes = new Map<string, number>();
  const sums: number[] = [];
  const sizes: number[] = [];
  for (const { cluster, baseline, candidate } of pairs) {
    const known = cluster === null ? undefined : indexes.get(cluster);
    if (known === undefined) {
      if (cluster !== null) indexes.set(cluster, sums.length);
      sums.push(candidate - baseline);
      sizes.push(1);
    } else {
      sums[known]! += candidate - baseline;
      sizes[known]! += 1;
    }
  }
  return groupsOf(Float64Array.from(sums), Float64Array.from(sizes));
}

/**
 * Returns the fewest groups that a test of their signs can call different: of n groups that all lie on one side of 0 its
 * two-sided p is 2^(1 − n), and no choice of signs has a smaller one. Bounds of fewer groups are no better than their
 * extremes: with a true loss of just the margin all of n normal differences lie above it in 2^−n of experiments, so that 25 %
 * of two and 12.5 % of three would pass for not worse, where 2.5 % may.
 * @param alpha one less the confidence; 6 groups for 0.05
 */
export function fewestGroups(alpha: number): number {
  return Math.ceil(1 - Math.log2(alpha));
}

/** Returns whether each group has one pair: then there are no clusters that matter. */
export function isUngrouped({ sums, pairs }: Groups): boolean {
  return sums.length === pairs;
}

/**
 * Returns the standard error of the mean difference, from the deviations of the sums of groups (S. L. Lohr, "Sampling: Design
 * and Analysis", ratio estimator of cluster samples; E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640, 2024, section
 * 2.2, without the factor G/(G−1)). With groups of one it is the sample standard deviation over √n. Null below two groups.
 */
export function standardError({ sums, sizes, pairs, mean }: Groups): number | null {
  const count = sums.length;
  if (count < 2) return null;
  let squares = 0;
  for (let index = 0; index < count; index += 1) squares += (sums[index]! - mean * sizes[index]!) ** 2;
  return Math.sqrt((squares * count) / (count - 1)) / pairs;
}

/** Relative difference of sums that rounding explains. */
const CLOSE = 1e-12;

/** Returns whether all groups have the same mean difference: then nothing shows how much differences vary. */
export function isConstant({ sums, sizes, mean }: Groups): boolean {
  let [farthest, largest] = [0, 0];
  for (let index = 0; index < sums.length; index += 1) {
    const value = sums[index]! / sizes[index]!;
    farthest = Math.max(farthest, Math.abs(value - mean));
    largest = Math.max(largest, Math.abs(value));
  }
  return farthest <= CLOSE * largest;
}

/** Returns which groups differ at all, beyond what rounding explains. */
export function unequalGroups({ sums }: Groups): number[] {
  const largest = sums.reduce((most, sum) => Math.max(most, Math.abs(sum)), 0);
  return Array.from(sums.keys()).filter((index) => Math.abs(sums[index]!) > CLOSE * largest);
}
