/**
 * Reservations of calls whose cost is known only after them. The estimate is reserved in the counter before the call and
 * replaced by the cost after it. Each request to the counter carries this gateway's outstanding settlements, so that its
 * next call is decided by what the earlier ones cost. All calls that wait for a counter share one round trip and one
 * hold. Of a counter that is asked often, more is reserved in advance: most calls draw their estimate from that hold, and
 * what they do not use goes to later ones. Near the quota nothing is prefetched, and the counter decides each call.
 */
import type { Clock } from '../process/clock.ts';
import { type Account, applySnapshot, backOff, NO_REFILL, sharedBalance } from './account.ts';
import { createAccountHolds } from './account-holds.ts';
import type { CounterAvailability } from './availability.ts';
import { counterName } from './counter-key.ts';
import type { CounterStore, HoldGrant, HoldRequest } from './counter-store.ts';
import { addCall, availableNano, openHold, tryDraw } from './hold.ts';
import { buildHoldRequest } from './hold-request.ts';
import { createReservationDecisions } from './reservation-decisions.ts';
import { createRoundTrips } from './round-trips.ts';
import type { HoldSettlement, Settlements } from './settlements.ts';
import type { Reservation } from './types.ts';

type Reservations = {
  reserve(account: Account, estimateNano: number): Reservation | Promise<Reservation>;
  /** Closes the holds that have nothing left or have expired; `all`: the others too. */
  closeHolds(all: boolean): void;
  /** Refills no hold any more, and resolves when the accounts have all that was on its way. */
  end(): Promise<void>;
};

type ReservationsOptions = {
  clock: Clock;
  store: Pick<CounterStore, 'reserve'>;
  availability: Pick<CounterAvailability, 'isUnavailable' | 'run'>;
  settlements: Settlements;
  /** Returns the number of live gateways. */
  gateways(): number;
  /** True when this process reserves more than it needs at once. */
  prefetches: boolean;
  /** Longest wait of a call for the store. */
  timeoutMs: number;
  /** Called at each degraded decision. */
  onDegraded(): void;
};

type PendingCall = {
  estimateNano: number;
  since: number;
  /** Already refused once after unused holds were returned; the next answer is final. */
  isFinal: boolean;
  resolve(reservation: Reservation): void;
};

const MAX_CALLS_PER_REQUEST = 500;
/** Maximum life of a hold: how late the counter learns what was spent, and how much a killed process leaves charged. */
const MAX_HOLD_MS = 1_000;
/** Weight of the newest estimate in the moving average. */
const NEWEST_WEIGHT = 0.1;

