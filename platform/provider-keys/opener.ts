import { LRUCache } from 'lru-cache';
import type { ProviderName } from '#core/contracts/provider.ts';
import type { Logger } from '../observability/log.ts';
import { type SecretBox, SecretsUnavailableError } from '../secrets/mod.ts';
import { openProviderKey } from './seal.ts';

/**
 * The keys that an organization has stored, by provider. Null: there is one, but it cannot be opened here. A call must
 * then fail: with the operator's key instead it would go on another account than the organization chose.
 */
export type ProviderKeys = ReadonlyMap<ProviderName, string | null>;

/** Of the many organizations that have stored none. */
export const NO_PROVIDER_KEYS: ProviderKeys = new Map();

/** A row of the table. */
export type SealedProviderKey = { provider: ProviderName; sealed: Buffer };

/** Opens what an organization has stored. */
export type KeyOpener = (organizationId: string, sealed: readonly SealedProviderKey[]) => ProviderKeys;

/** Organizations whose opened keys are shared by all of their API keys; of one that falls out they are opened again. */
const MAX_ORGANIZATIONS = 20_000;

type OpenedKey = SealedProviderKey & { key: string | null };

/**
 * Makes the opener of a process. What did not change since it was opened last is not opened again, so that a key which
 * cannot be is logged once, by its organization and provider.
 */
export function createKeyOpener({ secrets, log }: { secrets: SecretBox; log: Logger }): KeyOpener {
  const opened = new LRUCache<string, { rows: OpenedKey[]; keys: ProviderKeys }>({ max: MAX_ORGANIZATIONS });

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
