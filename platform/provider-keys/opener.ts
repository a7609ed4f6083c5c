import type { ProviderName } from '#core/contracts/provider.ts';
import type { Logger } from '../observability/log.ts';
import { createLru } from '../process/lru.ts';
import { type SecretBox, SecretsUnavailableError } from '../secrets/mod.ts';
import { openProviderKey } from './seal.ts';

/**
 * The provider keys of an organization. Null: there is a key, but this process cannot open it. A call must then fail: with
 * the operator's key it would be charged to another account than the organization chose.
 */
export type ProviderKeys = ReadonlyMap<ProviderName, string | null>;

/** Shared by the many organizations without provider keys. */
export const NO_PROVIDER_KEYS: ProviderKeys = new Map();

/** A stored provider key. */
export type SealedProviderKey = { provider: ProviderName; sealed: Buffer };

/** Opens the stored keys of an organization. */
export type KeyOpener = (organizationId: string, sealed: readonly SealedProviderKey[]) => ProviderKeys;

/** Organizations whose opened keys are cached, to be shared by all of their API keys. */
const MAX_ORGANIZATIONS = 20_000;

type OpenedKey = SealedProviderKey & { key: string | null };

/**
 * Creates the opener of a process. Unchanged keys are not opened again, so that a key that cannot be opened is logged once,
 * by its organization and provider.
 */
export function createKeyOpener({ secrets, log }: { secrets: SecretBox; log: Logger }): KeyOpener {
  const opened = createLru<{ rows: OpenedKey[]; keys: ProviderKeys }>(MAX_ORGANIZATIONS);

  function open(organizationId: string, { provider, sealed }: SealedProviderKey): string | null {
    try {
      return openProviderKey(secrets, { organizationId, provider }, sealed);
    } catch (error) {
      if (!(error instanceof SecretsUnavailableError)) throw error;
      log.error(
        { organizationId, provider, reason: error.message },
        'A stored provider key cannot be opened; calls that need it are refused',
      );
      return null;
    }
  }

  return (organizationId, sealedKeys) => {
    if (sealedKeys.length === 0) {
      opened.delete(organizationId);
      return NO_PROVIDER_KEYS;
    }
    const before = opened.get(organizationId);
    const rows = sealedKeys.map((row) => {
      const same = before?.rows.find(
        ({ provider, sealed }) => provider === row.provider && sealed.equals(row.sealed),
      );
      return same ?? { ...row, key: open(organizationId, row) };
    });
    const isUnchanged = before?.rows.length === rows.length && rows.every((row) => before.rows.includes(row));
    if (isUnchanged) return before.keys;
    const keys = new Map(rows.map(({ provider, key }) => [provider, key]));
    opened.set(organizationId, { rows, keys });
    return keys;
  };
}
