/** Counters, policies and limiters on a real database. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { windowShape } from '#core/rate-limit/mod.ts';
import { counterKey } from '#platform/limiter/counter-key.ts';
import {
  type CounterQuery,
  type CounterStore,
  type CounterStoreOptions,
  createCounterStore,
  type HoldRequest,
} from '#platform/limiter/counter-store.ts';
import type { LimiterOptions } from '#platform/limiter/limiter.ts';
import { type Counter, createLimiter, type Limiter, type Policy } from '#platform/limiter/mod.ts';
import type { Unit } from '#platform/limiter/types.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import type { TestDatabase } from '../../../support/postgres.ts';
import { databaseFor } from '../../../support/world.ts';

export type World = TestDatabase & {
  /** Creates a counter store, without a limiter. */
  store(options?: Partial<CounterStoreOptions>): CounterStore;
  /**
   * Creates a limiter with a pool of its own, as in a gateway, stopped after the test. Its store timeout is so long that
   * a busy machine does not degrade it; tests of outages set their own.
   */
  limiter(t: Test, options?: Partial<LimiterOptions> & { url?: string }): Limiter;
  connect(t: Test, url?: string): Sql;
};

/** The longest that a statement may take. */
const STORE_TIMEOUT_MS = 10_000;

const silent = createLogger({ role: 'test', level: 'silent' });

/** Creates a database. */
export async function limitsWorld(t: Test): Promise<World> {
  const database = await databaseFor(t);
  const connect = (t: Test, url = database.url) => {
    const sql = connectPostgres({
      url,
      max: 4,
      applicationName: 'limits',
      statementTimeoutMs: STORE_TIMEOUT_MS,
    });
    // A heartbeat may be under way.
    t.teardown(() => sql.end({ timeout: 2 }));
    return sql;
  };
  return {
    ...database,
    connect,
    store: (options = {}) =>
      createCounterStore(database.sql, { maxCounters: 100, reservationTtlMs: 60_000, ...options }),
    limiter(t, { url, ...options } = {}) {
      const sql = connect(t, url);
      const limiter = createLimiter({
        sql,
        clock: systemClock,
        log: silent,
        storeTimeoutMs: STORE_TIMEOUT_MS,
        ...options,
      });
      t.teardown(() => limiter.stop(2_000));
      return limiter;
    },
  };
}

/** Returns a counter of an organization of its own, unless one is given. */
export function makeCounter(given: Partial<Counter> = {}): Counter {
  return {
    organizationId: randomUUID(),
    apiKeyId: randomUUID(),
    unit: 'request',
    segment: '',
    value: '',
    ...given,
  };
}

export function makePolicy(quota: number, windowS = 60, unit: Unit = 'request'): Policy {
  return { text: `${quota};w=${windowS};u=${unit}`, unit, quota, windowS, segment: null };
}

export function queryOf(counter: Counter, policy: Policy): CounterQuery {
  return { counter, key: counterKey(counter), policy, shape: windowShape(policy.windowS) };
}

/** Returns a request for calls of these estimates, without a prefetch unless one is given. */
export function holdRequest(
  reservationId: string,
  estimatesNano: readonly number[],
  prefetch: Partial<HoldRequest> = {},
): HoldRequest {
  return { reservationId, estimatesNano, prefetchNano: 0, minPrefetchNano: 0, shares: 2, ...prefetch };
}
