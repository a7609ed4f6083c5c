/**
 * The directory of valid keys that a process keeps in memory, and of the provider keys that go with them. A known key
 * costs two look-ups in memory.
 */
import { LRUCache } from 'lru-cache';
import { KEYS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError, describeError } from '#core/contracts/errors.ts';
import { type NatsAddress, watchKeyChanges } from '../nats/mod.ts';
import type { Logger } from '../observability/log.ts';
import { createAvailability, isStoreUnavailable, listen, type Sql, StoreLateError } from '../postgres/mod.ts';
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
import { findKeyByHash } from './store.ts';

/**
 * What Postgres answered, kept in memory by a process that listens to changes of it. Answers are fresh only while it
 * listens, so a change counts everywhere at once; when Postgres is away, what was known goes on being believed, for an
 * hour.
 */

export type StoreCache<Input, Value> = {
  /**
   * The answer about what `id` names: at once when it is known, else from Postgres.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and the answer is not known
   */
  find(id: string, subject: Input): Value | Promise<Value>;
  /** Something changed: answers about it are not to be believed any more, whatever becomes of Postgres. */
  forget(isChanged: (id: string, answer: Value) => boolean): void;
  /** Something may have changed: every answer is asked for again, and believed until then only if Postgres is away. */
  revalidate(): void;
  /** Changes are heard from now on. */
  onListening(): void;
  /** Changes are not heard until `onListening` is called again. */
  onLost(): void;
};

export type StoreCacheOptions<Input, Value> = {
  clock: Clock;
  /**
   * Asks Postgres. Null is an answer too, that there is none; it is never kept, as what is new must count at once, and the
   * news of it may be late or lost. Made-up ids cost a look-up each, of which a bounded number is under way.
   */
  load(subject: Input): Promise<Value>;
  /** Answers to keep; one that falls out is asked for again. */
  max: number;
  /** What cannot be done while Postgres is away, as the beginning of a sentence. */
  failure: string;
};

/** How long an answer is fresh, should a notification get lost on a line that is dead without either end knowing. */
const FRESH_MS = 30_000;
/** How long an answer is believed while Postgres cannot be asked: longer than a failover, shorter than a working day. */
const STALE_MS = 3_600_000;
/** After a failed look-up, how long known answers are given without trying: an outage must not slow every call. */
const PAUSE_MS = 1_000;
/** How long a call waits for Postgres when there is a former answer, which is then believed for this time. */
const PATIENCE_MS = 1_000;
/** How long one without does: it cannot be let in. */
const LONGEST_PATIENCE_MS = 5_000;
/** Look-ups at a time: a flood of made-up ids must not pile up behind the pool. */
const MAX_LOOKUPS = 500;

type Known<Value> = { answer: Value; verifiedAt: number };

/**
 * Makes an empty memory, of a process that does not listen yet.
 * @internal Exported so that tests change its store without a database.
 */
export function createStoreCache<Input, Value>(
  options: StoreCacheOptions<Input, Value>,
): StoreCache<Input, Value> {
  const { clock, load, max, failure } = options;
  const known = new LRUCache<string, Known<Value>>({ max });
  const lookups = new Map<string, Promise<Value>>();
  const store = createAvailability({
    clock,
    patienceMs: LONGEST_PATIENCE_MS,
    recovery: { pauseMs: PAUSE_MS },
  });
  let isListening = false;
  /** Changes before this moment may have been missed; answers from before it are asked for again. */
  let freshSince = 0;
  /** Counts the changes: an answer that was asked for before one must not be kept after it. */
  let generation = 0;

  const unavailable = (cause: unknown) =>
    new AssayError('store_unavailable', `${failure}: the key store is unavailable`, {
      cause,
      detail: describeError(cause),
    });

  /** Of what is under way, and of what is not there, nothing tells whether it is what changed. */
  const beginAnew = () => {
    generation += 1;
    lookups.clear();
  };

  /** What is known is not thrown away: it is what is believed should Postgres be away. */
  const revalidate = () => {
    beginAnew();
    freshSince = clock.monotonic();
  };

  async function ask(id: string, subject: Input): Promise<Value> {
    const askedIn = generation;
    const verifiedAt = clock.monotonic();
    const answer = await load(subject);
    if (askedIn !== generation) return answer;
    if (answer === null) known.delete(id);
    else known.set(id, { answer, verifiedAt });
    return answer;
  }

  /** One look-up of an id at a time, however many calls wait for it. */
  async function lookUp(id: string, subject: Input): Promise<Value> {
    const running = lookups.get(id);
    if (running === undefined) return await begin(id, subject);
    const answer = await running;
    if (answer !== null) return answer;
    // What that one did not find may have been made while it ran, before this call.
    return await (lookups.get(id) ?? begin(id, subject));
  }

  function begin(id: string, subject: Input): Promise<Value> {
    if (lookups.size >= MAX_LOOKUPS) return Promise.reject(unavailable(new Error('too many look-ups')));
    const lookup = ask(id, subject).finally(() => {
      if (lookups.get(id) === lookup) lookups.delete(id);
    });
    lookups.set(id, lookup);
    return lookup;
  }

  async function findStored(id: string, subject: Input, before: Known<Value> | undefined): Promise<Value> {
    try {
      const patienceMs = before === undefined ? LONGEST_PATIENCE_MS : PATIENCE_MS;
      return await store.attempt(() => lookUp(id, subject), { patienceMs });
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      if (before !== undefined) return before.answer;
      throw error instanceof AssayError && !(error instanceof StoreLateError) ? error : unavailable(error);
    }
  }

  function find(id: string, subject: Input): Value | Promise<Value> {
    const now = clock.monotonic();
    let before = known.get(id);
    if (before !== undefined) {
      const age = now - before.verifiedAt;
      if (isListening && before.verifiedAt >= freshSince && age < FRESH_MS) return before.answer;
      if (age > STALE_MS) before = undefined;
      else if (store.isAway()) return before.answer;
    }
    return findStored(id, subject, before);
  }

  return {
    find,
    revalidate,
    forget: (isChanged) => {
      beginAnew();
      for (const [id, { answer }] of known.entries()) if (isChanged(id, answer)) known.delete(id);
    },
    onListening: () => {
      revalidate();
      isListening = true;
      store.reset();
    },
    onLost: () => {
      isListening = false;
    },
  };
}

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
  /** Calls `listener` whenever keys, provider keys or organizations have changed, or may have. */
  onChange(listener: () => void): void;
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

  const keys = createStoreCache<Buffer, ApiKey | null>({
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
  const organizations = createStoreCache<string, ProviderKeys>({
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

  const listeners: (() => void)[] = [];
  const notifyChange = () => {
    for (const listener of listeners) listener();
  };
  const revalidate = () => {
    for (const memory of both) memory.revalidate();
    notifyChange();
  };
  const watcher =
    nats === null ? null : watchKeyChanges({ address: nats, name: 'assay-keys', log, onChange: revalidate });
  const listener = listen({
    sql,
    channel: KEYS_CHANNEL,
    onNotify(changedId) {
      keys.forget((_, key) => key?.keyId === changedId || key?.organizationId === changedId);
      organizations.forget((organizationId) => organizationId === changedId);
      notifyChange();
    },
    onListening() {
      for (const memory of both) memory.onListening();
      notifyChange();
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
    onChange: (listener) => {
      listeners.push(listener);
    },
    stop: async () => {
      await Promise.all([listener.stop(), watcher?.stop()]);
    },
  };
}
