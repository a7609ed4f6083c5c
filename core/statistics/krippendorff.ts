/** Krippendorff's alpha: agreement of any number of raters, of whom some may not have rated some items. */
import type { Agreement } from './agreement.ts';
import { scaleFor } from './scale.ts';

/** How ratings are measured: names, an order, or a scale of equal steps. */
export type RatingLevel = 'nominal' | 'ordinal' | 'interval';

type Difference = (one: number, other: number) => number;

function countValues(units: readonly (readonly number[])[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const value of units.flat()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Map([...counts].sort(([left], [right]) => left - right));
}

/** Returns the squared difference of two ratings; an ordinal one counts the ratings in between, and half of both ends. */
function differenceOf(level: RatingLevel, counts: ReadonlyMap<number, number>): Difference {
  if (level === 'nominal') return (one, other) => (one === other ? 0 : 1);
  if (level === 'interval') {
    const scale = scaleFor([...counts.keys()]);
    return (one, other) => (one / scale - other / scale) ** 2;
  }
  const middles = new Map<number, number>();
  let below = 0;
  for (const [value, count] of counts) {
    middles.set(value, below + count / 2);
    below += count;
  }
  return (one, other) => (middles.get(one)! - middles.get(other)!) ** 2;
}

/** Returns the sum of differences over ordered pairs of different ratings, by the numbers of each value. */
function pairedDifferences(counts: ReadonlyMap<number, number>, difference: Difference): number {
  let sum = 0;
  for (const [one, first] of counts) {
    for (const [other, second] of counts) sum += first * second * difference(one, other);
  }
  return sum;
}

/**
 * Returns Krippendorff's alpha (K. Krippendorff, "Content Analysis", 4th edition, 2018, chapter 12; "Computing Krippendorff's
 * Alpha-Reliability", 2011): 1 less the disagreement within items over that among all ratings. Items with one rating count
 * for nothing.
 * @param items the ratings of each item, null where a rater gave none
 */
export function krippendorffAlpha(
  items: readonly (readonly (number | null)[])[],
  level: RatingLevel,
): Agreement {
  const units = items
    .map((ratings) => ratings.filter((rating) => rating !== null))
    .filter(({ length }) => length > 1);
  const counts = countValues(units);
  const total = units.reduce((sum, { length }) => sum + length, 0);
  if (total === 0) return { value: null, reason: 'no item has two ratings' };
  if (counts.size === 1) {
    return { value: null, reason: 'all ratings are the same, which chance explains as well' };
  }
  const difference = differenceOf(level, counts);
  const within = units.reduce(
    (sum, unit) => sum + pairedDifferences(countValues([unit]), difference) / (unit.length - 1),
    0,
  );
  return { value: 1 - ((total - 1) * within) / pairedDifferences(counts, difference) };
}
