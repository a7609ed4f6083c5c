/**
 * Admitting calls one credit at a time. A gateway leases credits from the counter: charged when they are granted, and
 * dead when their sub-bucket ends, so that what is spent was always counted, in the sub-bucket it is spent in. Inside
 * a lease a decision is a subtraction; without one, all who wait for the same counter share one round trip. The
 * lease's end is reckoned on the local monotonic clock from before the question was sent, so that a slow answer only
 * shortens it.
 */

import { prefetchSize } from '#core/rate-limit/mod.ts';
import type { Clock } from '../process/clock.ts';
import {
  type Account,
  applySnapshot,
  backOff,
  countLocally,
  decide,
  decideDegraded,
  measureDemand,
  NO_REFILL,
} from './account.ts';
import type { Availability } from './availability.ts';
import type { CounterSnapshot, CounterStore } from './counter-store.ts';
import { type Lease, leaseFrom, mergeLeases, spendableCredits, toUnusedCredits } from './lease.ts';
import { createRoundTrips } from './round-trips.ts';
import type { Decision } from './types.ts';

export type AdmissionOptions = {
  clock: Clock;
  store: CounterStore;
  availability: Availability;
  /** Gateways that live. */
  gateways(): number;
  /** Whether more is leased than is asked for. */
  prefetches: boolean;
  timeoutMs: number;
  /** A decision was made by this process's share. */
  onDegraded(): void;
  /** This account holds credit, owes some, or has admitted what the store does not know of. */
  track(account: Account): void;
  /** Tells the store what this account has admitted without it. */
  reportDegraded(account: Account): Promise<void>;
};

export type Admission = {
  admit(account: Account): Decision | Promise<Decision>;
};

type PendingCall = { resolve(decision: Decision): void; since: number };

/** Demand is measured over no less, so that a burst of two is not taken for a flood. */
const LEAST_MEASURE_MS = 50;

/** Makes the admission of calls. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { clock, store, availability } = options;
  const turns = createRoundTrips(take);

  function admit(account: Account): Decision | Promise<Decision> {
    const now = clock.monotonic();
    account.callsSinceMeasured += 1;
    account.lastCallAt = now;
    const { lease } = account;
    if (spendableCredits(lease, now) > 0) {
      lease.credits -= 1;
      countLocally(account, now, 1);
      if (lease.credits <= account.refillThreshold && !availability.isUnavailable()) {
        account.refillThreshold = NO_REFILL;
        // Asking takes longer than deciding, and nobody waits for this answer.
        setImmediate(turns.enqueue, account);
      }
      return decide(account, true, lease.credits, now);
    }
    if (availability.isUnavailable()) return share(account, now);
    if (now < account.refusedUntil) return decide(account, false, 0, now);
    return new Promise((resolve) => turns.enqueue(account, { resolve, since: now }));
  }

  function share(account: Account, now: number): Decision {
    const decision = decideDegraded(account, options.gateways(), now, 1);
    options.onDegraded();
    if (decision.isAdmitted) {
      const bucket = Math.floor(now / account.shape.widthMs);
      account.unreported.set(bucket, (account.unreported.get(bucket) ?? 0) + 1);
      options.track(account);
    }
    return decision;
  }

  /** One round trip for all who wait. Who comes while it is under way is served too, if enough was granted ahead. */
  async function take(account: Account, asks: PendingCall[]): Promise<void> {
    const asking = asks.splice(0);
    if (availability.isUnavailable()) {
      for (const ask of asking) ask.resolve(share(account, clock.monotonic()));
      return;
    }
    // What was admitted by share while the store was slow is counted first: until then it would grant as much again.
    if (account.unreported.size > 0) await availability.run(() => options.reportDegraded(account));
    const gateways = options.gateways();
    const asked = measureDemand(account, clock.monotonic(), LEAST_MEASURE_MS);
    const ahead = options.prefetches ? prefetchSize(asked, gateways, account.shape.widthMs) : 0;
    const back = account.unreported.size === 0 ? account.creditsToReturn.shift() : undefined;
    const sentAt = clock.monotonic();
    const want = { need: asking.length, ahead, shares: 2 * gateways };
    const answer = await availability.run(
      () => store.leaseCredits(account, want, back),
      (late) => owe(account, leaseFrom(late, late.granted, 0)),
    );
    const now = clock.monotonic();
    if (answer === undefined) {
      for (const ask of asking) ask.resolve(share(account, now));
    } else if (answer.granted > 0 && now >= sentAt + answer.spendableMs) {
      // The answer came after its sub-bucket's end: they are first in the next turn, while they can wait.
      owe(account, leaseFrom(answer, answer.granted, 0));
      asks.unshift(...shareOutLate(account, asking, now));
    } else {
      serve(account, asking, answer, sentAt + answer.spendableMs, now);
      spendOn(account, asks, now);
    }
  }

  /** Who has waited as long as anyone should is decided by this process's share; the others are returned. */
  function shareOutLate(account: Account, asking: readonly PendingCall[], now: number): PendingCall[] {
    const isLate = (ask: PendingCall) => now - ask.since > options.timeoutMs;
    for (const ask of asking.filter(isLate)) ask.resolve(share(account, now));
    return asking.filter((ask) => !isLate(ask));
  }

  /** Grants who asked, in order; what is granted beyond is the lease. */
  function serve(
    account: Account,
    asking: readonly PendingCall[],
    answer: CounterSnapshot,
    expiresAt: number,
    now: number,
  ) {
    applySnapshot(account, answer, now);
    backOff(account, now);
    const admitted = Math.min(answer.granted, asking.length);
    hold(account, leaseFrom(answer, answer.granted - admitted, expiresAt), now);
    if (admitted > 0) countLocally(account, now, admitted);
    const { credits } = account.lease;
    asking.forEach((ask, place) => {
      const isAdmitted = place < admitted;
      ask.resolve(decide(account, isAdmitted, isAdmitted ? credits + admitted - place - 1 : 0, now));
    });
  }

  /** Serves from the lease while it lasts. */
  function spendOn(account: Account, asks: PendingCall[], now: number): void {
    const { lease } = account;
    const served = asks.splice(0, spendableCredits(lease, now));
    if (served.length > 0) countLocally(account, now, served.length);
    for (const ask of served) {
      lease.credits -= 1;
      ask.resolve(decide(account, true, lease.credits, now));
    }
  }

  /** Adds to the lease if it lives, or begins a new one. */
  function hold(account: Account, granted: Lease, now: number): void {
    const { lease } = account;
    const isAlive = spendableCredits(lease, now) > 0;
    if (!isAlive) owe(account, lease);
    if (granted.credits === 0 && isAlive) return;
    account.lease = isAlive ? mergeLeases(lease, granted) : granted;
    account.refillThreshold = granted.credits === 0 ? NO_REFILL : Math.floor(account.lease.credits / 2);
    options.track(account);
  }

  /** What nobody can spend is to be given back. */
  function owe(account: Account, dead: Lease): void {
    if (dead.credits === 0) return;
    account.creditsToReturn.push(toUnusedCredits(account.counter.organizationId, dead));
    options.track(account);
  }

  return { admit };
}
