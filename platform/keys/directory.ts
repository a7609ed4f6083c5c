/**
 * The valid API keys, and the provider keys of their organizations, that a process keeps in memory. A known key costs two
 * look-ups in memory.
 */
import { LRUCache } from 'lru-cache';
import { KEY_CHANGES_SUBJECT, KEYS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { ChangeWatcher } from '../nats/mod.ts';
import type { Logger } from '../observability/log.ts';
import { createGathered, createStoreCache, type Listener, type Sql } from '../postgres/mod.ts';
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
import { type FoundKey, findKeyById, findKeys } from './find-key.ts';
import { createKeyUses } from './uses.ts';

export type KeyDirectory = {
  /**
   * Returns the valid key, or null: at once if it is known, else from Postgres. Notes that it was used.
   * @throws AssayError key_expired; store_unavailable (as a rejection) when Postgres is away and the key is not known
   */
  find(key: string): ApiKey | null | Promise<ApiKey | null>;
  /** Returns the valid key with this id, or null, as `find` does: for log-ins and signed calls, which act as a key without holding it. */
  findById(keyId: string): Promise<ApiKey | null>;
  /**
   * Returns the provider keys of an organization, for calls that are made for it without an API key. Cached as in `find`.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and they are not known
   */
  providerKeysOf(organizationId: string): ProviderKeys | Promise<ProviderKeys>;
  /** Calls `listener` whenever keys, provider keys or organizations have changed, or may have. */
  onChange(listener: () => void): void;
  stop(): Promise<void>;
};

export type KeyDirectoryOptions = {
  sql: Sql;
  listener: Listener;
  /** Where changes are announced too. */
  watcher: ChangeWatcher;
  clock: Clock;
  log: Logger;
  /** Opens provider keys; null in a process that calls no provider. */
  secrets: SecretBox | null;
};

/** Keys in the cache, of 500 bytes each. */
const MAX_KEYS = 20_000;
/**
 * Look-ups of keys at a time. Made-up ones come from strangers, as many as a process has connections, and must keep no key of
 * others out; together they take some statements, and 1 KB each.
 */
const MAX_GATHERED_LOOKUPS = 20_000;
/** Organizations in the cache for calls without an API key. */
const MAX_ORGANIZATIONS = 5_000;

const openNone: KeyOpener = () => NO_PROVIDER_KEYS;

/** Keys whose hash is cached: hashing takes 2 µs, a thirtieth of a call. */
const MAX_HASHED_KEYS = 1_000;

/** Creates the directory of this process, which begins to listen at once. */
export function createKeyDirectory(options: KeyDirectoryOptions): KeyDirectory {
  const { sql, listener, watcher, clock, log, secrets } = options;
  const open = secrets === null ? openNone : createKeyOpener({ secrets, log });

  const opened = (found: FoundKey | null): ApiKey | null => {
    if (found === null) return null;
    const { sealedProviderKeys, ...key } = found;
    return { ...key, providerKeys: open(key.organizationId, sealedProviderKeys) };
  };
  const ofKeys = {
    clock,
    max: MAX_KEYS,
    failure: 'The key cannot be checked now: the key store is unavailable',
  };
  const findGathered = createGathered({ load: (digests: readonly Buffer[]) => findKeys(sql, digests) });
  const keys = createStoreCache<Buffer, ApiKey | null>({
    ...ofKeys,
    maxLookups: MAX_GATHERED_LOOKUPS,
    load: async (digest) => opened(await findGathered(digest)),
  });
  const keysById = createStoreCache<string, ApiKey | null>({
    ...ofKeys,
    load: async (keyId) => opened(await findKeyById(sql, keyId)),
  });
  const organizations = createStoreCache<string, ProviderKeys>({
    clock,
    max: MAX_ORGANIZATIONS,
    failure: 'The provider keys of the organization cannot be read now: the key store is unavailable',
    load: async (organizationId) => open(organizationId, await findSealedKeys(sql, organizationId)),
  });
  const all = [keys, keysById, organizations];
  const hashed = new LRUCache<string, { id: string; digest: Buffer }>({ max: MAX_HASHED_KEYS });
  const hashOf = (key: string) => {
    const known = hashed.get(key);
    if (known !== undefined) return known;
    const digest = hashApiKey(key);
    const made = { id: digest.toString('latin1'), digest };
    hashed.set(key, made);
    return made;
  };

  const uses = createKeyUses({ sql, log });

  /** Checks the expiry at each call, because a key may expire while it is cached. */
  function admit(key: ApiKey | null): ApiKey | null {
    if (key === null) return null;
    const now = clock.now();
    if (key.expiresAtMs !== null && now >= key.expiresAtMs) throw expired(key.expiresAtMs);
    uses.note(key.keyId, now);
    return key;
  }

  const listeners: (() => void)[] = [];
  const notifyChange = () => {
    for (const listener of listeners) listener();
  };
  const revalidate = () => {
    for (const memory of all) memory.revalidate();
    notifyChange();
  };
  const watching = watcher.watch({ subject: KEY_CHANGES_SUBJECT, onChange: revalidate });
  const listening = listener.listen({
    channel: KEYS_CHANNEL,
    onNotify(changedId) {
      for (const memory of [keys, keysById])
        memory.forget((_, key) => key?.keyId === changedId || key?.organizationId === changedId);
      organizations.forget((organizationId) => organizationId === changedId);
      notifyChange();
    },
    onListening() {
      for (const memory of all) memory.onListening();
      notifyChange();
    },
    onLost() {
      for (const memory of all) memory.onLost();
      log.warn(
        'Lost the connection that announces changed keys; each call checks its key in PostgreSQL until it is back',
      );
    },
  });

  return {
    find: (key) => {
      if (key.length < KEY_LENGTH.min || key.length > KEY_LENGTH.max) return null;
      const { id, digest } = hashOf(key);
      const found = keys.find(id, digest);
      return found instanceof Promise ? found.then(admit) : admit(found);
    },
    findById: async (keyId) => admit(await keysById.find(keyId, keyId)),
    providerKeysOf: (organizationId) => organizations.find(organizationId, organizationId),
    onChange: (listener) => {
      listeners.push(listener);
    },
    stop: async () => {
      await Promise.all([listening.stop(), watching.stop(), uses.stop()]);
    },
  };
}

function expired(atMs: number): AssayError {
  return new AssayError('key_expired', `This API key expired at ${new Date(atMs).toISOString()}`);
}
