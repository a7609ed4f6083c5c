/** The rows that are loaded: a stretch of the whole list, which grows at both ends. */
import type { RequestRow, RowPage } from '#core/contracts/rows.ts';

/** Longer windows are not kept for the way back, and a live one begins anew when it is shown from its top. */
export const MOST_KEPT = 2_000;

export type RowWindow = {
  /** The query that the rows answer. */
  key: string;
  rows: readonly RequestRow[];
  next: string | null;
  prev: string | null;
  /** Rows put before the first ones since the window began: the list scrolls by as many. */
  shift: number;
  /** The same for rows that are newer than the list: it scrolls only where its beginning is out of sight. */
  news: number;
  /** Where it begins to be shown; another object means another beginning. */
  start: Start;
};

/** The uppermost row on the screen, and the pixels of it that are scrolled away; null: the first row of all. */
export type Start = { id: string | null; offset: number };

/** Begins with a page. */
export function beginWindow(key: string, { rows, next, prev }: RowPage, start: Start): RowWindow {
  return { key, rows, next, prev, shift: 0, news: 0, start };
}

function unknownTo(window: RowWindow, rows: readonly RequestRow[]): RequestRow[] {
  const known = new Set(window.rows.map(({ request_id }) => request_id));
  return rows.filter(({ request_id }) => !known.has(request_id));
}

/** Adds the page behind the last row. */
export function append(window: RowWindow, page: RowPage): RowWindow {
  return { ...window, rows: [...window.rows, ...unknownTo(window, page.rows)], next: page.next };
}

/** Adds the page before the first row. */
export function prepend(window: RowWindow, page: RowPage): RowWindow {
  const added = unknownTo(window, page.rows);
  return {
    ...window,
    rows: [...added, ...window.rows],
    prev: page.prev,
    shift: window.shift + added.length,
  };
}

/**
 * Takes in the newest page of all: what is newer than the rows, and what became of the first ones.
 * @param isAtTop whether the rows behind the page are out of sight, so that too many of them may go
 */
export function renew(window: RowWindow, page: RowPage, { isAtTop }: { isAtTop: boolean }): RowWindow {
  const indexIn = (rows: RowWindow['rows'], id: string | undefined) =>
    rows.findIndex(({ request_id }) => request_id === id);
  const added = indexIn(page.rows, window.rows[0]?.request_id);
  // More than a page has come, or the first row has gone.
  if (added === -1 || (isAtTop && window.rows.length > MOST_KEPT))
    return { ...beginWindow(window.key, page, window.start), shift: window.shift, news: window.news };
  // Not always the last one of the page: a request may be stored late, among older ones.
  const known = new Set(page.rows.map(({ request_id }) => request_id));
  const rest = window.rows.slice(window.rows.findLastIndex(({ request_id }) => known.has(request_id)) + 1);
  return {
    ...window,
    rows: [...page.rows, ...rest],
    next: rest.length > 0 ? window.next : page.next,
    prev: page.prev,
    news: window.news + added,
  };
}

/** Returns the row that is `step` rows away from one; at an end, the last one there; null: there are no rows. */
export function neighbour(rows: readonly RequestRow[], id: string | null, step: number): RequestRow | null {
  if (rows.length === 0) return null;
  const at = rows.findIndex(({ request_id }) => request_id === id);
  if (at === -1) return rows[step > 0 ? 0 : rows.length - 1]!;
  return rows[Math.max(0, Math.min(rows.length - 1, at + step))]!;
}
