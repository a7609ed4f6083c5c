/**
 * Admitting calls one credit at a time. A gateway leases credits from the counter: charged when they are granted, and
 * dead when their sub-bucket ends, so that what is spent was always counted, in the sub-bucket it is spent in. Inside
 * a lease a decision is a subtraction; without one, all who wait for the same counter share one round trip. The
 * lease's end is reckoned on the local monotonic clock from before the question was sent, so that a slow answer only
 * shortens it.
 */

import { aheadOf } from '#core/rate-limit/mod.ts';
import type { Clock } from '../process/clock.ts';
import { type Account, countOwn, decide, decideByShare, demand, learn, NEVER, standBack } from './account.ts';
import type { Availability } from './availability.ts';
import { joinLeases, type Lease, leaseOf, spendable, unspentOf } from './lease.ts';
import type { LimitStore, StoreAnswer } from './store.ts';
import { createTurns } from './turns.ts';
import type { Decision } from './types.ts';

export type AdmissionOptions = {
  clock: Clock;
  store: LimitStore;
  availability: Availability;
  /** Gateways that live. */
  gateways(): number;
  /** Whether more is leased than is asked for. */
  takesAhead: boolean;
  patienceMs: number;
  /** A decision was made by this process's share. */
  onDegraded(): void;
  /** This account holds credit, owes some, or has admitted what the store does not know of. */
  onHolding(account: Account): void;
  /** Tells the store what this account has admitted without it. */
  countMissed(account: Account): Promise<void>;
};

export type Admission = {
  admit(account: Account): Decision | Promise<Decision>;
};

type Ask = { resolve(decision: Decision): void; since: number };

/** Demand is measured over no less, so that a burst of two is not taken for a flood. */
const LEAST_MEASURE_MS = 50;

/** Makes the admission of calls. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { clock, store, availability } = options;
  const turns = createTurns(take);

  function admit(account: Account): Decision | Promise<Decision> {
    const now = clock.monotonic();
    account.asked += 1;
    account.askedLast = now;
    const { lease } = account;
    if (spendable(lease, now) > 0) {
      lease.credits -= 1;
      countOwn(account, now, 1);
      if (lease.credits <= account.lowWater && !availability.isAway()) {
        account.lowWater = NEVER;
        // Asking takes longer than deciding, and nobody waits for this answer.
        setImmediate(turns.ask, account);
      }
      return decide(account, true, lease.credits, now);
    }
    if (availability.isAway()) return share(account, now);
    if (now < account.refusedUntil) return decide(account, false, 0, now);
    return new Promise((resolve) => turns.ask(account, { resolve, since: now }));
  }

  function share(account: Account, now: number): Decision {
    const decision = decideByShare(account, options.gateways(), now, 1);
    options.onDegraded();
    if (decision.isAdmitted) {
      const bucket = Math.floor(now / account.shape.widthMs);
      account.uncounted.set(bucket, (account.uncounted.get(bucket) ?? 0) + 1);
      options.onHolding(account);
    }
    return decision;
  }

  /** One round trip for all who wait. Who comes while it is under way is served too, if enough was granted ahead. */
  async function take(account: Account, asks: Ask[]): Promise<void> {
    const asking = asks.splice(0);
    if (availability.isAway()) {
      for (const ask of asking) ask.resolve(share(account, clock.monotonic()));
      return;
    }
    // What was admitted by share while the store was slow is counted first: until then it would grant as much again.
    if (account.uncounted.size > 0) await availability.attempt(() => options.countMissed(account));
    const gateways = options.gateways();
    const asked = demand(account, clock.monotonic(), LEAST_MEASURE_MS);
    const ahead = options.takesAhead ? aheadOf(asked, gateways, account.shape.widthMs) : 0;
    const back = account.uncounted.size === 0 ? account.owed.shift() : undefined;
    const sentAt = clock.monotonic();
    const want = { need: asking.length, ahead, shares: 2 * gateways };
    const answer = await availability.attempt(
      () => store.take(account, want, back),
      (late) => owe(account, leaseOf(late, late.granted, 0)),
    );
    const now = clock.monotonic();
    if (answer === undefined) {
      for (const ask of asking) ask.resolve(share(account, now));
    } else if (answer.granted > 0 && now >= sentAt + answer.lifeMs) {
      // The answer came after its sub-bucket's end: they are first in the next turn, while they can wait.
      owe(account, leaseOf(answer, answer.granted, 0));
      asks.unshift(...shareOutLate(account, asking, now));
    } else {
      serve(account, asking, answer, sentAt + answer.lifeMs, now);
      spendOn(account, asks, now);
    }
  }

  /** Who has waited as long as anyone should is decided by this process's share; the others are returned. */
  function shareOutLate(account: Account, asking: readonly Ask[], now: number): Ask[] {
    const isLate = (ask: Ask) => now - ask.since > options.patienceMs;
    for (const ask of asking.filter(isLate)) ask.resolve(share(account, now));
    return asking.filter((ask) => !isLate(ask));
  }

  /** Grants who asked, in order; what is granted beyond is the lease. */
  function serve(
    account: Account,
    asking: readonly Ask[],
    answer: StoreAnswer,
    expiresAt: number,
    now: number,
  ) {
    learn(account, answer, now);
    standBack(account, now);
    const admitted = Math.min(answer.granted, asking.length);
    hold(account, leaseOf(answer, answer.granted - admitted, expiresAt), now);
    if (admitted > 0) countOwn(account, now, admitted);
    const { credits } = account.lease;
    asking.forEach((ask, place) => {
      const isAdmitted = place < admitted;
      ask.resolve(decide(account, isAdmitted, isAdmitted ? credits + admitted - place - 1 : 0, now));
    });
  }

  /** Serves from the lease while it lasts. */
  function spendOn(account: Account, asks: Ask[], now: number): void {
    const { lease } = account;
    const served = asks.splice(0, spendable(lease, now));
    if (served.length > 0) countOwn(account, now, served.length);
    for (const ask of served) {
      lease.credits -= 1;
      ask.resolve(decide(account, true, lease.credits, now));
    }
  }

  /** Adds to the lease if it lives, or begins a new one. */
  function hold(account: Account, granted: Lease, now: number): void {
    const { lease } = account;
    const isAlive = spendable(lease, now) > 0;
    if (!isAlive) owe(account, lease);
    if (granted.credits === 0 && isAlive) return;
    account.lease = isAlive ? joinLeases(lease, granted) : granted;
    account.lowWater = granted.credits === 0 ? NEVER : Math.floor(account.lease.credits / 2);
    options.onHolding(account);
  }

  /** What nobody can spend is to be given back. */
  function owe(account: Account, dead: Lease): void {
    if (dead.credits === 0) return;
    account.owed.push(unspentOf(account.counter.organizationId, dead));
    options.onHolding(account);
  }

  return { admit };
}
