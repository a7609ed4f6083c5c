/** Draws a chart with uPlot. In a chunk of its own, fetched when the first chart is shown. */
import uPlot from 'uplot';
import { day, minutes } from '../formats/times.ts';
import { type Buckets, domainOf, middlesOf, type Span } from './buckets.ts';
import type { ChartKind, ChartSeries, Color } from './series.ts';
import { stack } from './stack.ts';
import { UNITS, type Unit } from './units.ts';

export type PlotContent = {
  kind: ChartKind;
  unit: Unit;
  buckets: Buckets;
  /** Those that are shown. */
  series: readonly ChartSeries[];
  ghosts: readonly ChartSeries[];
};

export type PlotEvents = {
  /** The mouse is over a bucket, or has left the chart. */
  onMove: (index: number | null) => void;
  /** Buckets were selected by a drag. */
  onSelect: (span: Span) => void;
  /** A click; the key of the series at that place, if there is one. */
  onClick: (index: number, key: string | null) => void;
};

export type Plot = {
  /** Shows the crosshair at a bucket, or nowhere. */
  point: (index: number | null) => void;
  resize: (width: number, height: number) => void;
  destroy: () => void;
};

/** Pixels that the mouse moves before a press is a drag. */
const LEAST_DRAG = 5;
/** Pixels between a click and the line that it means. */
const NEAR = 24;
const DAY_MS = 86_400_000;
/** Pixels of a digit of the labels, which are 11 high. */
const DIGIT_PX = 6.7;

/** Returns what a token means at a place of the page: a canvas knows no tokens and no light-dark(). */
function colorReader(host: HTMLElement): (token: string) => string {
  const probe = document.createElement('span');
  // The rule for reduced motion gives every element a transition, however short: its color would be the one before.
  probe.style.transitionProperty = 'none';
  // Forced colours are one for all series, and another than in the legend.
  probe.style.setProperty('forced-color-adjust', 'none');
  host.append(probe);
  return (token) => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
}

function timeLabels(
  _: uPlot,
  splits: number[],
  _axis: number,
  _space: number,
  incrementMs: number,
): string[] {
  let dayBefore = '';
  return splits.map((ms) => {
    const date = day(ms);
    const isNewDay = date !== dayBefore;
    dayBefore = date;
    if (incrementMs >= DAY_MS) return date;
    return isNewDay ? `${minutes(ms)}\n${date}` : minutes(ms);
  });
}

/** Has values drawn that no line leads to, as those of the first hour are, also where there is no room for a point at each. */
const loneOf =
  (values: readonly (number | null)[]): uPlot.Series.Points.Filter =>
  (_, _series, isEachShown) =>
    isEachShown
      ? null
      : [...values.keys()].filter(
          (at) => values[at] !== null && values[at - 1] == null && values[at + 1] == null,
        );

/** The column and the looks of each series, in the order of drawing. */
function layersOf({ kind, series, ghosts, unit }: PlotContent, color: (token: Color) => string) {
  const { bars } = uPlot.paths;
  const barPaths = bars!({ size: [0.86, 48, 1] });
  const sums = kind === 'stacked' ? stack(series.map(({ values }) => values)) : [];
  const shown = series.map((one, index) => {
    const paint = color(one.color);
    const values = [...(sums[index] ?? one.values)];
    const looks: uPlot.Series =
      kind === 'line'
        ? { stroke: paint, width: 1.75, points: { size: 5, fill: paint, filter: loneOf(values) } }
        : { fill: paint, width: 0, paths: barPaths, points: { show: false } };
    return { key: one.key, values, looks };
  });
  // The lower bars of a stack are painted over the higher ones, which stand on the axis as well.
  if (kind === 'stacked') shown.reverse();
  const before = ghosts.map((one) => ({
    key: null,
    values: [...one.values],
    looks: { stroke: color(one.color), width: 1.25, dash: [4, 4], points: { show: false } } as uPlot.Series,
  }));
  return [...shown, ...before].map((layer) => ({ ...layer, looks: { ...layer.looks, scale: unit } }));
}

