/** Bars of a histogram: how many requests came when, and how many of them failed. */
import type { MetricsAnswer } from '#core/contracts/metrics.ts';

/** What happened from one moment up to the next. */
export type Bar = {
  readonly from: number;
  readonly to: number;
  readonly requests: number;
  readonly errors: number;
};

/** Returns the bars of an answer whose measures are the counts of requests and of errors. */
export function barsOf({ total, range }: Pick<MetricsAnswer, 'total' | 'range'>): Bar[] {
  const [from, to] = [Date.parse(range.from), Date.parse(range.to)];
  return total.points.map(([begin, requests, errors], index) => ({
    // The first and the last bucket may be longer than what was asked for.
    from: Math.max(begin ?? from, from),
    to: Math.min(total.points[index + 1]?.[0] ?? to, to),
    requests: requests ?? 0,
    errors: errors ?? 0,
  }));
}

/** Returns the range of two bars, in either order; null: there are none. */
export function rangeOf(
  bars: readonly Bar[],
  one: number,
  other: number,
): { from: number; to: number } | null {
  const [first, last] = [bars[Math.min(one, other)], bars[Math.max(one, other)]];
  return first === undefined || last === undefined ? null : { from: first.from, to: last.to };
}
