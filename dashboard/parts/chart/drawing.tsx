/** The canvas of a chart, as wide as its place; drawn anew when its content or the colours change. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Plot, PlotContent, PlotEvents } from './plot.ts';

type DrawingProps = PlotEvents & {
  content: PlotContent;
  /** The bucket of the crosshair. */
  at: number | null;
  /** The colours that were chosen; those of the system are listened to here. */
  theme: string;
};

/** Returns a number that changes with the system's colours. */
function useSystemColors(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setTurn((before) => before + 1);
    dark.addEventListener('change', change);
    return () => dark.removeEventListener('change', change);
  }, []);
  return turn;
}

/** Returns what stands in a drawing without anything to draw; null: there is something. A cost that is null has no known price. */
function emptyText({ series, ghosts, unit }: PlotContent): string | null {
  const values = [...series, ...ghosts].flatMap((one) => one.values);
  if (values.some(Boolean)) return null;
  return unit === 'dollars' && values.includes(null) ? 'No known price' : 'Nothing in this range';
}

/** Shows a canvas. */
export function Drawing({ content, at, theme, ...events }: DrawingProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef({ events, at });
  latest.current = { events, at };
  const systemColors = useSystemColors();
  // Contents are made anew at each rendering: what they say decides.
  const said = JSON.stringify(content);
  const [isFailed, setFailed] = useState(false);
  const empty = content.buckets.begins.length > 0 && emptyText(content);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `said` stands for the content, the others for the colours
  useEffect(() => {
    const element = host.current!;
    let isGone = false;
    let observer: ResizeObserver | null = null;
    const draw = async () => {
      const { createPlot } = await import('./plot.ts');
      if (isGone) return;
      const made = createPlot(element, content, {
        onMove: (index) => latest.current.events.onMove(index),
        onSelect: (span) => latest.current.events.onSelect(span),
        onClick: (index, key) => latest.current.events.onClick(index, key),
      });
      plot.current = made;
      made.point(latest.current.at);
      observer = new ResizeObserver(() => made.resize(element.clientWidth, element.clientHeight));
      observer.observe(element);
    };
    draw().catch(() => setFailed(true));
    return () => {
      isGone = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [said, theme, systemColors]);

  useEffect(() => plot.current?.point(at), [at]);

  return (
    <>
      <div ref={host} class="chart-canvas" />
      {empty && <p class="chart-nothing muted">{empty}</p>}
      {isFailed && <p class="chart-nothing">The drawing could not be loaded; the table has the values</p>}
    </>
  );
}
