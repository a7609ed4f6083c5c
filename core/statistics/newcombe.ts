/** The interval of the difference of two proportions of the same items. */
import { normalQuantile } from './normal.ts';
import { type Interval, wilsonInterval } from './wilson.ts';

/** Counts of items by success on both sides. */
export type PairedTable = {
  both: number;
  baselineOnly: number;
  candidateOnly: number;
  neither: number;
};

/** Returns Newcombe's estimate of the correlation of both sides, with its correction for continuity; 0 when undefined. */
function correlation({ both, baselineOnly, candidateOnly, neither }: PairedTable): number {
  const total = both + baselineOnly + candidateOnly + neither;
  const margins =
    (both + candidateOnly) * (baselineOnly + neither) * (both + baselineOnly) * (candidateOnly + neither);
  if (margins === 0) return 0;
  const cross = both * neither - baselineOnly * candidateOnly;
  const corrected = cross > 0 ? Math.max(cross - total / 2, 0) : cross;
  return corrected / Math.sqrt(margins);
}

/**
 * Returns the interval of the difference of two proportions of the same items, candidate less baseline: method 10 of
 * R. G. Newcombe, Statistics in Medicine 17, 2635–2650, 1998, which joins the Wilson intervals of both. Null without items.
 * It takes each item for independent and for measured once: it does not hold for clusters or averaged repetitions.
 */
export function newcombeInterval(table: PairedTable, alpha: number): Interval | null {
  const { both, baselineOnly, candidateOnly, neither } = table;
  const total = both + baselineOnly + candidateOnly + neither;
  if (total === 0) return null;
  const z = normalQuantile(1 - alpha / 2);
  const [candidate, baseline] = [both + candidateOnly, both + baselineOnly];
  const [first, second] = [wilsonInterval(candidate, total, z), wilsonInterval(baseline, total, z)];
  const phi = correlation(table);
  const distance = (one: number, other: number) =>
    Math.sqrt(Math.max(0, one * one - 2 * phi * one * other + other * other));
  const difference = (candidateOnly - baselineOnly) / total;
  return {
    low: difference - distance(candidate / total - first.low, second.high - baseline / total),
    high: difference + distance(baseline / total - second.low, first.high - candidate / total),
  };
}
