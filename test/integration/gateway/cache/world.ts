/** A real database and caches on it, each as a gateway process has one. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { CacheQuery } from '../../../../gateway/cache/bucket.ts';
import type { ResponseCacheOptions } from '../../../../gateway/cache/cache.ts';
import {
  cacheQuery,
  createResponseCache,
  type ResponseCache,
  type StoredResponse,
} from '../../../../gateway/cache/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import type { TcpProxy } from '../../../support/tcp-proxy.ts';
import { createWorld, movableClock, silentLog } from '../../../support/world.ts';

export type CacheWorld = {
  /** Past the proxy, and past every cache. */
  sql: Sql;
  /** Between the caches and Postgres. */
  proxy: TcpProxy;
  /** Of all caches, moved on by `advance`. */
  clock: Clock;
  advance(ms: number): void;
  /** Another gateway's cache. */
  cache(options?: Partial<ResponseCacheOptions>): ResponseCache;
  /** An answer of this text, stored now by the caches' clock. */
  answer(text: string, given?: Partial<StoredResponse>): StoredResponse;
  /** Resolves once Postgres has `count` answers. */
  stored(count: number): Promise<void>;
};

const DAY_MS = 86_400_000;

/** What a call asks for; `content` tells one body from another. */
export function askFor(content: string, given: Partial<CacheQuery> = {}): CacheQuery {
  const organizationId = given.organizationId ?? '11111111-1111-4111-8111-111111111111';
  const wish = { maxAgeMs: DAY_MS, bucketSize: 1, seed: null, isReading: true, isCoalescing: false };
  const call = { path: '/v1/chat/completions', provider: 'OPENAI', model: 'gpt-4o-mini', headers: [] };
  const body = Buffer.from(JSON.stringify({ content }));
  return { ...cacheQuery(wish, { ...call, organizationId, body }), ...given };
}

export async function cacheWorld(t: Test): Promise<CacheWorld> {
  const world = await createWorld(t);
  const proxy = await world.proxy();
  const sql = world.connect({ url: proxy.url, max: 4 });
  const { clock, advance } = movableClock();
  return {
    sql: world.sql,
    proxy,
    clock,
    advance,
    cache: (options = {}) => {
      const cache = createResponseCache({
        sql,
        clock,
        log: silentLog,
        random: Math.random,
        maxMemoryBytes: 1024 * 1024,
        // A machine that is busy with other tests must not look like an outage.
        patienceMs: 10_000,
        ...options,
      });
      t.teardown(() => cache.stop(1_000));
      return cache;
    },
    answer: (text, given = {}) => ({
      requestId: randomUUID(),
      storedAtMs: clock.now(),
      status: 200,
      contentType: 'application/json',
      body: Buffer.from(text),
      ...given,
    }),
    stored: (count) =>
      waitFor(`${count} answers in Postgres`, async () => {
        const [row] = await world.sql`select count(*)::int as answers from assay.cached_answers`;
        return row?.answers === count;
      }),
  };
}
