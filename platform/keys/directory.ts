/**
 * The directory of valid keys that a process keeps in memory, and of the provider keys that go with them. A known key
 * costs two look-ups in memory.
 */

import { LRUCache } from 'lru-cache';
import { KEYS_CHANNEL } from '#core/contracts/channels.ts';
import { type NatsAddress, watchKeyChanges } from '../nats/mod.ts';
import type { Logger } from '../observability/log.ts';
import { listen, type Sql } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';
import {
  createKeyOpener,
  findSealedKeys,
  type KeyOpener,
  NO_PROVIDER_KEYS,
  type ProviderKeys,
} from '../provider-keys/mod.ts';
import type { SecretBox } from '../secrets/mod.ts';
import { type ApiKey, hashApiKey, KEY_LENGTH } from './api-key.ts';
import { remember } from './remembered.ts';
import { findKeyByHash } from './store.ts';

export type KeyDirectory = {
  /**
   * The valid key, or null. Answers at once when it is known, else asks Postgres.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and the key is not known
   */
  find(key: string): ApiKey | null | Promise<ApiKey | null>;
  /**
   * The provider keys of an organization, for calls that are made for it without a key. As quick as `find`, and as long
   * believed.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and they are not known
   */
  providerKeysOf(organizationId: string): ProviderKeys | Promise<ProviderKeys>;
  /** Calls `hear` whenever keys, provider keys or organizations have changed, or may have. */
  onChange(hear: () => void): void;
  stop(): Promise<void>;
};

export type KeyDirectoryOptions = {
  sql: Sql;
  clock: Clock;
  log: Logger;
  /** The broker, which tells of changes too; null when there is none. */
  nats: NatsAddress | null;
  /** Opens provider keys; null for a process that calls no provider, and so is given none. */
  secrets: SecretBox | null;
};

/** Keys in use at a time: 500 bytes each. */
const MAX_KEYS = 20_000;
/** Organizations that calls are made for without a key, at a time. */
const MAX_ORGANIZATIONS = 5_000;

const openNone: KeyOpener = () => NO_PROVIDER_KEYS;

/** Keys whose hash is at hand: to hash one takes 2 µs, a thirtieth of what a call takes. */
const MAX_HASHED_KEYS = 1_000;

/** Makes the directory of this process; it begins to listen at once. */
export function createKeyDirectory(options: KeyDirectoryOptions): KeyDirectory {
  const { sql, clock, log, nats, secrets } = options;
  const open = secrets === null ? openNone : createKeyOpener({ secrets, log });

  const keys = remember<Buffer, ApiKey | null>({
    clock,
    max: MAX_KEYS,
    failure: 'The key cannot be checked now',
    load: async (digest) => {
      const found = await findKeyByHash(sql, digest);
      if (found === null) return null;
      const { sealedProviderKeys, ...key } = found;
      return { ...key, providerKeys: open(key.organizationId, sealedProviderKeys) };
    },
  });
  const organizations = remember<string, ProviderKeys>({
    clock,
    max: MAX_ORGANIZATIONS,
    failure: 'The provider keys of the organization cannot be read now',
    load: async (organizationId) => open(organizationId, await findSealedKeys(sql, organizationId)),
  });
  const both = [keys, organizations];
  const hashed = new LRUCache<string, { id: string; digest: Buffer }>({ max: MAX_HASHED_KEYS });
  const hashOf = (key: string) => {
    const known = hashed.get(key);
    if (known !== undefined) return known;
    const digest = hashApiKey(key);
    const made = { id: digest.toString('latin1'), digest };
    hashed.set(key, made);
    return made;
  };

  const hearers: (() => void)[] = [];
  const tellChange = () => {
    for (const hear of hearers) hear();
  };
  const askAgain = () => {
    for (const memory of both) memory.askAgain();
    tellChange();
  };
  const watcher =
    nats === null ? null : watchKeyChanges({ address: nats, name: 'assay-keys', log, onChange: askAgain });
  const listener = listen({
    sql,
    channel: KEYS_CHANNEL,
    onNotify(changedId) {
      keys.forget((_, key) => key?.keyId === changedId || key?.organizationId === changedId);
      organizations.forget((organizationId) => organizationId === changedId);
      tellChange();
    },
    onListening() {
      for (const memory of both) memory.onListening();
      tellChange();
    },
    onLost() {
      for (const memory of both) memory.onLost();
      log.warn(
        'Lost the connection that tells of changed keys; keys are checked one by one until it is back',
      );
    },
  });

  return {
    find: (key) => {
      if (key.length < KEY_LENGTH.min || key.length > KEY_LENGTH.max) return null;
      const { id, digest } = hashOf(key);
      return keys.find(id, digest);
    },
    providerKeysOf: (organizationId) => organizations.find(organizationId, organizationId),
    onChange: (hear) => {
      hearers.push(hear);
    },
    stop: async () => {
      await Promise.all([listener.stop(), watcher?.stop()]);
    },
  };
}
