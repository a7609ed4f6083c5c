/**
 * The answers that callers asked to have cached: memory, bounded by bytes, in front of Postgres, which all gateways share.
 * The cache fails no call and rejects nothing: what it cannot do is a miss, or an answer not kept.
 */
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { createAskStore } from './ask-store.ts';
import {
  type Bucket,
  type CacheQuery,
  chooseAnswer,
  drawPlace,
  type StoredResponse,
  withAnswer,
  withBodiesOf,
  withUnwritten,
} from './bucket.ts';
import { createCoalescer } from './coalesce.ts';
import { createClaims } from './cross-process-lock.ts';
import type { Turn } from './leaders.ts';
import { createMemory } from './memory.ts';
import { keepAnswer, readAnswers } from './rows.ts';
import { startSweeping } from './sweep.ts';
import { createWriteBehind } from './write-behind.ts';

export type ResponseCacheOptions = {
  sql: Sql;
  clock: Clock;
  log: Logger;
  /** In [0, 1). */
  random(): number;
  maxMemoryBytes: number;
  /** Of answers on their way to Postgres. */
  maxQueuedBytes?: number;
  /** Of one organization's answers in Postgres; the oldest make room. */
  maxOrganizationBytes?: number;
  /** How long a call waits for the answer of another before it is made. */
  waitMs?: number;
  /** How long a call waits for Postgres. */
  patienceMs?: number;
};

/** Since the start. */
export type CacheCounts = {
  memoryHits: number;
  storeHits: number;
  misses: number;
  /** Calls that got the answer of another call that was under way. */
  coalesced: number;
  /** Answers that were to be kept and could not be written to Postgres. */
  dropped: number;
};

export type ResponseCache = {
  /** An answer that the caller may get, at once when memory has it; null: the provider is to be called. Never rejects. */
  find(ask: CacheQuery): StoredResponse | null | Promise<StoredResponse | null>;
  /**
   * After a miss, of a call that would rather wait than be made twice: the answer of an identical call, of any gateway,
   * or the lead, and with it the duty to call the provider and then `done`, which stores the answer. Resolves within twice
   * `waitMs`; rejects with the signal's reason alone, when that says that the call is not to be made any more.
   */
  lead(ask: CacheQuery, left?: AbortSignal): Promise<Turn>;
  /** Keeps a complete 2xx answer: at once in memory, soon in Postgres. One of more than 8 MiB is not kept. */
  store(ask: CacheQuery, answer: StoredResponse): void;
  readonly counts: Readonly<CacheCounts>;
  /** Writes what waits to be written, for `withinMs` at most. */
  stop(withinMs: number): Promise<void>;
};

const MIB = 1024 * 1024;
const LARGEST_ANSWER_BYTES = 8 * MIB;
const DEFAULT_QUEUED_BYTES = 64 * MIB;
const DEFAULT_ORGANIZATION_BYTES = 1024 * MIB;
/** Longer than nearly every answer takes; who waits for longer is better off with a call of its own. */
const DEFAULT_WAIT_MS = 120_000;
/** Longer than a look-up under load, short beside a model's answer. */
const DEFAULT_PATIENCE_MS = 250;
/** How long memory is believed without asking what other gateways have put in an answer's place. */
const BELIEVED_MS = 60_000;
/** What a queued answer takes beside its body. */
const QUEUED_BYTES = 1_000;

type Kept = { ask: CacheQuery; answer: StoredResponse };

