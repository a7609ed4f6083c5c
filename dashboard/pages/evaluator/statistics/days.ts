/** The days of an evaluator's statistics as buckets of a chart. Pure. */
import type { Stats } from '../../../client/evaluators.ts';
import type { Buckets, Span } from '../../../parts/chart/buckets.ts';

/**
 * Returns the buckets of days. Days are those of UTC, and charts write times of the browser's zone: each bucket begins at the
 * midnight there of the same date, so that the chart writes the right date.
 */
export function dayBuckets(daily: Stats['daily']): Buckets {
  const begins = daily.map(({ day }) => new Date(`${day}T00:00:00`).getTime());
  const last = new Date(begins.at(-1) ?? 0);
  last.setDate(last.getDate() + 1);
  return { from: begins[0] ?? 0, to: last.getTime(), begins };
}

/** Returns the first and the last day that a part of the chart touches. */
export function daysOf(
  daily: Stats['daily'],
  { begins }: Buckets,
  { from, to }: Span,
): { first: string; last: string } {
  const at = (moment: number) =>
    Math.max(
      0,
      begins.findLastIndex((begin) => begin <= moment),
    );
  return { first: daily[at(from)]!.day, last: daily[at(to - 1)]!.day };
}
