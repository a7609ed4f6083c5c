/** What the query bar completes values with, fetched when the first is wanted. */
import type { CompleteValues } from '../query-bar/complete-values.ts';
import type { Scope } from './load.ts';

const fetchLoaders = () => import('../later/asked.ts');

/** Returns the values of fields in a scope. Keep it as long as the scope is the same. */
export function facetValues(scope: Scope): CompleteValues {
  return async (...wanted) => (await fetchLoaders()).facetValues(scope)(...wanted);
}

/** Returns the names of properties and scores. */
export async function loadFieldNames(): Promise<string[]> {
  return await (await fetchLoaders()).loadFieldNames();
}
