/**
 * Locks on cache keys: one process calls the provider on behalf of all. A lock is a row in Postgres that expires soon; its
 * holder renews it while the call is under way.
 */
import { randomUUID } from 'node:crypto';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { CacheQuery } from './bucket.ts';
import type { TryStore } from './try-store.ts';

/** The right to call the provider on behalf of all processes. */
export type Lock = {
  /** To be called once. Releases the lock, unless another call of this process shares it. Never rejects. */
  release(): Promise<void>;
};

export type Locks = {
  /**
   * Takes the lock of a key. Null: another process holds it. When Postgres does not respond, the lock counts as taken.
   * Never rejects.
   */
  take(query: CacheQuery): Promise<Lock | null>;
  /** Releases all locks of this process. */
  stop(): Promise<void>;
};

export type LocksOptions = {
  sql: Sql;
  tryStore: TryStore;
  clock: Clock;
  /** For how long a lock is renewed. Other processes wait no longer for it. */
  longestMs: number;
};

/** The time for which a lock outlives a process that has died, and others wait for it. */
const LEASE_SECONDS = 10;
/** Renews a lock twice within its lease, with time to spare. */
const RENEW_EVERY_MS = 3_000;

/** A lock that calls of this process share. */
type HeldLock = {
  takenAt: number;
  calls: number;
  /** False: another process holds it. */
  isOurs: Promise<boolean>;
  /** Settles with the statement, which may take longer than calls wait for it; null: Postgres was not asked. */
  settled: Promise<unknown> | null;
};

const lockKey = (query: CacheQuery) => Buffer.from(query.key, 'hex');

/** Makes the locks of this process. */
export function createLocks({ sql, tryStore, clock, longestMs }: LocksOptions): Locks {
  const holder = randomUUID();
  const held = new Map<string, HeldLock>();
  const renewing = setInterval(renew, RENEW_EVERY_MS);
  renewing.unref();

  function forget(key: string, lock: HeldLock): void {
    if (held.get(key) === lock) held.delete(key);
  }

  function renew(): void {
    const now = clock.monotonic();
    for (const [key, lock] of held) if (now - lock.takenAt > longestMs) forget(key, lock);
    if (held.size === 0) return;
    void tryStore(
      () => sql`
        update assay.answer_claims set expires_at = now() + make_interval(secs => ${LEASE_SECONDS})
        where holder = ${holder} and encode(answer_key, 'hex') = any(${[...held.keys()]})`,
    );
  }

  const insertLock = (query: CacheQuery) => sql`
    insert into assay.answer_claims as held (organization_id, answer_key, holder, expires_at)
    values (${query.organizationId}, ${lockKey(query)}, ${holder}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (organization_id, answer_key) do update
      set holder = excluded.holder, expires_at = excluded.expires_at
      where held.expires_at < now() or held.holder = excluded.holder
    returning 1`;

  function take(query: CacheQuery): HeldLock {
    let settled: Promise<unknown> | null = null;
    const inserted = tryStore(() => {
      const statement = insertLock(query);
      settled = statement.catch(() => {});
      return statement;
    });
    const isOurs = inserted.then((rows) => rows?.length !== 0);
    return { takenAt: clock.monotonic(), calls: 0, isOurs, settled };
  }

  async function release(query: CacheQuery, lock: HeldLock): Promise<void> {
    lock.calls -= 1;
    if (lock.calls > 0) return;
    forget(query.key, lock);
    if (lock.settled === null) return;
    await lock.settled;
    // A later call has taken the lock again: that call releases it.
    if (held.has(query.key)) return;
    await tryStore(
      () => sql`
        delete from assay.answer_claims
        where organization_id = ${query.organizationId} and answer_key = ${lockKey(query)} and holder = ${holder}`,
    );
  }

  return {
    take: async (query) => {
      const shared = held.get(query.key) ?? take(query);
      held.set(query.key, shared);
      shared.calls += 1;
      if (await shared.isOurs) return { release: () => release(query, shared) };
      forget(query.key, shared);
      return null;
    },
    stop: async () => {
      clearInterval(renewing);
      held.clear();
      await tryStore(() => sql`delete from assay.answer_claims where holder = ${holder}`);
    },
  };
}
