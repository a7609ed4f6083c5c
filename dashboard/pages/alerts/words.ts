/** Alerts in words. Pure. */
import type { AlertJson, AlertQuery } from '#core/contracts/alert.ts';
import { decimal, dollars, milliseconds, NOTHING, percent } from '../../parts/formats/numbers.ts';

/** The metrics that an alert can watch, with the aggregate that is meant most often. */
export const METRICS = [
  { name: 'errors', label: 'Errors', aggregate: 'avg' },
  { name: 'requests', label: 'Requests', aggregate: 'count' },
  { name: 'cost', label: 'Cost', aggregate: 'sum' },
  { name: 'latency', label: 'Latency', aggregate: 'p95' },
  { name: 'ttft', label: 'Time to first token', aggregate: 'p95' },
  { name: 'prompt_tokens', label: 'Prompt tokens', aggregate: 'sum' },
  { name: 'completion_tokens', label: 'Completion tokens', aggregate: 'sum' },
  { name: 'total_tokens', label: 'Tokens', aggregate: 'sum' },
  { name: 'tokens_per_second', label: 'Tokens a second', aggregate: 'avg' },
  { name: 'cache_hits', label: 'Cache hits', aggregate: 'avg' },
  { name: 'feedback', label: 'Feedback', aggregate: 'avg' },
] as const;

export const AGGREGATES = [
  { name: 'avg', label: 'Average, or share' },
  { name: 'sum', label: 'Sum' },
  { name: 'count', label: 'Number' },
  { name: 'rate', label: 'Number a second' },
  { name: 'min', label: 'Smallest' },
  { name: 'max', label: 'Largest' },
  { name: 'p50', label: 'p50' },
  { name: 'p95', label: 'p95' },
  { name: 'p99', label: 'p99' },
];

export const GROUPINGS = [
  { name: '', label: 'All requests together' },
  { name: 'model', label: 'Each model' },
  { name: 'provider', label: 'Each provider' },
  { name: 'user', label: 'Each user' },
  { name: 'api_key', label: 'Each API key' },
  { name: 'path', label: 'Each path' },
];

export const STATE_CHIPS: Record<AlertJson['state'], string> = {
  ok: 'chip chip-good',
  pending: 'chip',
  warning: 'chip chip-warn',
  critical: 'chip chip-bad',
  disabled: 'chip',
  unknown: 'chip',
};

/** A share is the average of what is 0 or 1. */
const SHARES: ReadonlySet<string> = new Set(['errors', 'cache_hits', 'feedback']);

/** Returns a measured value, or a threshold, with its unit. */
export function valueText({ measures }: Pick<AlertQuery, 'measures'>, value: number | null): string {
  if (value === null) return NOTHING;
  const { metric, aggregate } = measures[0]!;
  if (aggregate === 'count' || aggregate === 'rate') return decimal(value);
  if (metric === 'cost') return dollars(value);
  if (metric === 'latency' || metric === 'ttft') return milliseconds(value);
  if (SHARES.has(metric) && aggregate === 'avg') return percent(value);
  return decimal(value);
}

/** Returns what an alert watches: `p95 of Latency over 5 min > 2 s`. */
export function conditionText(
  alert: Pick<AlertJson, 'query' | 'window_minutes' | 'comparison' | 'threshold'>,
): string {
  const { metric, aggregate } = alert.query.measures[0]!;
  const label = METRICS.find(({ name }) => name === metric)?.label ?? metric;
  const value = valueText(alert.query, alert.threshold);
  return `${label}, ${aggregate}, of ${alert.window_minutes} min ${alert.comparison} ${value}`;
}

/** Returns whether a value is beyond a threshold. */
export function isBeyond(value: number, comparison: AlertJson['comparison'], threshold: number): boolean {
  if (comparison === '>') return value > threshold;
  if (comparison === '>=') return value >= threshold;
  return comparison === '<' ? value < threshold : value <= threshold;
}

/** Returns the value of a group's grouping; a dash for what has none. */
export function groupText(group: Readonly<Record<string, string | number | null>>): string {
  return Object.values(group)
    .map((value) => (value === null ? NOTHING : String(value)))
    .join(', ');
}
