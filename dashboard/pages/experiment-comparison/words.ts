/** A comparison in words. Pure. */
import type { ClusterKind, ComparisonJson, MetricComparisonJson } from '#core/contracts/comparison.ts';
import { withDigits, withPlaces } from '../../parts/formats/decimals.ts';
import {
  count,
  decimal,
  dollars,
  milliseconds,
  NOTHING,
  percent,
  plural,
} from '../../parts/formats/numbers.ts';

export type ClusterName = ClusterKind;
export type Verdict = MetricComparisonJson['verdict'];
export type Compared = Pick<ComparisonJson, 'alpha' | 'margin'>;

/** The facts that items which are not independent may have in common. */
export const CLUSTERS_SHOWN: Readonly<Record<ClusterName, string>> = {
  cluster: 'Items of one cluster',
  session: 'Items of one session',
  user: 'Items of one user',
  none: 'Nothing: all items',
};

export const VERDICTS: Readonly<Record<Verdict, { word: string; sign: string; look: string }>> = {
  better: { word: 'Better', sign: '▲', look: 'chip chip-good' },
  worse: { word: 'Worse', sign: '▼', look: 'chip chip-bad' },
  not_worse: { word: 'Not worse', sign: '≈', look: 'chip chip-warn' },
  undecided: { word: 'Undecided', sign: '?', look: 'chip' },
};

const BUILT_IN: Readonly<Record<string, string>> = {
  cost_usd: 'Cost',
  latency_ms: 'Latency',
  tokens: 'Tokens',
  errors: 'Errors',
};

/** Returns what a metric is called. */
export function nameOf({ metric, name }: Pick<MetricComparisonJson, 'metric' | 'name'>): string {
  return metric === 'score' ? name : (BUILT_IN[metric] ?? name);
}

/** Returns what tells the metrics of one candidate apart. */
export function keyOf({
  metric,
  evaluator_id,
}: Pick<MetricComparisonJson, 'metric' | 'evaluator_id'>): string {
  return evaluator_id ?? metric;
}

type Measured = Pick<MetricComparisonJson, 'metric' | 'kind'>;
type Unit = {
  value: (value: number) => string;
  size: (value: number) => string;
  /** Behind a size that stands alone. */
  unit?: (value: number) => string;
};

const POINTS: Unit = {
  value: percent,
  size: (value) => withPlaces(100 * value, { most: 1 }),
  unit: (value) => (withPlaces(100 * value, { most: 1 }) === '1' ? ' point' : ' points'),
};
const NUMBER: Unit = { value: decimal, size: decimal };
const UNITS: Readonly<Record<string, Unit>> = {
  cost_usd: { value: dollars, size: dollars },
  latency_ms: { value: milliseconds, size: milliseconds },
  tokens: { ...NUMBER, unit: () => ' tokens' },
};

const unitOf = ({ metric, kind }: Measured): Unit => UNITS[metric] ?? (kind === 'binary' ? POINTS : NUMBER);

/** Writes a value of a metric: a share of ones and zeros in percent. */
export function valueText(metric: Measured, value: number | null): string {
  return value === null ? NOTHING : unitOf(metric).value(value);
}

/** Writes a size in the metric's unit, such as `4.2 points`. */
export function sizeText(metric: Measured, value: number): string {
  const { size, unit } = unitOf(metric);
  return `${size(Math.abs(value))}${unit?.(Math.abs(value)) ?? ''}`;
}

/** Writes a difference with its sign. */
export function differenceText(metric: Measured, value: number | null): string {
  if (value === null) return NOTHING;
  return `${value > 0 ? '+' : value < 0 ? '−' : ''}${sizeText(metric, value)}`;
}

/** @example pText(0.0081) // '0.0081' */
export function pText(p: number | null): string {
  if (p === null) return NOTHING;
  if (p < 0.001) return 'less than 0.001';
  return p > 0.99 ? 'more than 0.99' : withDigits(p, 2);
}

const side = (value: number) => (value < 0 ? 'lower' : 'higher');

/** @example confidenceText(0.05) // '95 %' */
export function confidenceText(alpha: number): string {
  return `${withPlaces(100 * (1 - alpha), { most: 1 })} %`;
}

type Interval = NonNullable<MetricComparisonJson['interval']>;

function intervalText(metric: Measured, { low, high }: Interval): string {
  const { size } = unitOf(metric);
  if (low >= 0) return `${size(low)} to ${size(high)}`;
  if (high <= 0) return `${size(-high)} to ${size(-low)}`;
  return `${sizeText(metric, low)} lower to ${size(high)} higher`;
}

function differenceClause(metric: MetricComparisonJson, alpha: number): string {
  const { difference, interval, p_value: p, adjusted_p_value: adjusted } = metric;
  const what =
    difference === null || difference === 0
      ? 'no difference'
      : `${sizeText(metric, difference)} ${side(difference)}`;
  const range =
    interval === null ? '' : ` (${confidenceText(alpha)} interval ${intervalText(metric, interval)})`;
  const shown = adjusted ?? p;
  const word = adjusted === null || adjusted === p ? 'p' : 'adjusted p';
  return `${what}${range}${shown === null ? '' : `, ${word} ${pText(shown)}`}`;
}

/**
 * Returns the verdict of a metric as a sentence.
 * @example verdictSentence(metric, { alpha: 0.05, margin: null }) // 'Worse: 4.2 points lower (95 % interval 1.1 to 7.3), p 0.008.'
 */
export function verdictSentence(metric: MetricComparisonJson, { alpha, margin }: Compared): string {
  const { verdict, pairs, interval, interval_note, minimum_detectable: least } = metric;
  const { word } = VERDICTS[verdict];
  if (pairs === 0) return `${word}: no item has a value in both.`;
  const clause = differenceClause(metric, alpha);
  if (verdict === 'not_worse' && margin !== null)
    return `${word}: the loss is less than the margin of ${sizeText(metric, margin)}; ${clause}.`;
  if (verdict !== 'undecided') return `${word}: ${clause}.`;
  const note = interval === null && interval_note !== null ? ` No interval: ${interval_note}.` : '';
  const power =
    least === null
      ? ''
      : ` ${plural(pairs, 'pair')} find a difference of ${sizeText(metric, least)} four times in five.`;
  return `${word}: ${clause}.${note}${power}`;
}

/** Says which items a metric leaves out; null: none. */
export function missingText({ missing_baseline, missing_candidate }: MetricComparisonJson): string | null {
  const parts = [
    missing_baseline > 0 && `${count(missing_baseline)} without a value in the baseline`,
    missing_candidate > 0 && `${count(missing_candidate)} without a value in the candidate`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? null : `Items left out: ${parts.join(', ')}.`;
}
