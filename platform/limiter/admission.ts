/**
 * Admission of calls under a quota of calls (or logs), one credit each. A gateway leases credits from the counter; they
 * are charged when granted and dead when their sub-bucket ends, so whatever is spent was already counted, in the
 * sub-bucket in which it is spent. Inside a lease a decision is a subtraction; without one, all calls that wait for the
 * same counter share a round trip. The end of a lease is reckoned on the local monotonic clock from before the request
 * was sent, so that a slow response only shortens it.
 */

import { correct, prefetchSize } from '#core/rate-limit/mod.ts';
import type { Clock } from '../process/clock.ts';
import { type Account, applySnapshot, backOff, countLocally, measureDemand, NO_REFILL } from './account.ts';
import { createAccountLeases } from './account-leases.ts';
import type { CounterAvailability } from './availability.ts';
import type { CounterSnapshot, CounterStore } from './counter-store.ts';
import { decide, decideDegraded } from './decide.ts';
import { type Lease, leaseFrom, spendableCredits } from './lease.ts';
import { createRoundTrips } from './round-trips.ts';
import type { Decision } from './types.ts';

type AdmissionOptions = {
  clock: Clock;
  store: Pick<CounterStore, 'leaseCredits'>;
  availability: Pick<CounterAvailability, 'isUnavailable' | 'run'>;
  /** Returns the number of live gateways. */
  gateways(): number;
  /** True when this process leases more than it needs at once. */
  prefetches: boolean;
  /** Longest wait of a call for the store. */
  timeoutMs: number;
  /** Called at each degraded decision. */
  onDegraded(): void;
  /** Called when an account gets something that has to be returned or reported later. */
  track(account: Account): void;
  /** Reports to the counter what the account admitted while degraded. */
  reportDegraded(account: Account): Promise<void>;
};

/** A decision, with what an admitted call was charged to: a lease, or null, this gateway's share while degraded. */
type Admitted = Decision & { source?: Lease | null };

export type Admission = {
  admit(account: Account): Admitted | Promise<Admitted>;
  /** Takes an admitted call back, right after its admission, because it is not made. */
  giveBack(account: Account, admitted: Admitted): void;
  /** Refills no lease any more, and resolves when the accounts have all that was on its way. */
  end(): Promise<void>;
};

type PendingCall = { resolve(decision: Admitted): void; since: number };

/** Shortest period over which demand is measured, so that a burst of two does not pass for a flood. */
const MIN_DEMAND_PERIOD_MS = 50;

