/** Looks responses up: in memory first, then in Postgres, whose rows memory takes over. */
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
  withUnwritten,
} from './bucket.ts';
import type { KnownErasures } from './known-erasures.ts';
import type { Memory } from './memory.ts';
import { readBucket } from './rows.ts';
import type { TryStore } from './try-store.ts';

/** The age from which a bucket in memory is checked in Postgres for newer responses of other gateways. */
const MEMORY_TRUSTED_MS = 60_000;

export type LookUpOptions = {
  sql: Sql;
  tryStore: TryStore;
  clock: Clock;
  log: Logger;
  /** In [0, 1). */
  random(): number;
  memory: Memory;
  /** The responses that are in memory, and not in Postgres yet. */
  unwritten: ReadonlySet<StoredResponse>;
  erasures: Pick<KnownErasures, 'has' | 'isComplete'>;
  /** Counts a call of `find`. */
  count(as: 'memoryHits' | 'storeHits' | 'misses'): void;
};

export type LookUp = {
  /** Returns a stored response, at once when memory has it; null: none. Never rejects. */
  find(query: CacheQuery): StoredResponse | null | Promise<StoredResponse | null>;
  /** Returns the response in memory, unless it has to be checked in Postgres. */
  remembered(query: CacheQuery): StoredResponse | null;
  /** Reads a response from Postgres; null: none, or Postgres did not respond. */
  read(query: CacheQuery): Promise<StoredResponse | null>;
};

export function createLookUp(options: LookUpOptions): LookUp {
  const { sql, tryStore, clock, log, random, memory, unwritten, erasures, count } = options;
  const underWay = new Map<string, Promise<StoredResponse | null | undefined>>();

  function inMemory(
    query: CacheQuery,
    position: number,
  ): { response: StoredResponse | null; isFresh: boolean } {
    const known = memory.get(query.key);
    if (known === undefined) return { response: null, isFresh: false };
    const response = chooseEntry(known.bucket, query, position, clock.now())?.response ?? null;
    const isYoung = clock.monotonic() - known.knownAt < MEMORY_TRUSTED_MS;
    return { response, isFresh: isYoung && erasures.isComplete(known.knownAt) };
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
    const bucket = stored.filter(({ requestId }) => !erasures.has(requestId));
    const remembered = before?.bucket ?? [];
    const known = withUnwritten(withBodiesOf(bucket, remembered), remembered, unwritten, query.bucketSize);
    // Unless a response was stored in between, which these rows may lack.
    if (memory.get(query.key) === before) memory.set(query.key, { bucket: known, knownAt });
    const choose = (from: Bucket) => chooseEntry(from, query, position, nowMs)?.response ?? null;
    return choose(known) ?? choose(bucket);
  }

  /** Shares one read among concurrent equal queries. All get the same response, even when the bucket holds several. */
  function readShared(query: CacheQuery, position: number): Promise<StoredResponse | null | undefined> {
    const id = `${query.key} ${query.bucketSize} ${query.maxAgeMs}`;
    const running = underWay.get(id);
    if (running !== undefined) return running;
    const started = read(query, position).finally(() => underWay.delete(id));
    underWay.set(id, started);
    return started;
  }

  async function findStored(
    query: CacheQuery,
    position: number,
    known: StoredResponse | null,
  ): Promise<StoredResponse | null> {
    const found = await readShared(query, position);
    const response = found === undefined ? known : found;
    count(response === null ? 'misses' : 'storeHits');
    return response;
  }

  return {
    find(query) {
      const position = drawPosition(query, random());
      const { response: known, isFresh } = inMemory(query, position);
      if (known === null || !isFresh) return findStored(query, position, known);
      count('memoryHits');
      return known;
    },
    remembered(query) {
      const { response, isFresh } = inMemory(query, drawPosition(query, random()));
      return isFresh ? response : null;
    },
    read: async (query) => (await read(query, drawPosition(query, random()))) ?? null,
  };
}
