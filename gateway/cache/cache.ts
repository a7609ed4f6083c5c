/**
 * The response cache: memory, limited in bytes, in front of Postgres, which all gateways share. The cache never fails a
 * call: when it cannot read, the call is a miss; when it cannot write, the response is not stored.
 */
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { type CacheQuery, type StoredResponse, withEntry } from './bucket.ts';
import { createCoalescer } from './coalesce.ts';
import { createLocks } from './cross-process-lock.ts';
import { createKnownErasures } from './known-erasures.ts';
import type { CoalescingRole } from './leaders.ts';
import { createLookUp } from './look-up.ts';
import { createMemory } from './memory.ts';
import { storeResponse } from './rows.ts';
import { startSweeping } from './sweep.ts';
import { createTryStore } from './try-store.ts';
import { createWriteBehind } from './write-behind.ts';

export type ResponseCacheOptions = {
  sql: Sql;
  clock: Clock;
  log: Logger;
  /** In [0, 1). */
  random(): number;
  maxMemoryBytes: number;
  /** Limit of the responses on their way to Postgres. */
  maxQueuedBytes?: number;
  /** Limit of one organization's responses in Postgres; the oldest make room. */
  maxOrganizationBytes?: number;
  /** The longest wait of a follower for its leader's response; then it makes its own call. */
  waitMs?: number;
  /** The longest wait of a call for Postgres. */
  patienceMs?: number;
};

/** Counts since the start. */
export type CacheCounts = {
  memoryHits: number;
  storeHits: number;
  misses: number;
  /** Calls that got the response of another call that was under way. */
  coalesced: number;
  /** Responses that could not be written to Postgres. */
  dropped: number;
};

export type ResponseCache = {
  /**
   * Returns a stored response, at once when memory has it; null: the provider must be called. Never rejects.
   */
  find(query: CacheQuery): StoredResponse | null | Promise<StoredResponse | null>;
  /**
   * Coalesces a call that missed: resolves with the response of an identical call of any gateway, or makes this call the
   * leader, which has to call the provider and then `done`, which stores the response. Resolves within twice `waitMs`;
   * rejects only with the reason of `signal`, which aborts when the client has disconnected.
   */
  coalesce(query: CacheQuery, signal?: AbortSignal): Promise<CoalescingRole>;
  /** Stores a complete 2xx response: at once in memory, soon in Postgres. A response above 8 MiB is not stored. */
  store(query: CacheQuery, response: StoredResponse): void;
  /** Forgets the responses to erased requests. None of them returns from a look-up that is under way. */
  forget(requestIds: readonly string[]): void;
  /**
   * Notes whether erasures are announced to this process from now on. While they are not, each response in memory is checked
   * in Postgres before it is served; when they are again, each is checked once. Initially they are.
   */
  setListening(isListening: boolean): void;
  /** Has each response that is in memory checked once in Postgres before it is served again. */
  recheck(): void;
  readonly counts: Readonly<CacheCounts>;
  /** Writes queued responses to Postgres for at most `withinMs`. */
  stop(withinMs: number): Promise<void>;
};

const MIB = 1024 * 1024;
/** A larger response is not stored: it would take the room of many. */
export const LARGEST_STORED_BYTES = 8 * MIB;
const DEFAULT_QUEUED_BYTES = 64 * MIB;
const DEFAULT_ORGANIZATION_BYTES = 1024 * MIB;
/** Longer than nearly every response takes; a follower that waits longer is better off with a call of its own. */
const DEFAULT_WAIT_MS = 120_000;
/** Longer than a look-up under load takes, and short beside a model's response. */
const DEFAULT_PATIENCE_MS = 250;
/** Memory of a queued response beside its body. */
const QUEUED_BYTES = 1_000;

type QueuedResponse = { query: CacheQuery; response: StoredResponse };

/** Makes the cache of this process, and begins to remove expired responses from Postgres. */
export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { sql, clock, log, random, maxMemoryBytes } = options;
  const { maxOrganizationBytes = DEFAULT_ORGANIZATION_BYTES, waitMs = DEFAULT_WAIT_MS } = options;
  const counts = { memoryHits: 0, storeHits: 0, misses: 0, coalesced: 0 };
  const memory = createMemory(maxMemoryBytes);
  const tryStore = createTryStore({ clock, log, patienceMs: options.patienceMs ?? DEFAULT_PATIENCE_MS });
  const locks = createLocks({ sql, tryStore, clock, longestMs: waitMs });
  const sweeping = startSweeping({ sql, log, random });
  const writes = createWriteBehind<QueuedResponse>({
    write: ({ query, response }) => storeResponse(sql, query, response, maxOrganizationBytes),
    bytesOf: ({ response }) => response.body.length + QUEUED_BYTES,
    maxBytes: options.maxQueuedBytes ?? DEFAULT_QUEUED_BYTES,
    log,
  });
  /** In memory, and not in Postgres yet. */
  const unwritten = new Set<StoredResponse>();
  const erasures = createKnownErasures(clock);
  const lookUp = createLookUp({
    sql,
    tryStore,
    clock,
    log,
    random,
    memory,
    unwritten,
    erasures,
    count: (as) => {
      counts[as] += 1;
    },
  });

  /** Stores a response; resolves when Postgres has it, or will not get it. */
  async function keep(query: CacheQuery, given: StoredResponse): Promise<void> {
    const isSuccess = given.status >= 200 && given.status < 300;
    if (!isSuccess || given.body.length > LARGEST_STORED_BYTES || query.maxAgeMs <= 0) return;
    if (erasures.has(given.requestId)) return;
    // Copied, because a body may be a slice of a buffer many times its size.
    const body = Buffer.allocUnsafeSlow(given.body.length);
    given.body.copy(body);
    const response = { ...given, body };
    const { requestId, storedAtMs } = response;
    const added = { requestId, storedAtMs, expiresAtMs: storedAtMs + query.maxAgeMs, response };
    const bucket = withEntry(memory.get(query.key)?.bucket ?? [], added, query.bucketSize);
    memory.set(query.key, { bucket, knownAt: clock.monotonic() });
    unwritten.add(response);
    await writes.put({ query, response });
    unwritten.delete(response);
  }

  const coalescer = createCoalescer({
    clock,
    waitMs,
    locks,
    remembered: lookUp.remembered,
    read: lookUp.read,
    keep,
    onCoalesced: () => {
      counts.coalesced += 1;
    },
  });

  return {
    find: lookUp.find,
    coalesce: coalescer.coalesce,
    store: (query, response) => void keep(query, response),
    forget: (requestIds) => {
      erasures.add(requestIds);
      memory.forgetRequests(requestIds);
    },
    setListening: erasures.setListening,
    recheck: erasures.recheck,
    get counts() {
      return { ...counts, dropped: writes.dropped };
    },
    stop: async (withinMs) => {
      sweeping.stop();
      await writes.stop(withinMs);
      await locks.stop();
    },
  };
}
