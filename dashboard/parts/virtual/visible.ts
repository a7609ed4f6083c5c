/** Which rows of equal height are on the screen. */

export type Visible = {
  /** The first row to render, and the one behind the last. */
  from: number;
  to: number;
  /** Pixels in place of the rows before and behind. */
  before: number;
  after: number;
};

/** What a box that scrolls shows: its offset and its height. */
export type View = { offset: number; height: number };

/** Returns the rows of a view, and `margin` more at each end, for a scroll that is faster than the next rendering. */
export function visibleRows(
  count: number,
  rowHeight: number,
  { offset, height }: View,
  margin: number,
): Visible {
  const last = Math.max(0, count - 1);
  const first = Math.max(0, Math.min(last, Math.floor(offset / rowHeight)));
  const from = Math.max(0, first - margin);
  const to = Math.min(count, Math.ceil((Math.max(0, offset) + height) / rowHeight) + margin);
  const end = Math.max(from, to);
  return { from, to: end, before: from * rowHeight, after: (count - end) * rowHeight };
}

/**
 * Returns the offset that shows a row whole with the least scrolling.
 * @param head pixels at the upper edge that a sticky head covers
 */
export function offsetToShow(
  index: number,
  rowHeight: number,
  { offset, height }: View,
  head: number,
): number {
  const top = index * rowHeight;
  if (top < offset) return top;
  return top + rowHeight > offset + height - head ? top + rowHeight - height + head : offset;
}
