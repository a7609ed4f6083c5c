/** The names of API keys by their ids, for a session that may see them. */
import type { KeyJson } from '#core/contracts/keys.ts';
import { may } from '../state/me.ts';
import { call } from './call.ts';
import { useResource } from './resource.ts';

/** Without a name, the id is shown. */
export type KeyNames = ReadonlyMap<string, string>;

export const NO_KEY_NAMES: KeyNames = new Map();

/** Loads the names of the newest hundred keys; none for a session that may not see them. */
export async function loadKeyNames(signal?: AbortSignal): Promise<KeyNames> {
  if (!may('write')) return NO_KEY_NAMES;
  const keys = await call<KeyJson[]>('GET', '/v1/keys', undefined, signal);
  return new Map(keys.map(({ id, name, prefix }) => [id, `${name} (${prefix}…)`.trim()]));
}

/** Returns the names of keys once they are loaded. */
export function useKeyNames(isWanted = true): KeyNames {
  return useResource(isWanted ? 'names of keys' : null, loadKeyNames).data ?? NO_KEY_NAMES;
}
