/** A chart over time: a drawing or a table, with a legend. Everything that the mouse can do in it, keys can. */
import { useId, useState } from 'preact/hooks';
import { useAddress } from '../../state/address.ts';
import { preferences } from '../../state/preferences.ts';
import { bucketTime } from './bucket-time.ts';
import {
  alignSpan,
  type Buckets,
  bucketAt,
  middlesOf,
  type Span,
  spanOf,
  zoomIn,
  zoomOut,
} from './buckets.ts';
import { ChartTable } from './chart-table.tsx';
import { cursor } from './cursor.ts';
import { Drawing } from './drawing.tsx';
import { indexAfterKey } from './index-after-key.ts';
import { Legend } from './legend.tsx';
import type { ChartContent, ChartKind } from './series.ts';
import { summaryOf } from './summary.ts';
import { UNITS } from './units.ts';

export type ChartProps = ChartContent & {
  kind: ChartKind;
  buckets: Buckets;
  /** Shows another range: after a drag, or by the keys + and -. */
  onZoom: (span: Span) => void;
  /**
   * The address of the requests behind a bucket, a series, or one in the other; null: there is none. A click, Enter and the links
   * of legend and table lead there.
   */
  hrefOf?: (bucket: Span | null, key: string | null) => string | null;
  isLoading?: boolean;
};

function spoken({ series, unit, buckets }: ChartProps, at: number | null): string {
  if (at === null) return 'No bucket chosen';
  const values = series.map(({ label, values }) => `${label} ${UNITS[unit].full(values[at] ?? null)}`);
  return `${bucketTime(buckets.begins[at]!, buckets)}: ${values.join(', ')}`;
}

/** Does what a key means in a drawing; returns whether it means anything. */
function press(
  key: string,
  { buckets, onZoom }: ChartProps,
  at: number | null,
  open: (index: number) => void,
): boolean {
  const last = buckets.begins.length - 1;
  const next = indexAfterKey(key, at, last);
  if (next !== null) cursor.value = middlesOf(buckets)[next] ?? null;
  else if (key === 'Enter' && at !== null) open(at);
  else if (key === '+') onZoom(zoomIn(buckets, at ?? Math.floor(last / 2)));
  else if (key === '-') onZoom(zoomOut(buckets, Date.now()));
  else return false;
  return true;
}

/**
 * Shows series over the buckets of a range. Its height never changes, so that nothing jumps.
 * @example <Chart title="Cost by model" kind="stacked" unit="dollars" isSum series={series} buckets={buckets} onZoom={zoom} />
 */
export function Chart(props: ChartProps) {
  const {
    title,
    kind,
    unit,
    series,
    ghosts = [],
    buckets,
    onZoom,
    hrefOf = () => null,
    isLoading = false,
  } = props;
  const { go } = useAddress();
  const [isTable, setTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const titleId = useId();
  const shown = series.filter(({ key }) => !hidden.has(key));
  const moment = cursor.value;
  const isInside = moment !== null && buckets.begins.length > 0 && moment >= buckets.begins[0]!;
  const at = isInside ? bucketAt(buckets, moment) : null;
  const hrefOfBucket = (index: number | null, key: string | null) =>
    hrefOf(index === null ? null : spanOf(buckets, index), key);
  const open = (index: number, key: string | null = null) => {
    const href = hrefOfBucket(index, key);
    if (href !== null) go(href);
  };
  const toggle = (key: string) => {
    const next = new Set(hidden);
    if (!next.delete(key)) next.add(key);
    setHidden(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (press(event.key, props, at, open)) event.preventDefault();
  };
  const summary = summaryOf(props, buckets, (ms) => bucketTime(ms, buckets));
  return (
    <figure
      class={isLoading ? 'chart card busy' : 'chart card'}
      aria-labelledby={titleId}
      aria-busy={isLoading}
    >
      <div class="chart-head">
        <h2 id={titleId}>{title}</h2>
        <span class="muted">{at === null ? '' : bucketTime(buckets.begins[at]!, buckets)}</span>
        <button
          type="button"
          class="quiet"
          aria-pressed={isTable}
          aria-label={`${title}, table`}
          onClick={() => setTable(!isTable)}
        >
          Table
        </button>
      </div>
      {isTable ? (
        <ChartTable content={props} buckets={buckets} hrefOf={(index) => hrefOfBucket(index, null)} />
      ) : (
        <div
          class="chart-drawing"
          role="slider"
          tabIndex={0}
          aria-label={`${title}, by time`}
          aria-valuemin={0}
          aria-valuemax={Math.max(0, buckets.begins.length - 1)}
          aria-valuenow={at ?? 0}
          aria-valuetext={spoken(props, at)}
          onKeyDown={onKeyDown}
        >
          <Drawing
            content={{ kind, unit, buckets, series: shown, ghosts }}
            at={at}
            theme={preferences.value.theme}
            onMove={(index) => {
              cursor.value = index === null ? null : (middlesOf(buckets)[index] ?? null);
            }}
            onSelect={(span) => onZoom(alignSpan(buckets, span))}
            onClick={open}
          />
        </div>
      )}
      <Legend
        {...props}
        at={at}
        hidden={hidden}
        onToggle={toggle}
        hrefOf={(key) => hrefOfBucket(null, key)}
      />
      <figcaption class="unseen">{summary}</figcaption>
    </figure>
  );
}
