/** Keeps an organization able to manage its keys: no change over HTTP may be its last one. */
import { AssayError } from '#core/contracts/errors.ts';
import { type Grant, matchesAny } from '#core/keys/mod.ts';
import type { Manager } from './store.ts';

const KEYS_PATH = '/v1/keys';

/** The bounds of a key after a change; null: it is revoked. */
export type After = Pick<Grant, 'scopes' | 'paths' | 'expiresAt'> | null;

const canManage = (paths: readonly string[] | null) => paths === null || matchesAny(paths, [KEYS_PATH]);
const endOf = (expiresAt: Date | null) => expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;

/**
 * Refuses a change that would shorten the time for which some key of the organization can manage keys. Asking only for
 * another key with `write` would let a key that expires in an hour revoke the one that never does.
 * @param managers the keys with the scope `write` that work now
 * @throws AssayError conflict
 */
export function requireManager(managers: readonly Manager[], keyId: string, after: After): void {
  const able = managers.filter(({ paths }) => canManage(paths));
  const changed = able.find((manager) => manager.keyId === keyId);
  if (changed === undefined) return;
  const ends = able.filter((manager) => manager !== changed).map(({ expiresAt }) => endOf(expiresAt));
  if (after?.scopes.includes('write') && canManage(after.paths)) ends.push(endOf(after.expiresAt));
  if (Math.max(...ends) >= endOf(changed.expiresAt)) return;
  throw new AssayError(
    'conflict',
    `The key ${keyId} is the last one with the scope write that can manage keys for as long as it can: make another one first`,
  );
}
