/** A real database and caches on it, each as a gateway process has one. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
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
import { testDatabase } from '../../../support/postgres.ts';
import { type TcpProxy, tcpProxy } from '../../../support/tcp-proxy.ts';

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
  const wish = { maxAgeMs: DAY_MS, buckets: 1, seed: null, isReading: true, isCoalescing: false };
  const call = { path: '/v1/chat/completions', provider: 'OPENAI', model: 'gpt-4o-mini' };
  const body = Buffer.from(JSON.stringify({ content }));
  return { ...cacheQuery(wish, { ...call, organizationId, body }), ...given };
}

export async function cacheWorld(t: Test): Promise<CacheWorld> {
  const database = await testDatabase();
  const proxy = await tcpProxy(database.url);
  const sql = connectPostgres({ url: proxy.url, max: 4, applicationName: 'test', statementTimeoutMs: 5_000 });
  const caches: ResponseCache[] = [];
  let ahead = 0;
  const clock: Clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() + ahead };
  t.teardown(async () => {
    await Promise.all(caches.map((cache) => cache.stop(1_000)));
    await sql.end({ timeout: 1 });
    await proxy.close();
    await database.close();
  });
  return {
    sql: database.sql,
    proxy,
    clock,
    advance: (ms) => {
      ahead += ms;
    },
    cache: (options = {}) => {
      const log = createLogger({ role: 'test', level: 'silent' });
      const cache = createResponseCache({
        sql,
        clock,
        log,
        random: Math.random,
        maxMemoryBytes: 1024 * 1024,
        // A machine that is busy with other tests must not look like an outage.
        patienceMs: 10_000,
        ...options,
      });
      caches.push(cache);
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
        const [row] = await database.sql`select count(*)::int as answers from assay.cached_answers`;
        return row?.answers === count;
      }),
  };
}
