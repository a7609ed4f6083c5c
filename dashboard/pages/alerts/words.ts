/** Alerts in words. Pure. */
import type { AlertJson, AlertQuery } from '#core/contracts/alert.ts';
import {
  count,
  decimal,
  dollars,
  milliseconds,
  NOTHING,
  percent,
  plural,
} from '../../parts/formats/numbers.ts';

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
  { name: 'rate', label: 'Sum a minute' },
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

/** What a missing value means. */
export const NO_DATA = [
  { name: 'ok', label: 'As if all were well' },
  { name: 'alert', label: 'As if beyond the threshold' },
  { name: 'keep', label: 'No change of the state' },
];

export const STATE_CHIPS: Record<AlertJson['state'], string> = {
  ok: 'chip chip-good',
  pending: 'chip',
  warning: 'chip chip-warn',
  critical: 'chip chip-bad',
  disabled: 'chip',
  unknown: 'chip',
};

const GRAVITY: readonly AlertJson['state'][] = [
  'critical',
  'warning',
  'pending',
  'unknown',
  'ok',
  'disabled',
];

/** Returns alerts with the gravest first, those that cannot be evaluated before those that are well. */
export function bySeverity(alerts: readonly AlertJson[]): AlertJson[] {
  const gravity = ({ state, error }: AlertJson) =>
    GRAVITY.indexOf(error !== null && state === 'ok' ? 'unknown' : state);
  return alerts.toSorted((a, b) => gravity(a) - gravity(b));
}

/** The states in words, where their names do not say it. */
export const STATE_WORDS: Partial<Record<AlertJson['state'], string>> = {
  pending: 'beyond a threshold, not for long enough yet',
  disabled: 'not evaluated',
  unknown: 'not evaluated yet',
};

/** A share is the average of what is 0 or 1. */
const SHARES: ReadonlySet<string> = new Set(['errors', 'cache_hits', 'feedback']);

/** Returns a measured value, or a threshold, with its unit. */
export function valueText({ measures }: Pick<AlertQuery, 'measures'>, value: number | null): string {
  if (value === null) return NOTHING;
  const { metric, aggregate } = measures[0]!;
  if (aggregate === 'count') return decimal(value);
  const isMoney = metric === 'cost' || metric === 'cost_saved';
  if (aggregate === 'rate') return `${isMoney ? dollars(value) : decimal(value)}/min`;
  if (isMoney) return dollars(value);
  if (metric === 'latency' || metric === 'ttft') return milliseconds(value);
  if (SHARES.has(metric) && aggregate === 'avg') return percent(value);
  return decimal(value);
}

/** The metrics inside a sentence, where that is not the label in lower case. */
const NOUNS: Readonly<Record<string, string>> = {
  total_tokens: 'tokens',
  cost_saved: 'cost saved by the cache',
  feedback: 'good ratings',
};

function nounOf(metric: string): string {
  const label = METRICS.find(({ name }) => name === metric)?.label ?? metric;
  return NOUNS[metric] ?? (metric.startsWith('score:') ? `score ${metric.slice(6)}` : label.toLowerCase());
}

/** @example measureText({ metric: 'errors', aggregate: 'avg' }) // 'Share of errors' */
function measureText({ metric, aggregate }: AlertQuery['measures'][number]): string {
  const noun = nounOf(metric);
  switch (aggregate) {
    case 'avg':
      return SHARES.has(metric) ? `Share of ${noun}` : `Mean ${noun}`;
    case 'sum':
      return `Total ${noun}`;
    case 'count':
      return `Number of ${noun}`;
    case 'rate':
      return `Rate of ${noun}`;
    case 'min':
      return `Smallest ${noun}`;
    case 'max':
      return `Largest ${noun}`;
    default:
      return `${aggregate} ${noun}`;
  }
}

const MINUTES_AN_HOUR = 60;
const MINUTES_A_DAY = 1_440;

/** @example minutesText(1_440) // '1 day' */
function minutesText(minutes: number): string {
  if (minutes > 0 && minutes % MINUTES_A_DAY === 0) return plural(minutes / MINUTES_A_DAY, 'day');
  if (minutes > 0 && minutes % MINUTES_AN_HOUR === 0) return `${count(minutes / MINUTES_AN_HOUR)} h`;
  return `${count(minutes)} min`;
}

/** Returns what an alert watches: `p95 latency over 5 min > 2 s, for each model`. */
export function conditionText(
  alert: Pick<AlertJson, 'query' | 'window_minutes' | 'comparison' | 'threshold' | 'for_minutes'>,
): string {
  const { query, window_minutes, comparison, threshold, for_minutes } = alert;
  const measure = `${measureText(query.measures[0]!)} over ${minutesText(window_minutes)}`;
  const held = for_minutes === 0 ? '' : ` for ${minutesText(for_minutes)}`;
  const [grouping] = query.groupBy ?? [];
  const each =
    grouping === undefined
      ? ''
      : `, ${(GROUPINGS.find(({ name }) => name === grouping)?.label ?? `each ${grouping}`).replace('Each', 'each')}`;
  return `${measure} ${comparison} ${valueText(query, threshold)}${held}${each}`;
}

/** Returns whether a value is beyond a threshold. */
export function isBeyond(value: number, comparison: AlertJson['comparison'], threshold: number): boolean {
  if (comparison === '>') return value > threshold;
  if (comparison === '>=') return value >= threshold;
  return comparison === '<' ? value < threshold : value <= threshold;
}

/** The group of a value: that of each grouping; empty without one. */
export type Group = AlertJson['firing'][number]['group'];

/** Returns the value of a group's grouping, keys by their names; a dash for what has none. */
export function groupText(group: Group, names: ReadonlyMap<string, string> = new Map()): string {
  return Object.values(group)
    .map((value) => (value === null ? NOTHING : (names.get(String(value)) ?? String(value))))
    .join(', ');
}
