/** The series of a chart: what they are at the moment under the cursor, or in all; a button hides one. */
import { Hostile } from '../text/hostile.tsx';
import { type ChartContent, type ChartSeries, sumOf } from './series.ts';
import { UNITS } from './units.ts';

type LegendProps = Pick<ChartContent, 'unit' | 'isSum' | 'series' | 'ghosts'> & {
  /** The bucket under the cursor; null: none. */
  at: number | null;
  hidden: ReadonlySet<string>;
  onToggle: (key: string) => void;
  /** The requests behind a series; null: they cannot be listed. */
  hrefOf: (key: string) => string | null;
};

function Swatch({ color, isGhost = false }: { color: ChartSeries['color']; isGhost?: boolean }) {
  return (
    <span
      class={isGhost ? 'chart-swatch chart-swatch-ghost' : 'chart-swatch'}
      data-color={color}
      aria-hidden="true"
    />
  );
}

/** Returns the value of a bucket, or the sum of all. */
function valueAt({ values }: ChartSeries, at: number | null): number | null {
  return at === null ? sumOf(values) : (values[at] ?? null);
}

function Entry({
  series,
  props: { unit, isSum, at, hidden, onToggle, hrefOf },
}: {
  series: ChartSeries;
  props: LegendProps;
}) {
  const isShown = !hidden.has(series.key);
  const href = hrefOf(series.key);
  return (
    <li>
      <button type="button" class="quiet" aria-pressed={isShown} onClick={() => onToggle(series.key)}>
        <Swatch color={series.color} />
        <span class="chart-label">
          <Hostile text={series.label} />
        </span>
        {(at !== null || isSum) && <span class="chart-value">{UNITS[unit].full(valueAt(series, at))}</span>}
      </button>
      {href !== null && (
        <a href={href} title={`Requests: ${series.label}`} aria-label={`Requests: ${series.label}`}>
          ↗
        </a>
      )}
    </li>
  );
}

/** Shows the series in their order, and the period before. */
export function Legend(props: LegendProps) {
  const { series, ghosts = [], unit, at, isSum } = props;
  return (
    <ul class="chart-legend">
      {series.map((one) => (
        <Entry key={one.key} series={one} props={props} />
      ))}
      {ghosts.length > 0 && (
        <li class="muted">
          <Swatch color={ghosts.length === 1 ? ghosts[0]!.color : 'muted'} isGhost />
          Period before
          {ghosts.length === 1 && (at !== null || isSum) && (
            <span class="chart-value">{UNITS[unit].full(valueAt(ghosts[0]!, at))}</span>
          )}
        </li>
      )}
    </ul>
  );
}
