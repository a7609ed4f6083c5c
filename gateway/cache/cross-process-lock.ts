/**
 * Which process asks a provider on behalf of all: a row in Postgres that expires soon, and that its holder renews as long
 * as it lives and its call is under way.
 */
import { randomUUID } from 'node:crypto';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { AskStore } from './ask-store.ts';
import type { CacheQuery } from './bucket.ts';

/** The right to call the provider on behalf of all processes. */
export type Claim = {
  /** To be called once. Gives the claim back, unless another call of this process has it as well. Never rejects. */
  release(): Promise<void>;
};

export type Claims = {
  /** Null: another process has it. One that Postgres cannot say anything of is taken for ours. Never rejects. */
  take(ask: CacheQuery): Promise<Claim | null>;
  /** Gives all back. */
  stop(): Promise<void>;
};

export type ClaimsOptions = {
  sql: Sql;
  askStore: AskStore;
  clock: Clock;
  /** A claim is renewed for this long; whoever waits for it waits no longer. */
  longestMs: number;
};

/** How long others wait for a process that has died. */
const LEASE_SECONDS = 10;
/** Twice within a lease, and time to spare. */
const RENEW_EVERY_MS = 3_000;

/** What calls of this process share. */
type Held = {
  takenAt: number;
  calls: number;
  /** False: another process has it. */
  isOurs: Promise<boolean>;
  /** Settles with the statement, whose answer may come after all patience; null: Postgres was not asked. */
  inserted: Promise<unknown> | null;
};

const claimKey = (ask: CacheQuery) => Buffer.from(ask.key, 'hex');

/** Makes the claims of this process. */
export function createClaims({ sql, askStore, clock, longestMs }: ClaimsOptions): Claims {
  const holder = randomUUID();
  const held = new Map<string, Held>();
  const renewing = setInterval(renew, RENEW_EVERY_MS);
  renewing.unref();

  function forget(key: string, claim: Held): void {
    if (held.get(key) === claim) held.delete(key);
  }

  function renew(): void {
    const now = clock.monotonic();
    for (const [key, claim] of held) if (now - claim.takenAt > longestMs) forget(key, claim);
    if (held.size === 0) return;
    void askStore(
      () => sql`
        update assay.answer_claims set expires_at = now() + make_interval(secs => ${LEASE_SECONDS})
        where holder = ${holder} and encode(answer_key, 'hex') = any(${[...held.keys()]})`,
    );
  }

  const insertClaim = (ask: CacheQuery) => sql`
    insert into assay.answer_claims as claim (organization_id, answer_key, holder, expires_at)
    values (${ask.organizationId}, ${claimKey(ask)}, ${holder}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (organization_id, answer_key) do update
      set holder = excluded.holder, expires_at = excluded.expires_at
      where claim.expires_at < now() or claim.holder = excluded.holder
    returning 1`;

  function claim(ask: CacheQuery): Held {
    let inserted: Promise<unknown> | null = null;
    const answer = askStore(() => {
      const statement = insertClaim(ask);
      inserted = statement.catch(() => {});
      return statement;
    });
    const isOurs = answer.then((rows) => rows?.length !== 0);
    return { takenAt: clock.monotonic(), calls: 0, isOurs, inserted };
  }

  async function giveBack(ask: CacheQuery, given: Held): Promise<void> {
    given.calls -= 1;
    if (given.calls > 0) return;
    forget(ask.key, given);
    if (given.inserted === null) return;
    await given.inserted;
    // Taken again meanwhile: it is that call's to give back.
    if (held.has(ask.key)) return;
    await askStore(
      () => sql`
        delete from assay.answer_claims
        where organization_id = ${ask.organizationId} and answer_key = ${claimKey(ask)} and holder = ${holder}`,
    );
  }

  return {
    take: async (ask) => {
      const shared = held.get(ask.key) ?? claim(ask);
      held.set(ask.key, shared);
      shared.calls += 1;
      if (await shared.isOurs) return { release: () => giveBack(ask, shared) };
      forget(ask.key, shared);
      return null;
    },
    stop: async () => {
      clearInterval(renewing);
      held.clear();
      await askStore(() => sql`delete from assay.answer_claims where holder = ${holder}`);
    },
  };
}