/** Creates the admission of calls. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { clock, store, availability } = options;
  const roundTrips = createRoundTrips(fetchLease);
  const leases = createAccountLeases(options.track);

  function admit(account: Account): Admitted | Promise<Admitted> {
    const now = clock.monotonic();
    account.callsSinceMeasured += 1;
    account.lastCallAt = now;
    const { lease } = account;
    if (spendableCredits(lease, now) > 0) {
      lease.credits -= 1;
      countLocally(account, now, 1);
      if (lease.credits <= account.refillThreshold && !availability.isUnavailable()) {
        account.refillThreshold = NO_REFILL;
        // Deferred: a request takes longer than a decision, and this call does not need the refill.
        setImmediate(roundTrips.enqueue, account);
      }
      return admitted(account, lease, lease.credits, now);
    }
    if (availability.isUnavailable()) return admitDegraded(account, now);
    if (now < account.refusedUntil) return decide(account, false, 0, now);
    return new Promise((resolve) => roundTrips.enqueue(account, { resolve, since: now }));
  }

  function admitDegraded(account: Account, now: number): Admitted {
    const decision: Admitted = decideDegraded(account, options.gateways(), now, 1);
    options.onDegraded();
    if (decision.isAdmitted) {
      decision.source = null;
      const subBucket = Math.floor(now / account.shape.widthMs);
      account.unreported.set(subBucket, (account.unreported.get(subBucket) ?? 0) + 1);
      options.track(account);
    }
    return decision;
  }

  /** Leases credits for all queued calls. Calls that arrive meanwhile are served from the prefetch, if it suffices. */
  async function fetchLease(account: Account, queue: PendingCall[]): Promise<void> {
    const calls = queue.splice(0);
    if (availability.isUnavailable()) {
      for (const call of calls) call.resolve(admitDegraded(account, clock.monotonic()));
      return;
    }
    // Degraded admissions are reported first: until then the counter would grant as much again.
    if (account.unreported.size > 0) await availability.run(() => options.reportDegraded(account));
    const gateways = options.gateways();
    const callsPerSecond = measureDemand(account, clock.monotonic(), MIN_DEMAND_PERIOD_MS);
    const prefetch = options.prefetches ? prefetchSize(callsPerSecond, gateways, account.shape.widthMs) : 0;
    const toReturn = account.unreported.size === 0 ? account.creditsToReturn.shift() : undefined;
    const sentAt = clock.monotonic();
    const request = { needed: calls.length, prefetch, shares: 2 * gateways };
    const grant = await availability.run(
      () => store.leaseCredits(account, request, toReturn),
      (late) => leases.returnLater(account, leaseFrom(late, late.granted, 0)),
    );
    const now = clock.monotonic();
    if (grant === undefined) {
      for (const call of calls) call.resolve(admitDegraded(account, now));
    } else if (grant.granted > 0 && now >= sentAt + grant.spendableMs) {
      // The credits expired on the way. The calls are first in the next round trip, unless they have waited too long.
      leases.returnLater(account, leaseFrom(grant, grant.granted, 0));
      queue.unshift(...decideExpiredDegraded(account, calls, now));
    } else {
      serveFromGrant(account, calls, grant, sentAt + grant.spendableMs, now);
      serveFromLease(account, queue, now);
    }
  }

  /** Decides calls that have waited for the timeout as degraded. Returns the others. */
  function decideExpiredDegraded(
    account: Account,
    calls: readonly PendingCall[],
    now: number,
  ): PendingCall[] {
    const isExpired = (call: PendingCall) => now - call.since > options.timeoutMs;
    for (const call of calls.filter(isExpired)) call.resolve(admitDegraded(account, now));
    return calls.filter((call) => !isExpired(call));
  }

  /** Admits as many calls as were granted credits, in order. Credits beyond them become the lease. */
  function serveFromGrant(
    account: Account,
    calls: readonly PendingCall[],
    grant: CounterSnapshot,
    expiresAt: number,
    now: number,
  ) {
    applySnapshot(account, grant, now);
    backOff(account, now);
    const served = Math.min(grant.granted, calls.length);
    const granted = leaseFrom(grant, grant.granted - served, expiresAt);
    leases.add(account, granted, now);
    if (served > 0) countLocally(account, now, served);
    const { credits } = account.lease;
    calls.forEach((call, place) => {
      if (place >= served) call.resolve(decide(account, false, 0, now));
      else call.resolve(admitted(account, granted, credits + served - place - 1, now));
    });
  }

  /** Admits queued calls as long as the lease has credits. */
  function serveFromLease(account: Account, queue: PendingCall[], now: number): void {
    const { lease } = account;
    const served = queue.splice(0, spendableCredits(lease, now));
    if (served.length > 0) countLocally(account, now, served.length);
    for (const call of served) {
      lease.credits -= 1;
      call.resolve(admitted(account, lease, lease.credits, now));
    }
  }

  function giveBack(account: Account, { source }: Admitted): void {
    if (source === undefined) return;
    const now = clock.monotonic();
    if (account.localWindow !== null) correct(account.localWindow, now, -1);
    if (source === null) forgetDegraded(account, now);
    else leases.giveBack(account, source, now);
  }

  return { admit, giveBack, end: roundTrips.end };
}

function admitted(account: Account, source: Lease, localBalance: number, now: number): Admitted {
  const decision: Admitted = decide(account, true, localBalance, now);
  decision.source = source;
  return decision;
}

/** Takes one call back that was admitted while degraded, unless it was reported meanwhile: then it stays counted. */
function forgetDegraded({ unreported, shape }: Account, now: number): void {
  const subBucket = Math.floor(now / shape.widthMs);
  for (const index of [subBucket, subBucket - 1]) {
    const amount = unreported.get(index) ?? 0;
    if (amount > 0) return void unreported.set(index, amount - 1);
  }
}
