/** Failures on a page with a query bar. */
import { explain } from '#core/filter/query-text/mod.ts';
import type { ApiFailure } from '../../client/call.ts';

const BAD_REQUEST = 400;

/**
 * Returns a failure as the page shows it beside the bar: null for the refusal of a query with a mistake, which the bar itself
 * tells.
 * @param q the query that was asked
 */
export function besideBar(failure: ApiFailure | null, q: string): ApiFailure | null {
  const isTold = failure?.status === BAD_REQUEST && explain(q).error !== null;
  return isTold ? null : failure;
}
