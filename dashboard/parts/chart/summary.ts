/** One sentence about a chart, for those who do not see it. Pure. */
import { type Buckets, spanOf } from './buckets.ts';
import { type ChartContent, type ChartSeries, sumOf } from './series.ts';
import { UNITS } from './units.ts';

/** Series that are named; the others are in the table. */
const MOST_NAMED = 6;

function peakOf(series: readonly ChartSeries[], buckets: number): { index: number; value: number } | null {
  let peak: { index: number; value: number } | null = null;
  for (let index = 0; index < buckets; index++) {
    const value = sumOf(series.map(({ values }) => values[index] ?? null));
    if (value !== null && value > (peak?.value ?? 0)) peak = { index, value };
  }
  return peak;
}

function sums({ unit, series }: ChartContent, buckets: Buckets, time: (ms: number) => string): string {
  const { full } = UNITS[unit];
  const total = sumOf(series.map(({ values }) => sumOf(values)));
  const peak = peakOf(series, buckets.begins.length);
  if (peak === null) return total === null ? 'not known' : `${full(total)} in all`;
  const most = `the most, ${full(peak.value)}, from ${time(spanOf(buckets, peak.index).from)}`;
  const parts = series
    .slice(0, MOST_NAMED)
    .map(({ label, values }) => `${label} ${full(sumOf(values))}`)
    .join(', ');
  return series.length === 1 ? `${full(total)} in all; ${most}` : `${full(total)} in all (${parts}); ${most}`;
}

function extremes({ unit, series }: ChartContent): string {
  const { full } = UNITS[unit];
  const parts = series.slice(0, MOST_NAMED).map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label} without values`;
    return `${label} between ${full(Math.min(...known))} and ${full(Math.max(...known))}`;
  });
  return parts.join('; ');
}

/**
 * Returns a sentence with the sums and the greatest bucket, or the least and the greatest value of each series.
 * @param time writes a moment
 */
export function summaryOf(content: ChartContent, buckets: Buckets, time: (ms: number) => string): string {
  const span = `${content.title} from ${time(buckets.from)} to ${time(buckets.to)}`;
  if (content.series.length === 0) return `${span}: nothing.`;
  return `${span}: ${content.isSum ? sums(content, buckets, time) : extremes(content)}.`;
}