/** Makes the cache of this process; it begins to remove what has expired. */
export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { sql, clock, log, random, maxMemoryBytes } = options;
  const { maxOrganizationBytes = DEFAULT_ORGANIZATION_BYTES, waitMs = DEFAULT_WAIT_MS } = options;
  const counts = { memoryHits: 0, storeHits: 0, misses: 0, coalesced: 0 };
  const memory = createMemory(maxMemoryBytes);
  const askStore = createAskStore({ clock, log, patienceMs: options.patienceMs ?? DEFAULT_PATIENCE_MS });
  const claims = createClaims({ sql, askStore, clock, longestMs: waitMs });
  const sweeping = startSweeping({ sql, log, random });
  const writes = createWriteBehind<Kept>({
    write: ({ ask, answer }) => keepAnswer(sql, ask, answer, maxOrganizationBytes),
    bytesOf: ({ answer }) => answer.body.length + QUEUED_BYTES,
    maxBytes: options.maxQueuedBytes ?? DEFAULT_QUEUED_BYTES,
    log,
  });
  /** In memory, and not in Postgres yet. */
  const unwritten = new Set<StoredResponse>();
  const lookUps = new Map<string, Promise<StoredResponse | null | undefined>>();

  function remembered(
    ask: CacheQuery,
    place: number,
  ): { answer: StoredResponse | null; isBelieved: boolean } {
    const known = memory.get(ask.key);
    if (known === undefined) return { answer: null, isBelieved: false };
    const answer = chooseAnswer(known.bucket, ask, place, clock.now())?.answer ?? null;
    return { answer, isBelieved: clock.monotonic() - known.knownAt < BELIEVED_MS };
  }

  /** What Postgres has; undefined when it does not say. */
  async function read(ask: CacheQuery, place: number): Promise<StoredResponse | null | undefined> {
    const before = memory.get(ask.key);
    const nowMs = clock.now();
    const knownAt = clock.monotonic();
    const bucket = await askStore(() => readAnswers(sql, ask, { place, nowMs }));
    if (bucket === 'damaged') {
      log.warn({ organizationId: ask.organizationId, key: ask.key }, 'a cached answer is damaged');
      return null;
    }
    if (bucket === undefined) return undefined;
    const inMemory = before?.bucket ?? [];
    const known = withUnwritten(withBodiesOf(bucket, inMemory), inMemory, unwritten, ask.buckets);
    // Unless an answer came in between, which these rows may lack.
    if (memory.get(ask.key) === before) memory.set(ask.key, { bucket: known, knownAt });
    const choose = (from: Bucket) => chooseAnswer(from, ask, place, nowMs)?.answer ?? null;
    return choose(known) ?? choose(bucket);
  }

  /** One look-up for all who ask the same at the same time. They get the same answer, also of several. */
  function lookUp(ask: CacheQuery, place: number): Promise<StoredResponse | null | undefined> {
    const id = `${ask.key} ${ask.buckets} ${ask.maxAgeMs}`;
    const running = lookUps.get(id);
    if (running !== undefined) return running;
    const started = read(ask, place).finally(() => lookUps.delete(id));
    lookUps.set(id, started);
    return started;
  }

  function find(ask: CacheQuery): StoredResponse | null | Promise<StoredResponse | null> {
    const place = drawPlace(ask, random());
    const { answer: known, isBelieved } = remembered(ask, place);
    if (known === null || !isBelieved) return findStored(ask, place, known);
    counts.memoryHits += 1;
    return known;
  }

  async function findStored(
    ask: CacheQuery,
    place: number,
    known: StoredResponse | null,
  ): Promise<StoredResponse | null> {
    const found = await lookUp(ask, place);
    const answer = found === undefined ? known : found;
    if (answer === null) counts.misses += 1;
    else counts.storeHits += 1;
    return answer;
  }

  /** Resolves when Postgres has the answer, or will not get it. */
  async function keep(ask: CacheQuery, given: StoredResponse): Promise<void> {
    const isSuccess = given.status >= 200 && given.status < 300;
    if (!isSuccess || given.body.length > LARGEST_ANSWER_BYTES || ask.maxAgeMs <= 0) return;
    // Of its own: a body may be a slice of a buffer many times its size.
    const body = Buffer.allocUnsafeSlow(given.body.length);
    given.body.copy(body);
    const answer = { ...given, body };
    const { requestId, storedAtMs } = answer;
    const added = { requestId, storedAtMs, expiresAtMs: storedAtMs + ask.maxAgeMs, answer };
    const bucket = withAnswer(memory.get(ask.key)?.bucket ?? [], added, ask.buckets);
    memory.set(ask.key, { bucket, knownAt: clock.monotonic() });
    unwritten.add(answer);
    await writes.put({ ask, answer });
    unwritten.delete(answer);
  }

  const coalescer = createCoalescer({
    clock,
    waitMs,
    claims,
    remembered: (ask) => remembered(ask, drawPlace(ask, random())).answer,
    read: async (ask) => (await read(ask, drawPlace(ask, random()))) ?? null,
    keep,
    onCoalesced: () => {
      counts.coalesced += 1;
    },
  });

  return {
    find,
    lead: coalescer.lead,
    store: (ask, answer) => void keep(ask, answer),
    get counts() {
      return { ...counts, dropped: writes.dropped };
    },
    stop: async (withinMs) => {
      sweeping.stop();
      await writes.stop(withinMs);
      await claims.stop();
    },
  };
}
