/** Lists that the API answers page by page, as a whole. */

/** More things than these are not listed. */
const MOST_LOADED = 2_000;

/**
 * Loads a list page by page, until a page is not full or there are `MOST_LOADED`.
 * @param size of a page
 * @param load of the page that begins after so many things
 */
export async function loadPages<Thing>(
  size: number,
  load: (offset: number) => Promise<Thing[]>,
): Promise<Thing[]> {
  const things: Thing[] = [];
  while (things.length < MOST_LOADED) {
    const page = await load(things.length);
    things.push(...page);
    if (page.length < size) break;
  }
  return things;
}
