/** A table of which only the rows on the screen are there. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Gap } from './gap.tsx';
import { useView } from './use-view.ts';
import { offsetToShow, visibleRows } from './visible.ts';

/** Rows beyond the edges of the screen. */
const MARGIN = 12;
/** At least as high as the head of the table. */
const HEAD_PX = 32;

export type VirtualColumn = { title: ComponentChildren; widthRem: number; isNumber?: boolean };

export type VirtualTableProps<Row> = {
  caption: string;
  columns: readonly VirtualColumn[];
  rows: readonly Row[];
  rowHeight: number;
  /** The index of the row that is scrolled to when it changes; -1: none. */
  current: number;
  /** Renders a `<tr>` with its key. */
  children: (row: Row, index: number) => ComponentChildren;
};

/** Shows rows of one height in a box that scrolls. */
export function VirtualTable<Row>({
  caption,
  columns,
  rows,
  rowHeight,
  current,
  children,
}: VirtualTableProps<Row>) {
  const box = useRef<HTMLElement>(null);
  const view = useView(box);
  const visible = visibleRows(rows.length, rowHeight, view, MARGIN);
  // Before the paint: later it would undo a scroll that came since.
  useLayoutEffect(() => {
    if (current === -1 || box.current === null) return;
    const { scrollTop: offset, clientHeight: height } = box.current;
    const next = offsetToShow(current, rowHeight, { offset, height }, HEAD_PX);
    if (next !== offset) box.current.scrollTop = next;
  }, [current, rowHeight]);
  const width = columns.reduce((sum, { widthRem }) => sum + widthRem, 0);
  return (
    // A box that scrolls must be reachable by key.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section ref={box} class="grid-box" aria-label={caption} tabIndex={0}>
      <table class="grid" style={{ width: `${width}rem` }} aria-rowcount={rows.length + 1}>
        <caption class="unseen">{caption}</caption>
        <colgroup>
          {columns.map(({ widthRem }, index) => (
            <col key={index} style={{ width: `${widthRem}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }, index) => (
              <th key={index} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={visible.before} span={columns.length} />
          {rows.slice(visible.from, visible.to).map((row, index) => children(row, visible.from + index))}
          <Gap height={visible.after} span={columns.length} />
        </tbody>
      </table>
    </section>
  );
}
