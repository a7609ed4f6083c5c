/** Stored filters as the query text that people write. */
import { type FilterTree, printQuery } from '#core/filter/query-text/mod.ts';

/** Returns a stored filter as query text, or as JSON where it has an older form. Null and `all` are every request: ''. */
export function filterText(filter: unknown): string {
  if (filter === null || filter === 'all') return '';
  try {
    return printQuery(filter as FilterTree);
  } catch {
    return JSON.stringify(filter);
  }
}
