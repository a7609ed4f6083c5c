/** What a chart draws. */
import type { Unit } from './units.ts';

/** Colours are tokens of styles/tokens.css, so that they follow the theme. */
export type Color = `series-${1 | 2 | 3 | 4 | 5 | 6}` | 'good' | 'warn' | 'bad' | 'muted';

/** One value for each bucket; null: there is none, which leaves a gap in a line. */
export type ChartSeries = {
  key: string;
  /** May be any text of a record. */
  label: string;
  color: Color;
  values: readonly (number | null)[];
};

/** `stacked`: bars that stand on one another. */
export type ChartKind = 'line' | 'bars' | 'stacked';

/** The series and the period before, in one unit. */
export type ChartContent = {
  title: string;
  unit: Unit;
  /** Whether the values of buckets add up: counts and costs do, averages and quantiles do not. */
  isSum: boolean;
  series: readonly ChartSeries[];
  /** Of the period before, moved onto the buckets: drawn dashed. */
  ghosts?: readonly ChartSeries[];
};

/** Returns the sum of a series; null: it has no value. */
export function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}
