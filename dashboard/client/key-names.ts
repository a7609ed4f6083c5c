/** The names of API keys by their ids, for a session that may see them. */
import type { KeyJson } from '#core/contracts/keys.ts';
import { may } from '../state/me.ts';
import { call } from './call.ts';
import { useResource } from './resource.ts';

/** Without a name, the id is shown. */
export type KeyNames = ReadonlyMap<string, string>;

/** Values that may be ids of keys, as filters and groups of requests have them. */
export type KeyIds = readonly (string | number | boolean | null | undefined)[];

const NO_KEY_NAMES: KeyNames = new Map();
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Ids that the API takes at once. */
const PAGE = 100;

/** Returns those values that are ids, each once, in an order of their own. */
function distinctIds(values: KeyIds): string[] {
  const texts = values.filter((value) => typeof value === 'string').filter((text) => UUID.test(text));
  return [...new Set(texts)].sort();
}

/**
 * Loads the names of keys: a call for each hundred; none for a session that may not see them.
 * @throws ApiFailure, AbortError
 */
export async function loadKeyNames(values: KeyIds, signal?: AbortSignal): Promise<KeyNames> {
  const ids = may('write') ? distinctIds(values) : [];
  const pages = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, index) =>
    ids.slice(index * PAGE, (index + 1) * PAGE),
  );
  const keys = await Promise.all(
    pages.map((page) => call<KeyJson[]>('GET', `/v1/keys?ids=${page.join()}`, undefined, signal)),
  );
  return new Map(keys.flat().map(({ id, name, prefix }) => [id, `${name} (${prefix}…)`.trim()]));
}

/** Returns the names of the keys that are shown, once they are loaded. */
export function useKeyNames(values: KeyIds): KeyNames {
  const ids = distinctIds(values);
  const key = ids.length === 0 ? null : `names of keys ${ids.join()}`;
  return useResource(key, (signal) => loadKeyNames(ids, signal)).data ?? NO_KEY_NAMES;
}