function axesOf(unit: Unit, color: (token: string) => string): uPlot.Axis[] {
  const shared = {
    stroke: color('muted'),
    font: `11px ${getComputedStyle(document.documentElement).fontFamily}`,
  };
  const grid = { stroke: color('line'), width: 1 };
  return [
    { ...shared, grid: { show: false }, ticks: grid, values: timeLabels, size: 38, space: 64 },
    {
      ...shared,
      scale: unit,
      grid,
      ticks: { show: false },
      // The longest label, or what most charts need, so that those below each other begin at one place.
      size: (_, labels) => Math.max(58, ...(labels ?? []).map((label) => label.length * DIGIT_PX + 8)),
      space: 32,
      values: (_, splits) => splits.map((value) => UNITS[unit].short(value)),
      // Halves of a request are none.
      ...(unit === 'count' ? { incrs: WHOLE_STEPS } : {}),
    },
  ];
}

const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** Returns the key of the series that a click on a bucket means. */
function keyAt(
  plot: uPlot,
  layers: ReturnType<typeof layersOf>,
  { kind, unit }: PlotContent,
  { idx, top }: { idx: number; top: number },
): string | null {
  const places = layers.flatMap(({ key, values }) => {
    const value = values[idx];
    return key === null || value === null || value === undefined
      ? []
      : [{ key, top: plot.valToPos(value, unit) }];
  });
  // Of a stack, the bar with the lowest top that is still above the click.
  if (kind !== 'line') return places.findLast((place) => place.top <= top)?.key ?? null;
  const nearest = places.sort((a, b) => Math.abs(a.top - top) - Math.abs(b.top - top))[0];
  return nearest !== undefined && Math.abs(nearest.top - top) <= NEAR ? nearest.key : null;
}

/** Draws into an element, whose size it takes. */
export function createPlot(
  host: HTMLElement,
  content: PlotContent,
  { onMove, onSelect, onClick }: PlotEvents,
): Plot {
  const { buckets, unit } = content;
  const color = colorReader(host);
  const layers = layersOf(content, color);
  const domain = domainOf(buckets);
  const middles = middlesOf(buckets);
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height: host.clientHeight,
      ms: 1,
      // To the right, half of the last day's label.
      padding: [10, 22, 0, 0],
      legend: { show: false },
      scales: {
        x: { range: [domain.from, domain.to] },
        [unit]: {
          range: (_, least: number | null, most: number | null) => [
            Math.min(0, least ?? 0),
            (most ?? 0) > 0 ? most! * 1.08 : 1,
          ],
        },
      },
      axes: axesOf(unit, color),
      series: [{}, ...layers.map(({ looks }) => looks)],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: LEAST_DRAG },
        points: { size: 7 },
      },
      hooks: {
        setCursor: [
          ({ cursor }) => {
            if (cursor.event !== undefined && cursor.event !== null) onMove(cursor.idx ?? null);
          },
        ],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (width < LEAST_DRAG) return;
            onSelect({ from: self.posToVal(left, 'x'), to: self.posToVal(left + width, 'x') });
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [middles, ...layers.map(({ values }) => values)],
    host,
  );
  // The cursor follows the mouse a frame later; the place of the click itself is exact.
  plot.over.addEventListener('click', ({ offsetX, offsetY: top }) => {
    const idx = plot.posToIdx(offsetX);
    onClick(idx, keyAt(plot, layers, content, { idx, top }));
  });
  return {
    point: (index) =>
      plot.setCursor(
        { left: index === null ? -10 : plot.valToPos(middles[index]!, 'x'), top: index === null ? -10 : 0 },
        false,
      ),
    resize: (width, height) => plot.setSize({ width, height }),
    destroy: () => {
      plot.destroy();
      host.replaceChildren();
    },
  };
}
