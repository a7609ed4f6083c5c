/**
 * Calls whose cost is known only afterwards. An estimate is reserved in the counter before the call, and replaced by the
 * real cost once the answer is complete: what this process knows of ended calls goes to the store with each question, so
 * that its next call is decided by what they cost. All who wait for a counter share one round trip and one hold; of a counter that is asked
 * often more is reserved with it, so that most calls find their estimate there, and what they did not need goes to the
 * next ones. Near the quota nothing is reserved ahead, and each call is decided by the store.
 */
import type { Clock } from '../process/clock.ts';
import { type Account, applySnapshot, backOff, localBalance, NO_REFILL, sharedBalance } from './account.ts';
import type { Availability } from './availability.ts';
import { counterName } from './counter-key.ts';
import type { CounterStore, HoldGrant, HoldRequest } from './counter-store.ts';
import { addCall, availableNano, type Hold, openHold, tryDraw } from './hold.ts';
import { buildHoldRequest } from './hold-request.ts';
import { createReservationDecisions } from './reservation-decisions.ts';
import { createRoundTrips } from './round-trips.ts';
import type { HoldSettlement, Settlements } from './settlements.ts';
import type { Reservation } from './types.ts';

export type Reservations = {
  reserve(account: Account, estimateNano: number): Reservation | Promise<Reservation>;
  /** Closes the holds that nobody can draw from any more; `all`: the others too. */
  closeHolds(all: boolean): void;
};

export type ReservationsOptions = {
  clock: Clock;
  store: Pick<CounterStore, 'reserve'>;
  availability: Pick<Availability, 'run' | 'isUnavailable'>;
  settlements: Settlements;
  /** Gateways that live. */
  gateways(): number;
  /** Whether more is reserved than is asked for. */
  prefetches: boolean;
  timeoutMs: number;
  /** A decision was made by this process's share. */
  onDegraded(): void;
};

type PendingCall = {
  estimateNano: number;
  since: number;
  /** It was refused, and the store has been told since what this process does not need: its next word is the last. */
  isFinal: boolean;
  resolve(reservation: Reservation): void;
};

const ASKED_AT_ONCE = 500;
/** How long calls draw from a hold at most: so soon the store hears what was spent, and so little a kill leaves. */
const LIFE_MS = 1_000;
/** How much the newest estimate counts for in what is usual. */
const NEWEST_SHARE = 0.1;

