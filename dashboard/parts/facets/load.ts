/** Values of fields with the number of requests that have each. */
import type { Facets } from '#core/contracts/facets.ts';
import type { ScoreKey } from '#core/contracts/names.ts';
import { call } from '../../client/call.ts';
import { type KeyNames, loadKeyNames } from '../../client/key-names.ts';
import { useResource } from '../../client/resource.ts';
import { LISTED_SOURCES } from '../../client/sources.ts';
import type { CompleteValues } from '../query-bar/complete-values.ts';
import { withoutField } from '../query-bar/edit.ts';
import { fieldOfFacet, propertyFacet } from './fields.ts';

/** The requests that are counted: those of a query in a range. */
export type Scope = { readonly q: string; readonly from: number; readonly to: number };

const OFFERED = 12;
export const MOST_KEYS = 100;

/** Loads the values of a field among the requests that pass the query's conditions on other fields. */
export async function loadFacet(
  facet: string,
  { q, from, to }: Scope,
  { search, limit }: { search: string; limit: number },
  signal: AbortSignal,
): Promise<Facets> {
  const others = withoutField(q, fieldOfFacet(facet));
  const body = {
    field: facet,
    range: { from, to },
    limit,
    sources: LISTED_SOURCES,
    ...(others.trim() === '' ? {} : { q: others }),
    ...(search === '' ? {} : { search }),
  };
  return await call<Facets>('POST', '/v1/request/facets', body, signal);
}

/** Returns what the query bar completes values with. Keep it as long as the scope is the same. */
export function facetValues(scope: Scope): CompleteValues {
  return async (facet, search, signal) => {
    if (facet !== 'api_key')
      return (await loadFacet(facet, scope, { search, limit: OFFERED }, signal)).values;
    // A part of a key's name finds it, too, and only here names are known.
    const { values } = await loadFacet(facet, scope, { search: '', limit: MOST_KEYS }, signal);
    const ids = values.map(({ value }) => value);
    // Ids are better than nothing: the key may not be allowed on this path.
    const names = await loadKeyNames(ids, signal).catch((): KeyNames => new Map());
    return values.map((one) => ({ ...one, name: names.get(String(one.value)) }));
  };
}

const loadProperties = (signal?: AbortSignal) =>
  call<string[]>('GET', '/v1/property/keys', undefined, signal);
const loadScores = (signal?: AbortSignal) => call<ScoreKey[]>('GET', '/v1/score/keys', undefined, signal);

/** Returns the names of properties and scores as the query bar completes them. */
export async function loadFieldNames(): Promise<string[]> {
  const [properties, scores] = await Promise.all([loadProperties(), loadScores()]);
  return [
    ...properties.map((name) => propertyFacet(name).field),
    ...scores.map(({ key }) => `scores.${key}`),
  ];
}

const NO_NAMES: readonly string[] = [];
const NO_SCORES: readonly ScoreKey[] = [];

/** Returns the names of the properties and the scores of the newest requests: empty until they are loaded. */
export function useOpenNames(): { properties: readonly string[]; scores: readonly ScoreKey[] } {
  const properties = useResource('property keys', loadProperties);
  const scores = useResource('score keys', loadScores);
  return { properties: properties.data ?? NO_NAMES, scores: scores.data ?? NO_SCORES };
}
