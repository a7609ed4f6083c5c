/** Numbers in the texts of a gate. Pure. */
import type { MetricComparisonJson } from '../../contracts/comparison.ts';

const DIGITS = 4;
const PERCENT = 100;

/** Returns a number with four digits, without an exponent where it is of a usual size. */
export function number(value: number): string {
  if (value === 0) return '0';
  const rounded = Number(value.toPrecision(DIGITS));
  return rounded.toLocaleString('en-US', { maximumSignificantDigits: DIGITS, useGrouping: false });
}

/** Below, a p says no more than that it is small. */
const LEAST_P = 0.0001;

/** Returns a p, as in a sentence: `p 0.034`, or `p < 0.0001`. */
export function pText(p: number): string {
  return p < LEAST_P ? `< ${LEAST_P}` : number(p);
}

const signed = (value: number) => (value > 0 ? `+${number(value)}` : number(value));

/** Returns the interval of a difference; null: there is none. */
function intervalText(metric: MetricComparisonJson): string | null {
  const { interval } = metric;
  return interval === null ? null : `${signed(interval.low)} to ${signed(interval.high)}`;
}

/**
 * Returns the verdict with the difference, its interval and its p.
 * @param alpha one less the confidence of the interval
 */
export function describeDifference(metric: MetricComparisonJson, alpha: number): string {
  const { difference, adjusted_p_value: p, pairs, verdict } = metric;
  const interval = intervalText(metric);
  const confidence = `${number(PERCENT * (1 - alpha))} % interval`;
  return [
    `${verdict.replace('_', ' ')}: ${signed(difference ?? 0)} over ${pairs} items`,
    ...(interval === null ? [metric.interval_note ?? 'no interval'] : [`${confidence} ${interval}`]),
    ...(p === null ? [] : [`p ${pText(p)}`]),
  ].join(', ');
}

/** Returns a difference for a table. */
export function differenceText(metric: MetricComparisonJson): string {
  const interval = intervalText(metric);
  if (metric.difference === null) return '–';
  return `${signed(metric.difference)}${interval === null ? '' : ` (${interval})`}`;
}
