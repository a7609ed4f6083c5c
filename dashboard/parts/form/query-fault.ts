/** Mistakes in query texts. Pure. */
import { parseQuery, QueryTextError } from '#core/filter/query-text/mod.ts';

/** Returns what is wrong with a query text, in the API's own sentence; null: nothing. */
export function queryFault(q: string): string | null {
  try {
    parseQuery(q);
    return null;
  } catch (error) {
    if (error instanceof QueryTextError) return error.message;
    throw error;
  }
}