/** Creates the reservations of a process. */
export function createReservations(options: ReservationsOptions): Reservations {
  const { clock, store, availability, settlements, gateways, prefetches } = options;
  const { admitted, refused, degraded } = createReservationDecisions(options);
  const roundTrips = createRoundTrips(fetchHold);
  const holds = createAccountHolds(settlements);

  function reserve(account: Account, estimateNano: number): Reservation | Promise<Reservation> {
    const now = clock.monotonic();
    account.callsSinceMeasured += 1;
    account.lastCallAt = now;
    const weight = account.averageEstimateNano === 0 ? 1 : NEWEST_WEIGHT;
    account.averageEstimateNano += weight * (estimateNano - account.averageEstimateNano);
    const { hold } = account;
    if (hold !== null && tryDraw(hold, estimateNano, now, sharedBalance(account))) {
      if (availableNano(hold, now) <= account.refillThreshold && !availability.isUnavailable()) {
        account.refillThreshold = NO_REFILL;
        // Deferred: a request takes longer than a decision, and this call does not need the refill.
        setImmediate(roundTrips.enqueue, account);
      }
      return admitted(account, hold, estimateNano, now);
    }
    if (availability.isUnavailable()) return degraded(account, estimateNano, now);
    if (now < account.refusedUntil) return refused(account, now);
    return new Promise((resolve) => {
      roundTrips.enqueue(account, { estimateNano, since: now, isFinal: false, resolve });
    });
  }

  /** Reserves a hold for all queued calls. Calls that arrive meanwhile draw from the prefetch, if it suffices. */
  async function fetchHold(account: Account, queue: PendingCall[]): Promise<void> {
    const calls = queue.splice(0, MAX_CALLS_PER_REQUEST);
    const outstanding = await outstandingSettlements(account);
    if (outstanding === null) return decideDegraded(account, calls);
    const includedOverdraftNano = account.ledger.overdrawnNano;
    const hadUnsent = settlements.hasUnsent();
    const sentAt = clock.monotonic();
    const estimates = calls.map(({ estimateNano }) => estimateNano);
    const request = buildHoldRequest(account, estimates, { now: sentAt, gateways: gateways(), prefetches });
    if (calls.length === 0 && request.prefetchNano === 0) return;
    const grant = await availability.run(
      () =>
        store.reserve(
          account,
          request,
          outstanding.map(({ pending }) => pending.settlement),
        ),
      () => holds.releaseUnused(account, request),
    );
    const now = clock.monotonic();
    const isSameCounter = grant !== undefined && noteChargedCounter(account, grant, outstanding);
    if (grant === undefined) {
      // The counter may have reserved the hold all the same.
      holds.releaseUnused(account, request);
      decideDegraded(account, calls);
    } else if (!isSameCounter && settlements.overdraftNano(account.chargedCounter) > 0) {
      // The overflow counter was charged, which has not received the settlements it needed: the calls ask again.
      holds.releaseUnused(account, request);
      queue.unshift(...calls);
    } else if (now >= sentAt + grant.spendableMs && grant.granted + grant.prefetchedNano > 0) {
      // The hold expired on the way. The calls are first in the next round trip, unless they have waited too long.
      holds.releaseUnused(account, request);
      queue.unshift(...decideExpiredDegraded(account, calls, now));
    } else {
      applySnapshot(account, grant, now, includedOverdraftNano);
      const notGranted = serveFromGrant(account, calls, request, grant, sentAt);
      serveFromHold(account, queue, now);
      if (notGranted.length > 0) queue.unshift(...(await refuseOrRetry(account, notGranted, hadUnsent)));
    }
  }

  /** Returns the settlements to send along with a request about the account's counter; null if the store is unavailable. */
  async function outstandingSettlements(account: Account): Promise<readonly HoldSettlement[] | null> {
    if (availability.isUnavailable()) return null;
    // Degraded admissions are reported first: until then the counter would admit as much again.
    if (settlements.hasDegraded() && !(await flushSettlements())) return null;
    for (;;) {
      const outstanding = settlements.settlementsFor(account.chargedCounter);
      if (outstanding !== null) return outstanding;
      if (!(await flushSettlements())) return null;
    }
  }

  /** Notes which counter was charged. Returns whether it is the expected one, which thereby received the settlements. */
  function noteChargedCounter(
    account: Account,
    { key }: HoldGrant,
    sent: readonly HoldSettlement[],
  ): boolean {
    const charged = counterName(account.counter.organizationId, key);
    const isExpected = charged === account.chargedCounter;
    account.chargedCounter = charged;
    if (isExpected) settlements.acknowledge(sent);
    return isExpected;
  }

  /** Admits the calls that were granted; the prefetch becomes the account's hold. Returns the calls not granted. */
  function serveFromGrant(
    account: Account,
    calls: readonly PendingCall[],
    { reservationId }: HoldRequest,
    { granted, prefetchedNano, spendableMs }: HoldGrant,
    sentAt: number,
  ): readonly PendingCall[] {
    const admitting = calls.slice(0, granted);
    const hold = openHold({
      organizationId: account.counter.organizationId,
      counter: account.chargedCounter,
      reservationId,
      reservedNano: admitting.reduce((sum, { estimateNano }) => sum + estimateNano, prefetchedNano),
      expiresAt: sentAt + Math.min(spendableMs, MAX_HOLD_MS),
    });
    for (const { estimateNano } of admitting) addCall(hold, estimateNano);
    if (prefetchedNano > 0) {
      holds.replace(account, hold, prefetchedNano);
    } else if (granted > 0) {
      holds.close(hold);
    }
    const now = clock.monotonic();
    for (const { estimateNano, resolve } of admitting) resolve(admitted(account, hold, estimateNano, now));
    return calls.slice(granted);
  }

  /** Admits queued calls that find their estimate in the hold. */
  function serveFromHold(account: Account, queue: PendingCall[], now: number): void {
    const { hold } = account;
    if (hold === null) return;
    for (const call of queue.splice(0)) {
      if (tryDraw(hold, call.estimateNano, now, sharedBalance(account)))
        call.resolve(admitted(account, hold, call.estimateNano, now));
      else queue.push(call);
    }
  }

  /**
   * Refuses calls, but not for money that this gateway holds and does not need: that is returned first, and calls that
   * may try once more are returned.
   * @param hadUnsent settlements may have reached the counter only after the request
   */
  async function refuseOrRetry(
    account: Account,
    calls: readonly PendingCall[],
    hadUnsent: boolean,
  ): Promise<PendingCall[]> {
    holds.closeOf(account);
    const canRetry = (hadUnsent || settlements.hasUnsent()) && calls.some(({ isFinal }) => !isFinal);
    const isRetrying = canRetry && (await flushSettlements());
    const now = clock.monotonic();
    if (!isRetrying) backOff(account, now);
    const retried: PendingCall[] = [];
    for (const call of calls) {
      if (isRetrying && !call.isFinal) retried.push({ ...call, isFinal: true });
      else call.resolve(refused(account, now));
    }
    return retried;
  }

  async function flushSettlements(): Promise<boolean> {
    const isFlushed = availability.run(async () => {
      await settlements.flush();
      return true;
    });
    return (await isFlushed) ?? false;
  }

  /** Decides calls that have waited for the timeout as degraded. Returns the others. */
  function decideExpiredDegraded(
    account: Account,
    calls: readonly PendingCall[],
    now: number,
  ): PendingCall[] {
    const isExpired = (call: PendingCall) => now - call.since > options.timeoutMs;
    decideDegraded(account, calls.filter(isExpired));
    return calls.filter((call) => !isExpired(call)).map((call) => ({ ...call, isFinal: false }));
  }

  function decideDegraded(account: Account, calls: readonly PendingCall[]): void {
    const now = clock.monotonic();
    for (const { estimateNano, resolve } of calls) resolve(degraded(account, estimateNano, now));
  }

  return { reserve, closeHolds: (all) => holds.closeAll(clock.monotonic(), all), end: roundTrips.end };
}
