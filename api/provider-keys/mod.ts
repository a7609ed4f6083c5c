/** Provider keys that organizations store for their own calls: written here, and never read back. */

import { type Static, Type } from '@sinclair/typebox';
import { AssayError } from '#core/contracts/errors.ts';
import { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
import { closed, Nullable, Timestamp } from '#core/contracts/shapes.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { openProviderKey, type ProviderKeyOwner, sealProviderKey } from '#platform/provider-keys/mod.ts';
import { type SecretBox, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import { deleteProviderKey, type ProviderKeyRow, selectProviderKeys, upsertProviderKey } from './store.ts';

/** A stored key as the API shows it. */
export const ProviderKeyJson = Type.Object(
  {
    provider: Type.String(),
    hint: Nullable(
      Type.String(),
      "The key's last four characters; null when they would be too much of it, and when it is not readable",
    ),
    readable: Type.Boolean({
      description:
        "Whether it can be opened with today's SECRET_KEY. Calls that need one which cannot are refused",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, $id: 'ProviderKey' },
);
export type ProviderKeyJson = Static<typeof ProviderKeyJson>;

/** Longer than any provider's key. The operator's own keys have the same limit. */
const LONGEST_KEY = 4_096;

/** The body that stores a key. The key becomes a header's value: printable ASCII. No error sentence quotes the body. */
export const ProviderKeyBody = Type.Object(
  {
    key: Type.String({
      minLength: 1,
      maxLength: LONGEST_KEY,
      pattern: '^[\\x21-\\x7e]+$',
      rule: 'must be printable ASCII without spaces',
      unquoted: true,
      writeOnly: true,
    }),
  },
  { ...closed, unquoted: true },
);
export type ProviderKeyBody = Static<typeof ProviderKeyBody>;

export type ProviderKeyService = {
  /** Lists the keys by the providers' names. */
  list(organizationId: string): Promise<ProviderKeyJson[]>;
  /** @throws AssayError not_found */
  get(organizationId: string, provider: ProviderName): Promise<ProviderKeyJson>;
  /**
   * Stores a key, and replaces the former one. Gateways use it within a second.
   * @throws AssayError invalid_body without a SECRET_KEY
   */
  set(organizationId: string, provider: ProviderName, body: ProviderKeyBody): Promise<ProviderKeyJson>;
  /** @throws AssayError not_found */
  remove(organizationId: string, provider: ProviderName): Promise<null>;
};

export type ProviderKeyServiceOptions = {
  /** A pool under the role `assay_api`. */
  sql: Sql;
  clock: Clock;
  secrets: SecretBox;
  /** Announces a change to other processes, beside Postgres's notifications; never rejects. */
  announce(): Promise<void>;
};

const HINT_LENGTH = 4;
/** Shorter keys show no characters: four of them would be more than a fifth. */
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
      const [row] = await inOrganization(sql, organizationId, (tx) =>
        selectProviderKeys(tx, organizationId, provider),
      );
      if (row === undefined) throw nothingStored(provider);
      return show(organizationId, row);
    },

    async set(organizationId, provider, { key }) {
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
      const wasThere = await inOrganization(sql, organizationId, (tx) =>
        deleteProviderKey(tx, organizationId, provider),
      );
      if (!wasThere) throw nothingStored(provider);
      await announce();
      return null;
    },
  };
}

/**
 * Returns the provider of that name. An unknown name is not quoted, because it may be a key that was pasted there.
 * @throws AssayError not_found
 */
export function readProvider(name: string): ProviderName {
  const provider = PROVIDER_NAMES.find((known) => known === name);
  if (provider !== undefined) return provider;
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
