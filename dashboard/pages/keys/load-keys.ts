/** All keys of the organization, and which of them a text finds. */
import type { KeyJson } from '#core/contracts/keys.ts';
import { call } from '../../client/call.ts';
import { loadPages } from '../../client/load-pages.ts';

/** Keys of one page of the API. */
const PAGE = 100;

/** Loads all keys in a state, newest first; null: in any state. */
export function loadKeys(state: string | null, signal: AbortSignal): Promise<KeyJson[]> {
  return loadPages(PAGE, (offset) => {
    const query = new URLSearchParams({ limit: String(PAGE), offset: String(offset) });
    if (state !== null) query.set('state', state);
    return call<KeyJson[]>('GET', `/v1/keys?${query}`, undefined, signal);
  });
}

/** Returns the keys that have the text in their name, prefix, owner, tags or id, ignoring case. */
export function findKeys(keys: readonly KeyJson[], text: string): readonly KeyJson[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return keys;
  return keys.filter(({ name, prefix, owner, tags, id }) =>
    [name, prefix, owner ?? '', id, ...tags].some((one) => one.toLowerCase().includes(wanted)),
  );
}
