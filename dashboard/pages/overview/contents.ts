/** The contents of the overview's charts, from the API's answers. Pure. */
import type { MetricsAnswer, MetricsPeriod } from '#core/contracts/metrics.ts';
import type { Buckets } from '../../parts/chart/buckets.ts';
import { moveOnto } from '../../parts/chart/ghost.ts';
import type { ChartContent, ChartSeries, Color } from '../../parts/chart/series.ts';
import { topWithOther } from '../../parts/chart/top.ts';
import type { Unit } from '../../parts/chart/units.ts';
import { groupValue, type Place, valuesOf } from './measures.ts';

const SERIES: readonly Color[] = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'];
/** Groups of a chart; the others are one. */
const MOST_GROUPS = 5;
/** Keys of series that no value of a record can be. */
const OTHER = '\u0000other';
const CLASSES: readonly { digit: number; label: string; color: Color }[] = [
  { digit: 2, label: '2xx success', color: 'series-1' },
  { digit: 3, label: '3xx redirection', color: 'series-5' },
  { digit: 4, label: '4xx client error', color: 'warn' },
  { digit: 5, label: '5xx server error', color: 'bad' },
];

function bucketsOfPeriod({ points }: MetricsPeriod, range: { from: string; to: string }): Buckets {
  return {
    begins: points.map(([begin]) => begin!),
    from: Date.parse(range.from),
    to: Date.parse(range.to),
  };
}

/** Returns the buckets of an answer. */
export function bucketsOf({ total, range }: MetricsAnswer): Buckets {
  return bucketsOfPeriod(total, range);
}

/** Returns a measure of the period before, moved onto the buckets of the range; null: the answer has none. */
function valuesBefore({ answer, index }: Place): (number | null)[] | null {
  const { previous } = answer.total;
  if (previous === undefined || answer.previousRange === null) return null;
  const before = bucketsOfPeriod(previous, answer.previousRange);
  return moveOnto(bucketsOf(answer), before, valuesOf(previous, index));
}

/** A measure as a line: its place, its label, and its colour by position. */
type Line = { key: string; label: string; place: Place };

/** Returns the period before of some measures, each in the colour of its line. */
export function ghostsOf(lines: readonly Line[], color?: Color): ChartSeries[] {
  return lines.flatMap(({ key, label, place }, index) => {
    const values = valuesBefore(place);
    if (values === null) return [];
    return [
      { key: `before ${key}`, label: `${label}, period before`, color: color ?? colorAt(index), values },
    ];
  });
}

function colorAt(index: number): Color {
  return SERIES[index % SERIES.length]!;
}

/** Returns measures of all requests as the series of a chart. */
export function linesContent(
  { title, unit, isSum }: { title: string; unit: Unit; isSum: boolean },
  lines: readonly Line[],
  isCompared: boolean,
): ChartContent {
  const series = lines.map(({ key, label, place: { answer, index } }, position) => ({
    key,
    label,
    color: colorAt(position),
    values: valuesOf(answer.total, index),
  }));
  return { title, unit, isSum, series, ghosts: isCompared ? ghostsOf(lines) : [] };
}

function add(lists: readonly (readonly (number | null)[])[]): (number | null)[] {
  return lists[0]!.map((_, index) => lists.reduce((sum, values) => sum + (values[index] ?? 0), 0));
}

/** Returns requests by class of status; classes without a request are left out. */
export function statusSeries(answer: MetricsAnswer): ChartSeries[] {
  return CLASSES.flatMap(({ digit, label, color }) => {
    const own = answer.series.filter((one) => Math.floor(Number(groupValue(one)) / 100) === digit);
    if (own.length === 0) return [];
    return [{ key: String(digit), label, color, values: add(own.map((one) => valuesOf(one, 0))) }];
  });
}

/** Returns the condition of a class of status, by the key of its series. */
export function statusClassCondition(digit: string): string {
  return `status:${digit}00..${Number(digit) + 1}00`;
}

/** Returns the answer with the groups of failed requests alone. */
export function errorGroups(answer: MetricsAnswer): MetricsAnswer['series'] {
  return answer.series.filter((one) => Number(groupValue(one)) >= 400);
}

export type GroupSeries = ChartSeries & {
  /** Undefined: all other groups as one. */ value?: string | number | null;
};

/** Returns the greatest groups by a measure and the others as one. */
export function groupSeries(
  { series, other }: Pick<MetricsAnswer, 'series' | 'other'>,
  index: number,
  nameOf: (value: string | number | null) => string,
): GroupSeries[] {
  const { top, other: rest } = topWithOther(
    series.map((one) => ({ group: groupValue(one), values: valuesOf(one, index) })),
    other === null ? null : valuesOf(other, index),
    MOST_GROUPS,
  );
  const shown: GroupSeries[] = top.map(({ group, values }, position) => ({
    key: String(group),
    label: nameOf(group),
    color: colorAt(position),
    values,
    value: group,
  }));
  return rest === null ? shown : [...shown, { key: OTHER, label: 'Others', color: 'muted', values: rest }];
}
