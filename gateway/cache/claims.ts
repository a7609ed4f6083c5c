/**
 * Which process asks a provider on behalf of all: a row in Postgres that expires soon, and that its holder renews as long
 * as it lives and its call is under way.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import type { Sql } from '#core/postgres/mod.ts';
import type { Breaker } from './breaker.ts';
import type { CacheAsk } from './bucket.ts';

export type Claims = {
  /**
   * Whether this process may call: it has the claim, or Postgres cannot say. Each true is to be followed by a `release`.
   * False: another process holds it.
   */
  take(ask: CacheAsk): Promise<boolean>;
  /** Gives the claim back, unless another call of this process has taken it as well. Never rejects. */
  release(ask: CacheAsk): Promise<void>;
  /** Gives all back. */
  stop(): Promise<void>;
};

export type ClaimsOptions = {
  sql: Sql;
  breaker: Breaker;
  clock: Clock;
  /** A claim is renewed for this long; whoever waits for it waits no longer. */
  longestMs: number;
};

/** How long others wait for a process that has died. */
const LEASE_SECONDS = 10;
/** Twice within a lease, and time to spare. */
const RENEW_EVERY_MS = 3_000;

type Held = { calls: number; takenAt: number };

const claimKey = (ask: CacheAsk) => Buffer.from(ask.key, 'hex');

/** Makes the claims of this process. */
export function createClaims({ sql, breaker, clock, longestMs }: ClaimsOptions): Claims {
  const holder = randomUUID();
  const held = new Map<string, Held>();
  const renewing = setInterval(renew, RENEW_EVERY_MS);
  renewing.unref();

  function renew(): void {
    const now = clock.monotonic();
    for (const [key, { takenAt }] of held) if (now - takenAt > longestMs) held.delete(key);
    if (held.size === 0) return;
    void breaker(
      () => sql`
        update assay.answer_claims set expires_at = now() + make_interval(secs => ${LEASE_SECONDS})
        where holder = ${holder} and encode(answer_key, 'hex') = any(${[...held.keys()]})`,
    );
  }

  const insertClaim = (ask: CacheAsk) => sql`
    insert into assay.answer_claims as claim (organization_id, answer_key, holder, expires_at)
    values (${ask.organizationId}, ${claimKey(ask)}, ${holder}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (organization_id, answer_key) do update
      set holder = excluded.holder, expires_at = excluded.expires_at
      where claim.expires_at < now() or claim.holder = excluded.holder
    returning 1`;

  return {
    take: async (ask) => {
      const known = held.get(ask.key);
      if (known !== undefined) {
        known.calls += 1;
        return true;
      }
      const claimed = await breaker(() => insertClaim(ask));
      if (claimed?.length === 1) held.set(ask.key, { calls: 1, takenAt: clock.monotonic() });
      return claimed?.length !== 0;
    },
    release: async (ask) => {
      const known = held.get(ask.key);
      if (known === undefined) return;
      known.calls -= 1;
      if (known.calls > 0) return;
      held.delete(ask.key);
      await breaker(
        () => sql`
          delete from assay.answer_claims
          where organization_id = ${ask.organizationId} and answer_key = ${claimKey(ask)} and holder = ${holder}`,
      );
    },
    stop: async () => {
      clearInterval(renewing);
      held.clear();
      await breaker(() => sql`delete from assay.answer_claims where holder = ${holder}`);
    },
  };
}
