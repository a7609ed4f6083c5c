/** The places of a difference and its interval in a plot. To the right is better, whatever the direction of a metric. Pure. */
import type { MetricComparisonJson } from '#core/contracts/comparison.ts';

type Drawn = Pick<MetricComparisonJson, 'metric' | 'direction' | 'difference' | 'interval'>;

/** Of half the width, so that nothing touches the edge. */
const ROOM = 1.1;
/** Percent of the width. */
const MIDDLE = 50;

/** The margin is one of scores; other metrics have none. */
const marginOf = ({ metric }: Drawn, margin: number | null) => (metric === 'score' ? margin : null);

/** Returns the largest value that the rows of one metric show on either side of zero. */
export function reachOf(rows: readonly Drawn[], margin: number | null): number {
  const sizes = rows.flatMap((row) => [
    row.difference ?? 0,
    row.interval?.low ?? 0,
    row.interval?.high ?? 0,
    marginOf(row, margin) ?? 0,
  ]);
  const reach = Math.max(...sizes.map(Math.abs), 0) * ROOM;
  return reach === 0 ? 1 : reach;
}

export type Marks = {
  /** Percent of the width from the left; null: there is none. */
  dot: number | null;
  interval: { from: number; to: number } | null;
  margin: number | null;
};

/** Returns the marks of a row. */
export function marksOf(row: Drawn, reach: number, margin: number | null): Marks {
  const sign = row.direction === 'higher' ? 1 : -1;
  const at = (value: number) => Math.round(10 * (MIDDLE + (MIDDLE * sign * value) / reach)) / 10;
  const { difference, interval } = row;
  const ends = interval === null ? null : [at(interval.low), at(interval.high)];
  const own = marginOf(row, margin);
  return {
    dot: difference === null ? null : at(difference),
    interval: ends === null ? null : { from: Math.min(...ends), to: Math.max(...ends) },
    margin: own === null ? null : at(-sign * own),
  };
}
