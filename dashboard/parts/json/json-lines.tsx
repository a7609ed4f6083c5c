/** A body as printed JSON, of which only the rows in sight are in the document. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';
import type { Side } from '../conversation/model/types.ts';
import { FailureNotice } from '../failure/failure.tsx';
import { count } from '../formats/numbers.ts';
import type { LinePage, LineRow } from '../record/body-methods.ts';
import type { BodySource } from '../record/use-bodies.ts';
import { Hostile } from '../text/hostile.tsx';
import { useView } from '../virtual/use-view.ts';
import { visibleRows } from '../virtual/visible.ts';

const PAGE = 200;
const ROW_PX = 20;
/** Rows beyond the edges of the box. */
const MARGIN = 30;
/** Browsers make no element higher than some ten million pixels. */
const MOST_ROWS = 400_000;

/** Returns the pages of rows that have come, and asks for those that are in sight. */
function usePages(source: BodySource, side: Side) {
  const [pages, setPages] = useState<ReadonlyMap<number, LinePage>>(new Map());
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const asked = useRef(new Set<number>());
  const want = (page: number) => {
    if (asked.current.has(page)) return;
    asked.current.add(page);
    source.ask.lines(side, page * PAGE, PAGE).then(
      (rows) => setPages((before) => new Map(before).set(page, rows)),
      (error) => {
        asked.current.delete(page);
        setFailure(toFailure(error));
      },
    );
  };
  return { pages, want, failure, retry: () => setFailure(null) };
}

/** Shows the lines of a side. */
export function JsonLines({ source, side }: { source: BodySource; side: Side }) {
  const scroller = useRef<HTMLDivElement>(null);
  const view = useView(scroller);
  const { pages, want, failure, retry } = usePages(source, side);
  const total = pages.get(0)?.total ?? 0;
  const rows = Math.min(total, MOST_ROWS);
  const { from, to } = visibleRows(rows, ROW_PX, view, MARGIN);
  const inSight = Array.from({ length: to - from }, (_, index) => from + index);
  const wanted = [0, ...inSight.map((index) => Math.floor(index / PAGE))];
  const wantedKey = [...new Set(wanted)].join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the pages
  useEffect(() => {
    if (failure === null) for (const page of new Set(wanted)) want(page);
  }, [wantedKey, failure]);
  return (
    <>
      <FailureNotice failure={failure} retry={retry} />
      {total > rows && (
        <p class="muted">
          The first {count(rows)} of {count(total)} rows; the tree has all.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section ref={scroller} class="json-lines" aria-label={`Lines of the ${side}`} tabIndex={0}>
        <div style={{ height: `${rows * ROW_PX}px` }}>
          {inSight.map((index) => (
            <Row
              key={index}
              top={index * ROW_PX}
              row={pages.get(Math.floor(index / PAGE))?.rows[index % PAGE]}
            />
          ))}
        </div>
      </section>
    </>
  );
}

function Row({ top, row }: { top: number; row: LineRow | undefined }) {
  return (
    <div class="json-line" style={{ transform: `translateY(${top}px)` }}>
      <span class="json-line-number" aria-hidden="true">
        {row === undefined ? '' : row.isContinued ? '↪' : row.line}
      </span>
      {row !== undefined && <Hostile text={row.text} />}
    </div>
  );
}
