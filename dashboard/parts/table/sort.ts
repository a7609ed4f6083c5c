/** The order of a table, as the address names it. */

/** `-cost`: by cost, the largest first. */
export type Sort = { column: string; descending: boolean };

/** Reads the sort of an address. */
export function readSort(text: string | undefined): Sort | null {
  if (text === undefined || text === '') return null;
  return text.startsWith('-')
    ? { column: text.slice(1), descending: true }
    : { column: text, descending: false };
}

/** Returns the sort that a click on a title means: the largest first, then the smallest, then as before. */
export function nextSort(column: string, now: Sort | null): string | null {
  if (now?.column !== column) return `-${column}`;
  return now.descending ? column : null;
}
