/** Pairs the runs of two sides by item. */

import { meanOf } from './scale.ts';

/** A measured run: one answer to one item, on one side. */
export type Run = {
  itemId: string;
  /** What related items share, such as their session or user; null for an item that is alone. */
  cluster: string | null;
  /** The number of the repetition; several runs of an item are averaged. */
  repetition: number;
  /** The measured value; a run whose value is not finite counts as missing. */
  value: number;
};

/** An item that both sides have, with the mean of its repetitions on each. */
export type Pair = { itemId: string; cluster: string | null; baseline: number; candidate: number };

/** The pairs of two sides in the order of their item ids, and how many items have no partner. */
export type Paired = {
  pairs: Pair[];
  /** Items that only the candidate has. */
  missingBaseline: number;
  /** Items that only the baseline has. */
  missingCandidate: number;
  /** The most runs of an item on one side, among pairs; 0 without pairs. */
  repetitions: number;
};

/** A power of two, which rounds nothing: the sum of up to as many of the largest values is infinite without it. */
const DIVISOR = 1_024;

/** `total`, and `size`, the sum of absolute values, are divided by `DIVISOR`. */
type Sum = { cluster: string | null; total: number; size: number; count: number };

function sumByItem(runs: readonly Run[]): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  // Sums do not depend on the order in which runs come.
  const ordered = runs
    .filter(({ value }) => Number.isFinite(value))
    .toSorted((left, right) => left.repetition - right.repetition);
  for (const { itemId, cluster, value } of ordered) {
    const sum = sums.get(itemId);
    const divided = value / DIVISOR;
    if (sum === undefined) sums.set(itemId, { cluster, total: divided, size: Math.abs(divided), count: 1 });
    else {
      sum.total += divided;
      sum.size += Math.abs(divided);
      sum.count += 1;
    }
  }
  return sums;
}

/** Returns the number of items of one side and their mean, of which repetitions are averaged first; null without items. */
export function itemMean(runs: readonly Run[]): { items: number; mean: number | null } {
  const means = Float64Array.from(sumByItem(runs).values(), ({ total, count }) => (total / count) * DIVISOR);
  return { items: means.length, mean: meanOf(means) };
}

/**
 * Returns whether the means of two sums differ by no more than rounding: 0.1, 0.2 and 0.3 add up to more than 0.3, 0.2 and 0.1
 * do. Values that were measured once are not rounded.
 */
function areMeansEqual(one: Sum, other: Sum): boolean {
  const count = Math.max(one.count, other.count);
  if (count === 1) return one.total === other.total;
  const largest = Math.max(one.size / one.count, other.size / other.count);
  return Math.abs(one.total / one.count - other.total / other.count) <= count * Number.EPSILON * largest;
}

/**
 * Pairs two sides: averages the repetitions of each item, and joins the items that both sides have. Repetitions are averaged
 * first because they are no further evidence about other items. The cluster of a pair is that of its baseline runs.
 */
export function pairRuns(baseline: readonly Run[], candidate: readonly Run[]): Paired {
  const [before, after] = [sumByItem(baseline), sumByItem(candidate)];
  const shared = [...before.keys()].filter((itemId) => after.has(itemId)).sort();
  let repetitions = 0;
  const pairs = shared.map((itemId) => {
    const [one, other] = [before.get(itemId)!, after.get(itemId)!];
    repetitions = Math.max(repetitions, one.count, other.count);
    const candidate = areMeansEqual(one, other) ? one : other;
    return {
      itemId,
      cluster: one.cluster,
      baseline: (one.total / one.count) * DIVISOR,
      candidate: (candidate.total / candidate.count) * DIVISOR,
    };
  });
  return {
    pairs,
    missingBaseline: after.size - pairs.length,
    missingCandidate: before.size - pairs.length,
    repetitions,
  };
}
