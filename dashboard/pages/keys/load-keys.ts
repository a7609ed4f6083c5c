/** All keys of the organization, and which of them a text finds. */
import type { KeyJson } from '#core/contracts/keys.ts';
import { call } from '../../client/call.ts';

/** Keys of one page of the API. */
const PAGE = 100;
/** More keys than these are not listed. */
export const MOST_KEYS = 2_000;

/** Loads all keys in a state, newest first; null: in any state. */
export async function loadKeys(state: string | null, signal: AbortSignal): Promise<KeyJson[]> {
  const keys: KeyJson[] = [];
  while (keys.length < MOST_KEYS) {
    const query = new URLSearchParams({ limit: String(PAGE), offset: String(keys.length) });
    if (state !== null) query.set('state', state);
    const page = await call<KeyJson[]>('GET', `/v1/keys?${query}`, undefined, signal);
    keys.push(...page);
    if (page.length < PAGE) break;
  }
  return keys;
}

/** Returns the keys that have the text in their name, prefix, owner, tags or id, ignoring case. */
export function findKeys(keys: readonly KeyJson[], text: string): readonly KeyJson[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return keys;
  return keys.filter(({ name, prefix, owner, tags, id }) =>
    [name, prefix, owner ?? '', id, ...tags].some((one) => one.toLowerCase().includes(wanted)),
  );
}
