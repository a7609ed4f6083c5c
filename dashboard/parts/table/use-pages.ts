/** A list that comes page by page, the newest rows first. */
import { useState } from 'preact/hooks';
import { type Resource, useResource } from '../../client/resource.ts';

/** `next` is the cursor of the page that follows; null: there is none. */
export type Page<Row> = { rows: readonly Row[]; next: string | null };

export type Pages<Row> = Resource<Page<Row>> & {
  /** Of all pages that were asked for. */
  rows: readonly Row[];
  /** Shows another page; null: there is none. */
  more: (() => void) | null;
};

/**
 * Loads the newest page, and as many older ones as were asked for. All of them are loaded again together, so that no row is
 * missing between two pages, and none shows an older state than the others.
 * @param key names the list, without its pages
 */
export function usePages<Row>(
  key: string,
  load: (after: string | null, signal: AbortSignal) => Promise<Page<Row>>,
  options?: { everyMs?: number | null },
): Pages<Row> {
  const [asked, setAsked] = useState({ key, pages: 1 });
  const pages = asked.key === key ? asked.pages : 1;
  const loadAll = async (signal: AbortSignal): Promise<Page<Row>> => {
    let { rows, next } = await load(null, signal);
    for (let page = 1; page < pages && next !== null; page += 1) {
      const older = await load(next, signal);
      rows = [...rows, ...older.rows];
      next = older.next;
    }
    return { rows, next };
  };
  const wanted = `${key} ${pages}`;
  const resource = useResource(wanted, loadAll, options);
  const { data, dataKey, isLoading } = resource;
  const hasMore = dataKey === wanted && data !== null && data.next !== null;
  return {
    ...resource,
    // A list that is only loaded again is as good as the new one.
    isLoading: isLoading && dataKey !== wanted,
    rows: data?.rows ?? [],
    more: hasMore ? () => setAsked({ key, pages: pages + 1 }) : null,
  };
}
