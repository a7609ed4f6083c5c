/** The list itself: a table of which only the rows on the screen are there. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { painted } from '../../client/priority.ts';
import { nextSort, type Sort } from '../../parts/table/sort.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { Gap } from '../../parts/virtual/gap.tsx';
import { useView } from '../../parts/virtual/use-view.ts';
import { offsetToShow, type Visible, visibleRows } from '../../parts/virtual/visible.ts';
import type { GridColumn } from './columns.ts';
import { GridRow, type RowActions } from './grid-row.tsx';
import type { RowWindow, Start } from './window.ts';

/** Rows beyond the edges of the screen. */
const MARGIN = 12;
/** At least as high as the head of the table. */
const HEAD_PX = 32;
/** Width of the column with the check boxes. */
const CHECK_REM = 2.25;
/** The next page is loaded when so few rows remain. */
const REMAINING = 40;

export type GridProps = RowActions & {
  window: RowWindow;
  columns: readonly GridColumn[];
  sort: Sort | null;
  onSort: (sort: string | null) => void;
  /** The row that keys act on. */
  current: string | null;
  rowHeight: number;
  selected: ReadonlySet<string>;
  isLoading: boolean;
  grow: (end: 'next' | 'prev') => void;
  /** Told when the uppermost row changes; null: it is the first of all. */
  onPlace: (id: string | null, offset: number) => void;
};

function Head({ columns, sort, onSort }: Pick<GridProps, 'columns' | 'sort' | 'onSort'>) {
  return (
    <thead>
      <tr>
        <th scope="col" class="grid-check">
          <span class="unseen">Selected</span>
        </th>
        {columns.map(({ name, title, sort: field, isNumber }) => {
          const isSorted = field !== undefined && sort?.column === field;
          const direction = isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined;
          return (
            <th key={name} scope="col" class={isNumber ? 'number' : undefined} aria-sort={direction}>
              {field === undefined ? (
                <Hostile text={title} />
              ) : (
                <button type="button" class="quiet table-sort" onClick={() => onSort(nextSort(field, sort))}>
                  {title}
                  <span aria-hidden="true">{isSorted ? (sort.descending ? ' ↓' : ' ↑') : ''}</span>
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** The least width; in a wider box the wide columns grow, or all of them where none is wide. */
function widthOf(columns: readonly GridColumn[]): number {
  return columns.reduce((sum, { widthRem }) => sum + widthRem, CHECK_REM);
}

type Box = { readonly current: HTMLElement | null };

/**
 * Scrolls to where the list begins, once the rows of a new list are there, and by what is put before the first row. Where the box
 * is, is known from its last scroll: to ask it would have the browser lay out all rows once more.
 */
function usePlaces(
  box: Box,
  { window, rowHeight }: Pick<GridProps, 'window' | 'rowHeight'>,
  offset: { readonly current: number },
): void {
  const placed = useRef<RowWindow | null>(null);
  useLayoutEffect(() => {
    if (box.current === null) return;
    const before = placed.current;
    placed.current = window;
    const { start, shift, news } = window;
    if (before?.start === start) {
      if (shift === before.shift && news === before.news) return;
      // A scroll may have come in this very frame.
      const isAtBeginning = box.current.scrollTop === 0;
      const added = shift - before.shift + (isAtBeginning ? 0 : news - before.news);
      if (added > 0) box.current.scrollTop += added * rowHeight;
      return;
    }
    const at = window.rows.findIndex(({ request_id }) => request_id === start.id);
    const wanted = at === -1 ? 0 : at * rowHeight + start.offset;
    if (wanted !== offset.current) box.current.scrollTop = wanted;
  }, [window, rowHeight, box, offset]);
}

/** Loads more when an end comes near. */
function useGrowth({ from, to }: Visible, { window, grow }: Pick<GridProps, 'window' | 'grow'>): void {
  useEffect(() => {
    if (to >= window.rows.length - REMAINING) grow('next');
    if (from === 0) grow('prev');
  }, [from, to, window, grow]);
}

/** Returns how many rows beyond the edges to render: none of a new list, until what is on the screen has been painted. */
function useMargin(start: Start): number {
  const [drawn, setDrawn] = useState<Start | null>(null);
  useLayoutEffect(() => {
    // An effect is no sign of a paint: it runs before the rendering that follows the first measure.
    let isShown = true;
    void painted().then(() => isShown && setDrawn(start));
    return () => {
      isShown = false;
    };
  }, [start]);
  return drawn === start ? MARGIN : 0;
}

/** Shows the rows of a window. */
export function Grid(props: GridProps) {
  const { window, columns, rowHeight, current, isLoading, onPlace, selected, onOpen, onSelect } = props;
  const box = useRef<HTMLElement>(null);
  const offset = useRef(0);
  // In this order: a list that is new in its box is measured where it is placed, or its first frame would be empty.
  usePlaces(box, props, offset);
  const view = useView(box);
  offset.current = view.offset;
  const margin = useMargin(window.start);
  const visible = visibleRows(window.rows.length, rowHeight, view, margin);
  useGrowth(visible, props);

  // Before the paint: later it would undo a scroll that came since.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the keys, not the rows that come in
  useLayoutEffect(() => {
    const at = window.rows.findIndex(({ request_id }) => request_id === current);
    if (at === -1 || box.current === null) return;
    const { scrollTop: offset, clientHeight: height } = box.current;
    const next = offsetToShow(at, rowHeight, { offset, height }, HEAD_PX);
    if (next !== offset) box.current.scrollTop = next;
  }, [current]);

  const top = Math.max(0, Math.min(window.rows.length - 1, Math.floor(view.offset / rowHeight)));
  const topId = window.rows[top]?.request_id;
  const isAtBeginning = view.offset === 0 && window.prev === null;
  useEffect(() => {
    if (topId !== undefined && view.height > 0)
      onPlace(isAtBeginning ? null : topId, isAtBeginning ? 0 : view.offset - top * rowHeight);
  }, [topId, isAtBeginning, view, top, rowHeight, onPlace]);

  // Times of today are shown without the day: rows need not know more of the moment.
  const todayMs = new Date().setHours(0, 0, 0, 0);
  const span = columns.length + 1;
  const isWhole = window.next === null && window.prev === null;
  const rowCount = isWhole ? window.rows.length + 1 : -1;
  return (
    // A box that scrolls must be reachable by key.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section ref={box} class="grid-box" aria-label="Requests" tabIndex={0} data-page-keys>
      <table
        class="grid"
        data-list={window.key}
        style={{ width: `${widthOf(columns)}rem` }}
        aria-rowcount={rowCount}
        aria-busy={isLoading}
      >
        <caption class="unseen">Requests, as the query finds them</caption>
        <colgroup>
          <col style={{ width: `${CHECK_REM}rem` }} />
          {columns.map(({ name, widthRem, isWide }) => (
            <col key={name} style={isWide ? undefined : { width: `${widthRem}rem` }} />
          ))}
        </colgroup>
        <Head {...props} />
        <tbody>
          <Gap height={visible.before} span={span} />
          {window.rows.slice(visible.from, visible.to).map((row, index) => (
            <GridRow
              key={row.request_id}
              row={row}
              index={visible.from + index}
              columns={columns}
              isCurrent={row.request_id === current}
              isSelected={selected.has(row.request_id)}
              rowHeight={rowHeight}
              nowMs={todayMs}
              onOpen={onOpen}
              onSelect={onSelect}
            />
          ))}
          <Gap height={visible.after} span={span} />
        </tbody>
      </table>
    </section>
  );
}
