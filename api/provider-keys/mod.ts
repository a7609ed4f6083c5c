/** Keys of providers that organizations store for their own calls: written here, and never read back. */

import { AssayError } from '#core/contracts/errors.ts';
import { PROVIDER_NAMES } from '#core/contracts/provider.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { openProviderKey, type ProviderKeyOwner, sealProviderKey } from '#platform/provider-keys/mod.ts';
import { type SecretBox, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import { readKey } from './read-key.ts';
import { deleteProviderKey, type ProviderKeyRow, selectProviderKeys, upsertProviderKey } from './store.ts';

export { createAnnouncer } from './announce.ts';

/** A stored key as it is shown. */
export type ProviderKeyJson = {
  provider: string;
  /** The key's last four characters; null when they would be too much of it, and when it is not readable. */
  hint: string | null;
  /** Whether it can be opened with today's SECRET_KEY. Calls that need one which cannot are refused. */
  readable: boolean;
  created_at: string;
  /** When the key was stored that is there now. */
  updated_at: string;
};

export type ProviderKeyService = {
  /** By the providers' names. */
  list(organizationId: string): Promise<ProviderKeyJson[]>;
  /** @throws AssayError not_found */
  get(organizationId: string, provider: string): Promise<ProviderKeyJson>;
  /**
   * Stores `{"key": "…"}`, in place of the one that is there, if any. Gateways use it within a second.
   * @throws AssayError not_found for an unknown provider; invalid_body, also without a SECRET_KEY
   */
  set(organizationId: string, provider: string, body: unknown): Promise<ProviderKeyJson>;
  /** @throws AssayError not_found */
  remove(organizationId: string, provider: string): Promise<void>;
};

export type ProviderKeyServiceOptions = {
  /** Of the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  secrets: SecretBox;
  /** Tells other processes that something changed, beside what Postgres tells them; never rejects. */
  announce(): Promise<void>;
};

const HINT_LENGTH = 4;
/** Of a shorter key four characters would be more than a fifth. */
const SHORTEST_WITH_HINT = 20;

export function createProviderKeyService(options: ProviderKeyServiceOptions): ProviderKeyService {
  const { sql, clock, secrets, announce } = options;

  function show(organizationId: string, row: ProviderKeyRow): ProviderKeyJson {
    const { provider, sealed, created_at, updated_at } = row;
    const key = openOrNull(secrets, { organizationId, provider }, sealed);
    return {
      provider,
      hint: key === null || key.length < SHORTEST_WITH_HINT ? null : key.slice(-HINT_LENGTH),
      readable: key !== null,
      created_at: created_at.toISOString(),
      updated_at: updated_at.toISOString(),
    };
  }

  return {
    async list(organizationId) {
      const rows = await inOrganization(sql, organizationId, (tx) => selectProviderKeys(tx, organizationId));
      return rows.map((row) => show(organizationId, row));
    },

    async get(organizationId, provider) {
      requireProvider(provider);
      const [row] = await inOrganization(sql, organizationId, (tx) =>
        selectProviderKeys(tx, organizationId, provider),
      );
      if (row === undefined) throw nothingStored(provider);
      return show(organizationId, row);
    },

    async set(organizationId, provider, body) {
      requireProvider(provider);
      const key = readKey(body);
      if (!secrets.canSeal) {
        throw new AssayError(
          'invalid_body',
          'Provider keys cannot be stored here, because SECRET_KEY is not set',
        );
      }
      const sealed = sealProviderKey(secrets, { organizationId, provider }, key);
      const at = new Date(clock.now());
      const row = await inOrganization(sql, organizationId, (tx) =>
        upsertProviderKey(tx, { organizationId, provider, sealed, at }),
      );
      await announce();
      return show(organizationId, row);
    },

    async remove(organizationId, provider) {
      requireProvider(provider);
      const wasThere = await inOrganization(sql, organizationId, (tx) =>
        deleteProviderKey(tx, organizationId, provider),
      );
      if (!wasThere) throw nothingStored(provider);
      await announce();
    },
  };
}

/** What is in the place of a provider's name may be a key that was pasted there, so it is not quoted. */
function requireProvider(name: string): void {
  if ((PROVIDER_NAMES as readonly string[]).includes(name)) return;
  throw new AssayError('not_found', `There is no such provider: use one of ${PROVIDER_NAMES.join(', ')}`);
}

function nothingStored(provider: string): AssayError {
  return new AssayError('not_found', `There is no stored key of the provider ${provider}`);
}

function openOrNull(secrets: SecretBox, owner: ProviderKeyOwner, sealed: Buffer): string | null {
  try {
    return openProviderKey(secrets, owner, sealed);
  } catch (error) {
    if (error instanceof SecretsUnavailableError) return null;
    throw error;
  }
}
