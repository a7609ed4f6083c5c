/** Wilcoxon's signed-rank test, for ratings whose steps need not be equal. */
import { normalCdf } from './normal.ts';

/** The result of the signed-rank test, and how many pairs the candidate won, tied and lost. */
export type Wilcoxon = {
  /** Two-sided. */
  pValue: number;
  /** The smaller of the sums of ranks of positive and of negative differences. */
  statistic: number;
  method: 'exact' | 'normal approximation';
  /** Pairs with a positive difference. */
  wins: number;
  ties: number;
  losses: number;
};

/** With more pairs, the normal approximation; without ties of ranks the exact distribution is used up to here. */
const MOST_PAIRS_EXACT = 50;
/** With ties or zeros the exact distribution, given the ranks, is used up to here. */
const MOST_TIED_PAIRS_EXACT = 13;

/** Differences that are closer than this share of the largest are equal: 0.3 less 0.2 is not 0.2 less 0.1 in binary fractions. */
const CLOSE = 1e-12;

type Ranks = {
  /** Twice the rank of each absolute difference: with ties in it, a rank may be half of a whole number. */
  doubled: number[];
  /** Twice the sum of the ranks of positive differences. */
  positive: number;
  /** The sum of t³ − t over groups of t equal absolute differences. */
  tieTerm: number;
};

/** Ranks the absolute values of differences other than 0; equal ones share the middle of their ranks. */
function rank(differences: readonly number[]): Ranks {
  const sorted = differences.toSorted((left, right) => Math.abs(left) - Math.abs(right));
  const near = CLOSE * Math.abs(sorted.at(-1) ?? 0);
  const ranks: Ranks = { doubled: [], positive: 0, tieTerm: 0 };
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (end < sorted.length && Math.abs(sorted[end]!) - Math.abs(sorted[start]!) <= near) end += 1;
    const doubled = start + end + 1;
    for (let index = start; index < end; index += 1) {
      ranks.doubled.push(doubled);
      if (sorted[index]! > 0) ranks.positive += doubled;
    }
    ranks.tieTerm += (end - start) ** 3 - (end - start);
    start = end;
  }
  return ranks;
}

/** Returns twice the smaller tail of the sum of positive ranks when each sign is as likely: counts every choice of signs. */
function exactPValue({ doubled, positive }: Ranks): number {
  const total = doubled.reduce((sum, value) => sum + value, 0);
  const shares = new Float64Array(total + 1);
  shares[0] = 1;
  let reached = 0;
  for (const value of doubled) {
    reached += value;
    for (let sum = reached; sum >= 0; sum -= 1) {
      shares[sum] = (shares[sum]! + (sum >= value ? shares[sum - value]! : 0)) / 2;
    }
  }
  // The distribution is symmetric, and so the upper tail is the lower one of the other sum.
  const smaller = Math.min(positive, total - positive);
  const tail = shares.subarray(0, smaller + 1).reduce((sum, share) => sum + share, 0);
  return Math.min(1, 2 * tail);
}

/** Returns the two-sided p of the normal approximation, with the variance corrected for ties and not for continuity. */
function approximatePValue({ doubled, positive, tieTerm }: Ranks): number {
  const count = doubled.length;
  const mean = (count * (count + 1)) / 4;
  const variance = (count * (count + 1) * (2 * count + 1) - tieTerm / 2) / 24;
  return Math.min(1, 2 * normalCdf(-Math.abs(positive / 2 - mean) / Math.sqrt(variance)));
}

/**
 * Tests whether paired differences are symmetric about 0 (F. Wilcoxon, Biometrics Bulletin 1, 1945), as scipy.stats.wilcoxon
 * does by default: zeros are dropped (zero_method "wilcox"). The p value is exact up to 50 pairs when there are neither zeros
 * nor equal absolute differences, and up to 13 pairs with them; otherwise it is the normal approximation with the correction
 * for ties and without one for continuity. Differences that rounding alone makes unequal are equal, as scipy advises to make them
 * before. Without any difference p is 1, where scipy gives none from 14 pairs on.
 */
export function wilcoxonTest(differences: readonly number[]): Wilcoxon {
  const others = differences.filter((difference) => difference !== 0);
  const wins = others.filter((difference) => difference > 0).length;
  const ranks = rank(others);
  const ties = differences.length - others.length;
  const most = ranks.tieTerm > 0 || ties > 0 ? MOST_TIED_PAIRS_EXACT : MOST_PAIRS_EXACT;
  const isExact = others.length === 0 || differences.length <= most;
  const total = (others.length * (others.length + 1)) / 2;
  return {
    pValue: isExact ? exactPValue(ranks) : approximatePValue(ranks),
    statistic: Math.min(ranks.positive / 2, total - ranks.positive / 2),
    method: isExact ? 'exact' : 'normal approximation',
    wins,
    ties,
    losses: others.length - wins,
  };
}
