/** How many requests a query finds over time; a part of it becomes the range. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { call } from '../../client/call.ts';
import { afterPriority } from '../../client/priority.ts';
import { useResource } from '../../client/resource.ts';
import { LISTED_SOURCES } from '../../client/sources.ts';
import { indexAfterKey } from '../chart/index-after-key.ts';
import { count } from '../formats/numbers.ts';
import { shortTime, timeZone } from '../formats/times.ts';
import { type Bar, barsOf, rangeOf } from './bars.ts';

export type HistogramProps = {
  q: string;
  from: number;
  to: number;
  /** Receives the part that was chosen. */
  onRange: (from: number, to: number) => void;
};

const HEIGHT = 48;
const MEASURES = [
  { metric: 'requests', aggregate: 'count' },
  { metric: 'errors', aggregate: 'count' },
];
const NO_BARS: readonly Bar[] = [];

/** Drag, or click on a bar, or the arrows (Shift: more than one bar) and Enter. */
export function Histogram({ q, from, to, onRange }: HistogramProps) {
  const body = {
    measures: MEASURES,
    range: { from, to },
    bucket: 'auto',
    timeZone: timeZone(),
    sources: LISTED_SOURCES,
  };
  const { data, isLoading } = useResource(`histogram ${JSON.stringify([q, from, to])}`, (signal) =>
    afterPriority(signal, () =>
      call<MetricsAnswer>('POST', '/v1/metrics/query', q.trim() === '' ? body : { ...body, q }, signal),
    ),
  );
  const bars = useMemo(() => (data === null ? NO_BARS : barsOf(data)), [data]);
  return (
    <div class={isLoading ? 'histogram busy' : 'histogram'}>
      <Chart bars={bars} onRange={onRange} />
      <Table bars={bars} />
    </div>
  );
}

/** Two bars and all between them. */
type Choice = { anchor: number; focus: number };

function Chart({ bars, onRange }: { bars: readonly Bar[]; onRange: HistogramProps['onRange'] }) {
  const element = useRef<HTMLDivElement>(null);
  const [choice, setChoice] = useState<Choice | null>(null);
  const isDragging = useRef(false);
  const last = bars.length - 1;
  const shown = choice === null ? null : rangeOf(bars, choice.anchor, choice.focus);
  const finish = () => {
    isDragging.current = false;
    setChoice(null);
    if (shown !== null) onRange(shown.from, shown.to);
  };
  const barAt = ({ clientX }: PointerEvent) => {
    const { left, width } = element.current!.getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * bars.length)));
  };
  const onPointerMove = (event: PointerEvent) => {
    const focus = barAt(event);
    setChoice((before) => ({ anchor: isDragging.current && before !== null ? before.anchor : focus, focus }));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = indexAfterKey(event.key, choice?.focus ?? null, last);
    if (next !== null)
      setChoice({ anchor: event.shiftKey && choice !== null ? choice.anchor : next, focus: next });
    else if (event.key === 'Enter' && choice !== null) finish();
    else if (event.key === 'Escape' && choice !== null) setChoice(null);
    else return;
    event.preventDefault();
  };
  const text = choice === null ? 'Nothing chosen' : describe(bars, choice);
  return (
    <>
      <div
        ref={element}
        class="histogram-bars"
        role="slider"
        tabIndex={0}
        aria-label="Requests over time"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={choice?.focus ?? 0}
        aria-valuetext={text}
        onPointerDown={(event) => {
          if (event.button !== 0 || bars.length === 0) return;
          const focus = barAt(event);
          isDragging.current = true;
          event.currentTarget.setPointerCapture(event.pointerId);
          setChoice({ anchor: focus, focus });
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => isDragging.current && finish()}
        onPointerCancel={() => {
          isDragging.current = false;
          setChoice(null);
        }}
        onPointerLeave={() => !isDragging.current && setChoice(null)}
        onBlur={() => setChoice(null)}
        onKeyDown={onKeyDown}
      >
        <Bars bars={bars} choice={choice} />
      </div>
      {choice !== null && bars.length > 0 && (
        <p class="histogram-text" aria-hidden="true">
          {text}
        </p>
      )}
    </>
  );
}

function Bars({ bars, choice }: { bars: readonly Bar[]; choice: Choice | null }) {
  const most = bars.reduce((max, { requests }) => Math.max(max, requests), 1);
  // What is there can be seen, however little it is.
  const heightOf = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / most) * HEIGHT));
  return (
    <svg viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {choice !== null && (
        <rect
          class="histogram-choice"
          x={Math.min(choice.anchor, choice.focus)}
          y={0}
          width={Math.abs(choice.focus - choice.anchor) + 1}
          height={HEIGHT}
        />
      )}
      {bars.map(({ from, requests, errors }, index) => {
        const [all, wrong] = [heightOf(requests), heightOf(errors)];
        return (
          <g key={from}>
            <rect class="histogram-good" x={index + 0.1} y={HEIGHT - all} width={0.8} height={all} />
            <rect class="histogram-bad" x={index + 0.1} y={HEIGHT - wrong} width={0.8} height={wrong} />
          </g>
        );
      })}
    </svg>
  );
}

function describe(bars: readonly Bar[], { anchor, focus }: Choice): string {
  const chosen = bars.slice(Math.min(anchor, focus), Math.max(anchor, focus) + 1);
  const sum = (of: (bar: Bar) => number) => chosen.reduce((total, bar) => total + of(bar), 0);
  const range = rangeOf(bars, anchor, focus);
  if (range === null) return '';
  const now = Date.now();
  const when = `${shortTime(range.from, now)} to ${shortTime(range.to, now)}`;
  return `${when}: ${count(sum(({ requests }) => requests))} requests, ${count(sum(({ errors }) => errors))} errors`;
}

function Table({ bars }: { bars: readonly Bar[] }) {
  const now = Date.now();
  return (
    <div class="unseen">
      <table>
        <caption>Requests over time</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Requests</th>
            <th scope="col">Errors</th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ from, requests, errors }) => (
            <tr key={from}>
              <th scope="row">{shortTime(from, now)}</th>
              <td>{count(requests)}</td>
              <td>{count(errors)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