/** Makes the reservations of a process. */
export function createReservations(options: ReservationsOptions): Reservations {
  const { clock, store, availability, settlements } = options;
  const { admitted, refused, degraded } = createReservationDecisions(options);
  const turns = createRoundTrips(take);
  /** Those whose hold was open when it was looked at last. */
  const holding = new Set<Account>();

  function reserve(account: Account, estimateNano: number): Reservation | Promise<Reservation> {
    const now = clock.monotonic();
    account.callsSinceMeasured += 1;
    account.lastCallAt = now;
    account.averageEstimateNano +=
      (account.averageEstimateNano === 0 ? 1 : NEWEST_SHARE) * (estimateNano - account.averageEstimateNano);
    const { hold } = account;
    if (hold !== null && tryDraw(hold, estimateNano, now, sharedBalance(account))) {
      if (availableNano(hold, now) <= account.refillThreshold && !availability.isUnavailable()) {
        account.refillThreshold = NO_REFILL;
        // Asking takes longer than deciding, and nobody waits for this answer.
        setImmediate(turns.enqueue, account);
      }
      return admitted(account, hold, estimateNano, now);
    }
    if (availability.isUnavailable()) return degraded(account, estimateNano, now);
    if (now < account.refusedUntil) return refused(account, now);
    return new Promise((resolve) => {
      turns.enqueue(account, { estimateNano, since: now, isFinal: false, resolve });
    });
  }

  /** One round trip for all who wait. Who comes while it is under way is served too, if enough was reserved ahead. */
  async function take(account: Account, asks: PendingCall[]): Promise<void> {
    const asking = asks.splice(0, ASKED_AT_ONCE);
    if (availability.isUnavailable()) return shareOut(account, asking);
    // What was admitted by share while the store was slow is counted first: until then it would admit as much again.
    if (settlements.hasDegraded() && !(await tellAll())) return shareOut(account, asking);
    const words = await wordsFor(account);
    if (words === null) return shareOut(account, asking);
    const known = account.ledger.overdrawnNano;
    const sentAt = clock.monotonic();
    const estimates = asking.map(({ estimateNano }) => estimateNano);
    const { prefetches } = options;
    const wish = buildHoldRequest(account, estimates, {
      now: sentAt,
      gateways: options.gateways(),
      takesAhead: prefetches,
    });
    if (asking.length === 0 && wish.prefetchNano === 0) return;
    const wasOwing = settlements.hasUnsent();
    const told = words.map(({ pending }) => pending.settlement);
    const answer = await availability.run(
      () => store.reserve(account, wish, told),
      () => drop(account, wish),
    );
    const now = clock.monotonic();
    const isHeard = answer !== undefined && hear(account, answer, words);
    if (answer === undefined) {
      // Perhaps the store has reserved it all the same.
      drop(account, wish);
      shareOut(account, asking);
    } else if (!isHeard && settlements.overdraftNano(account.chargedCounter) > 0) {
      // The store counts them with others, and has not been told what is known of those: they ask once more.
      drop(account, wish);
      asks.unshift(...asking);
    } else if (now >= sentAt + answer.spendableMs && answer.granted + answer.prefetchedNano > 0) {
      // The answer came after its sub-bucket's end: they are first in the next turn, while they can wait.
      drop(account, wish);
      asks.unshift(...shareOutTired(account, asking, now));
    } else {
      applySnapshot(account, answer, now, known);
      const refusing = serve(account, asking, wish, answer, sentAt);
      drawAll(account, asks, now);
      if (refusing.length > 0) asks.unshift(...(await refuse(account, refusing, wasOwing)));
    }
  }

  /** Returns what the store is to be told of a counter with the question about it; null when it is away. */
  async function wordsFor({ chargedCounter }: Account): Promise<readonly HoldSettlement[] | null> {
    for (;;) {
      const words = settlements.settlementsFor(chargedCounter);
      if (words !== null) return words;
      if (!(await tellAll())) return null;
    }
  }

  /** Notes which counter was charged. Returns whether that is the one of which the store was told, and so has heard. */
  function hear(account: Account, { key }: HoldGrant, words: readonly HoldSettlement[]): boolean {
    const charged = counterName(account.counter.organizationId, key);
    const isSame = charged === account.chargedCounter;
    account.chargedCounter = charged;
    if (isSame) settlements.acknowledge(words);
    return isSame;
  }

  /** Admits those that were granted; what is reserved beyond is there for the next. Returns the others. */
  function serve(
    account: Account,
    asking: readonly PendingCall[],
    { reservationId }: HoldRequest,
    { granted, prefetchedNano, spendableMs }: HoldGrant,
    sentAt: number,
  ): readonly PendingCall[] {
    const admitting = asking.slice(0, granted);
    const hold = openHold({
      organizationId: account.counter.organizationId,
      counter: account.chargedCounter,
      reservationId,
      reservedNano: admitting.reduce((sum, { estimateNano }) => sum + estimateNano, prefetchedNano),
      expiresAt: sentAt + Math.min(spendableMs, LIFE_MS),
    });
    for (const { estimateNano } of admitting) addCall(hold, estimateNano);
    if (prefetchedNano > 0) {
      close(account);
      account.hold = hold;
      account.refillThreshold = Math.floor(prefetchedNano / 2);
      holding.add(account);
    } else if (granted > 0) {
      closeHold(hold);
    }
    const now = clock.monotonic();
    for (const { estimateNano, resolve } of admitting) resolve(admitted(account, hold, estimateNano, now));
    return asking.slice(granted);
  }

  /** Serves from the hold while it lasts. */
  function drawAll(account: Account, asks: PendingCall[], now: number): void {
    const { hold } = account;
    if (hold === null) return;
    for (const ask of asks.splice(0)) {
      if (tryDraw(hold, ask.estimateNano, now, sharedBalance(account)))
        ask.resolve(admitted(account, hold, ask.estimateNano, now));
      else asks.push(ask);
    }
  }

  /**
   * Nobody is refused for what this process has in hand and does not need: those are returned who may ask once more.
   * @param wasOwing the store may have heard only after it was asked
   */
  async function refuse(
    account: Account,
    refusing: readonly PendingCall[],
    wasOwing: boolean,
  ): Promise<PendingCall[]> {
    close(account);
    const asksAgain = (wasOwing || settlements.hasUnsent()) && refusing.some(({ isFinal }) => !isFinal);
    const isTold = asksAgain && (await tellAll());
    const now = clock.monotonic();
    if (!isTold) backOff(account, now);
    const again: PendingCall[] = [];
    for (const ask of refusing) {
      if (isTold && !ask.isFinal) again.push({ ...ask, isFinal: true });
      else ask.resolve(refused(account, now));
    }
    return again;
  }

  async function tellAll(): Promise<boolean> {
    const told = availability.run(async () => {
      await settlements.flush();
      return true;
    });
    return (await told) ?? false;
  }

  /** Who has waited as long as anyone should is decided by this process's share; the others are returned. */
  function shareOutTired(account: Account, asking: readonly PendingCall[], now: number): PendingCall[] {
    const isTired = (ask: PendingCall) => now - ask.since > options.timeoutMs;
    shareOut(account, asking.filter(isTired));
    return asking.filter((ask) => !isTired(ask)).map((ask) => ({ ...ask, isLast: false }));
  }

  function shareOut(account: Account, asking: readonly PendingCall[]): void {
    const now = clock.monotonic();
    for (const ask of asking) ask.resolve(degraded(account, ask.estimateNano, now));
  }

  /** The store may have reserved it, and nobody spends it. */
  function drop(
    { counter: { organizationId }, chargedCounter }: Account,
    { reservationId }: HoldRequest,
  ): void {
    closeHold(
      openHold({ organizationId, counter: chargedCounter, reservationId, reservedNano: 0, expiresAt: 0 }),
    );
  }

  function close(account: Account): void {
    if (account.hold === null) return;
    closeHold(account.hold);
    account.hold = null;
  }

  function closeHold(hold: Hold): void {
    hold.isClosed = true;
    settlements.enqueue(hold);
  }

  return {
    reserve,
    closeHolds(all) {
      const now = clock.monotonic();
      for (const account of holding) {
        if (!all && localBalance(account, now) > 0) continue;
        close(account);
        holding.delete(account);
      }
    },
  };
}
