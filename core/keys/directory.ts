/**
 * The directory of valid keys that a process keeps in memory. A known key costs a hash and a map look-up. Answers are
 * fresh only while the process listens to changes of keys, so a revocation counts everywhere at once; when Postgres is
 * away, keys that were valid go on being so, for an hour.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { AssayError, describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type NatsAddress, watchKeyChanges } from '../nats/mod.ts';
import { isStoreUnavailable, listen, type Sql } from '../postgres/mod.ts';
import { type ApiKey, hashApiKey, KEY_LENGTH } from './api-key.ts';
import { findKeyByHash } from './store.ts';

export type KeyDirectory = {
  /**
   * The valid key, or null. Answers at once when it is known, else asks Postgres.
   * @throws AssayError store_unavailable (as a rejection) when Postgres is away and the key is not known
   */
  find(key: string): ApiKey | null | Promise<ApiKey | null>;
  stop(): Promise<void>;
};

export type KeyDirectoryOptions = {
  sql: Sql;
  clock: Clock;
  log: Logger;
  /** The broker, which tells of changes too; null when there is none. */
  nats: NatsAddress | null;
};

/** Keys in use at a time: 500 bytes each. A key that falls out is looked up again. */
const MAX_VALID = 20_000;
/** Apart from the valid ones, so that made-up keys push no real one out. */
const MAX_UNKNOWN = 5_000;
/** How long an answer is fresh, should a notification get lost on a line that is dead without either end knowing. */
const FRESH_MS = 30_000;
/** A new key is announced, so an unknown one stays unknown; brief because it costs its caller only. */
const UNKNOWN_FRESH_MS = 2_000;
/** How long a valid key is believed while Postgres cannot be asked: longer than a failover, shorter than a working day. */
const STALE_MS = 3_600_000;
/** After a failed look-up, how long known keys are answered without trying: an outage must not slow every call. */
const AWAY_MS = 1_000;
/** How long a call with a known key waits for Postgres to answer before it is believed for this time. */
const PATIENCE_MS = 1_000;
/** How long one with an unknown key does: it cannot be let in. */
const LONGEST_PATIENCE_MS = 5_000;
/** Look-ups at a time: a flood of made-up keys must not pile up behind the pool. */
const MAX_LOOKUPS = 500;

type Known = { apiKey: ApiKey; verifiedAt: number };

const unavailable = (cause: unknown) =>
  new AssayError('store_unavailable', 'The key cannot be checked now: the key store is unavailable', {
    cause,
    detail: describeError(cause),
  });

/** Resolves like `promise`, or rejects after `waitMs`. */
async function within<T>(promise: Promise<T>, waitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable(new Error(`no answer within ${waitMs} ms`))), waitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Makes the directory of this process; it begins to listen at once. */
export function createKeyDirectory({ sql, clock, log, nats }: KeyDirectoryOptions): KeyDirectory {
  const valid = new LRUCache<string, Known>({ max: MAX_VALID });
  const unknown = new LRUCache<string, number>({ max: MAX_UNKNOWN });
  const lookups = new Map<string, Promise<ApiKey | null>>();
  let listening = false;
  /** Changes before this moment may have been missed; answers from before it are asked for again. */
  let freshSince = 0;
  let awayUntil = 0;
  /** Counts the changes of keys: an answer that was asked for before one must not be kept after it. */
  let generation = 0;

  const forget = (changedId: string) => {
    generation += 1;
    unknown.clear();
    lookups.clear();
    for (const [id, { apiKey }] of valid.entries()) {
      if (apiKey.keyId === changedId || apiKey.organizationId === changedId) valid.delete(id);
    }
  };

  /** What is known is not thrown away: it is what is believed should Postgres be away. */
  const askAgain = () => {
    generation += 1;
    unknown.clear();
    lookups.clear();
    freshSince = clock.monotonic();
  };

  const watcher =
    nats === null ? null : watchKeyChanges({ address: nats, name: 'assay-keys', log, onChange: askAgain });
  const listener = listen({
    sql,
    channel: 'assay_keys',
    onNotify: forget,
    onListening() {
      askAgain();
      listening = true;
      awayUntil = 0;
    },
    onLost() {
      listening = false;
      log.warn(
        'Lost the connection that tells of changed keys; keys are checked one by one until it is back',
      );
    },
  });

  async function ask(id: string, digest: Buffer): Promise<ApiKey | null> {
    const askedIn = generation;
    const askedAt = clock.monotonic();
    const apiKey = await findKeyByHash(sql, digest);
    if (askedIn !== generation) return apiKey;
    if (apiKey === null) {
      valid.delete(id);
      unknown.set(id, askedAt);
    } else {
      valid.set(id, { apiKey, verifiedAt: askedAt });
    }
    return apiKey;
  }

  /** One look-up a key at a time, however many calls wait for it. */
  function lookUp(id: string, digest: Buffer): Promise<ApiKey | null> {
    const running = lookups.get(id);
    if (running !== undefined) return running;
    if (lookups.size >= MAX_LOOKUPS) return Promise.reject(unavailable(new Error('too many look-ups')));
    const lookup = ask(id, digest).finally(() => {
      if (lookups.get(id) === lookup) lookups.delete(id);
    });
    lookups.set(id, lookup);
    return lookup;
  }

  async function findStored(id: string, digest: Buffer, known: Known | undefined): Promise<ApiKey | null> {
    try {
      const lookup = lookUp(id, digest);
      return await within(lookup, known === undefined ? LONGEST_PATIENCE_MS : PATIENCE_MS);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      awayUntil = clock.monotonic() + AWAY_MS;
      if (known !== undefined) return known.apiKey;
      throw error instanceof AssayError ? error : unavailable(error);
    }
  }

  function find(key: string): ApiKey | null | Promise<ApiKey | null> {
    if (key.length < KEY_LENGTH.min || key.length > KEY_LENGTH.max) return null;
    const digest = hashApiKey(key);
    const id = digest.toString('latin1');
    const now = clock.monotonic();
    let known = valid.get(id);
    if (known !== undefined) {
      const age = now - known.verifiedAt;
      if (listening && known.verifiedAt >= freshSince && age < FRESH_MS) return known.apiKey;
      if (age > STALE_MS) known = undefined;
      else if (now < awayUntil) return known.apiKey;
    } else {
      const since = unknown.get(id);
      if (since !== undefined && listening && now - since < UNKNOWN_FRESH_MS) return null;
    }
    return findStored(id, digest, known);
  }

  return {
    find,
    stop: async () => {
      await Promise.all([listener.stop(), watcher?.stop()]);
    },
  };
}
