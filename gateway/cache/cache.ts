/**
 * The response cache: memory, limited in bytes, in front of Postgres, which all gateways share. The cache never fails a
 * call: when it cannot read, the call is a miss; when it cannot write, the response is not stored.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import {
  type Bucket,
  type CacheQuery,
  chooseEntry,
  drawPosition,
  type StoredResponse,
  withBodiesOf,
  withEntry,
  withUnwritten,
} from './bucket.ts';
import { createCoalescer } from './coalesce.ts';
import { createLocks } from './cross-process-lock.ts';
import type { CoalescingRole } from './leaders.ts';
import { createMemory } from './memory.ts';
import { readBucket, storeResponse } from './rows.ts';
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
  lead(query: CacheQuery, signal?: AbortSignal): Promise<CoalescingRole>;
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
/** The age from which a bucket in memory is checked in Postgres for newer responses of other gateways. */
const MEMORY_TRUSTED_MS = 60_000;
/** Longer than any look-up or write that was under way at an erasure, as far as Postgres responds at all. */
const ERASED_KNOWN_MS = 300_000;
/** Ids of erased requests in memory, of 200 bytes each. */
const MAX_ERASED_KNOWN = 50_000;
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
  const lookUps = new Map<string, Promise<StoredResponse | null | undefined>>();
  const erased = new LRUCache<string, true>({ max: MAX_ERASED_KNOWN, ttl: ERASED_KNOWN_MS });
  let isListening = true;
  /** Erasures before this moment may have been missed. */
  let trustedSince = Number.NEGATIVE_INFINITY;

  function remembered(
    query: CacheQuery,
    position: number,
  ): { response: StoredResponse | null; isFresh: boolean } {
    const known = memory.get(query.key);
    if (known === undefined) return { response: null, isFresh: false };
    const response = chooseEntry(known.bucket, query, position, clock.now())?.response ?? null;
    const isChecked = isListening && known.knownAt >= trustedSince;
    return { response, isFresh: isChecked && clock.monotonic() - known.knownAt < MEMORY_TRUSTED_MS };
  }

  /** Reads a response from Postgres; null: none; undefined: Postgres did not respond. */
  async function read(query: CacheQuery, position: number): Promise<StoredResponse | null | undefined> {
    const before = memory.get(query.key);
    const nowMs = clock.now();
    const knownAt = clock.monotonic();
    const stored = await tryStore(() => readBucket(sql, query, { position, nowMs }));
    if (stored === 'damaged') {
      log.warn({ organizationId: query.organizationId, key: query.key }, 'A stored response is damaged');
      return null;
    }
    if (stored === undefined) return undefined;
    const bucket = stored.filter(({ requestId }) => !erased.has(requestId));
    const inMemory = before?.bucket ?? [];
    const known = withUnwritten(withBodiesOf(bucket, inMemory), inMemory, unwritten, query.buckets);
    // Unless a response was stored in between, which these rows may lack.
    if (memory.get(query.key) === before) memory.set(query.key, { bucket: known, knownAt });
    const choose = (from: Bucket) => chooseEntry(from, query, position, nowMs)?.response ?? null;
    return choose(known) ?? choose(bucket);
  }

  /** Shares one look-up among concurrent equal queries. All get the same response, even when the bucket holds several. */
  function lookUp(query: CacheQuery, position: number): Promise<StoredResponse | null | undefined> {
    const id = `${query.key} ${query.buckets} ${query.maxAgeMs}`;
    const running = lookUps.get(id);
    if (running !== undefined) return running;
    const started = read(query, position).finally(() => lookUps.delete(id));
    lookUps.set(id, started);
    return started;
  }

  function find(query: CacheQuery): StoredResponse | null | Promise<StoredResponse | null> {
    const position = drawPosition(query, random());
    const { response: known, isFresh } = remembered(query, position);
    if (known === null || !isFresh) return findStored(query, position, known);
    counts.memoryHits += 1;
    return known;
  }

  async function findStored(
    query: CacheQuery,
    position: number,
    known: StoredResponse | null,
  ): Promise<StoredResponse | null> {
    const found = await lookUp(query, position);
    const response = found === undefined ? known : found;
    if (response === null) counts.misses += 1;
    else counts.storeHits += 1;
    return response;
  }

  /** Stores a response; resolves when Postgres has it, or will not get it. */
  async function keep(query: CacheQuery, given: StoredResponse): Promise<void> {
    const isSuccess = given.status >= 200 && given.status < 300;
    if (!isSuccess || given.body.length > LARGEST_STORED_BYTES || query.maxAgeMs <= 0) return;
    if (erased.has(given.requestId)) return;
    // Copied, because a body may be a slice of a buffer many times its size.
    const body = Buffer.allocUnsafeSlow(given.body.length);
    given.body.copy(body);
    const response = { ...given, body };
    const { requestId, storedAtMs } = response;
    const added = { requestId, storedAtMs, expiresAtMs: storedAtMs + query.maxAgeMs, response };
    const bucket = withEntry(memory.get(query.key)?.bucket ?? [], added, query.buckets);
    memory.set(query.key, { bucket, knownAt: clock.monotonic() });
    unwritten.add(response);
    await writes.put({ query, response });
    unwritten.delete(response);
  }

  const coalescer = createCoalescer({
    clock,
    waitMs,
    locks,
    remembered: (query) => {
      const { response, isFresh } = remembered(query, drawPosition(query, random()));
      return isFresh ? response : null;
    },
    read: async (query) => (await read(query, drawPosition(query, random()))) ?? null,
    keep,
    onCoalesced: () => {
      counts.coalesced += 1;
    },
  });

  return {
    find,
    lead: coalescer.lead,
    store: (query, response) => void keep(query, response),
    forget: (requestIds) => {
      for (const requestId of requestIds) erased.set(requestId, true);
      memory.forgetRequests(requestIds);
    },
    setListening: (isNow) => {
      isListening = isNow;
      trustedSince = clock.monotonic();
    },
    recheck: () => {
      trustedSince = clock.monotonic();
    },
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
