/** Which sessions of the whole list are on the page. Pure. */

/** Sessions that a click on "More" adds. */
export const PAGE = 50;
/** Sessions that are shown at once; the API lists 1,000 at most, and one more is asked for. */
const MOST = 950;

/** Reads the number of pages that an address asks for. */
export function readPages(text: string | undefined): number {
  const pages = Number(text);
  return Number.isSafeInteger(pages) && pages >= 1 && pages <= 1_000_000 ? pages : 1;
}

/** Returns the sessions of so many pages; of very many, the last ones. */
export function stretchOf(pages: number): { offset: number; limit: number } {
  const limit = Math.min(MOST, pages * PAGE);
  return { offset: pages * PAGE - limit, limit };
}
