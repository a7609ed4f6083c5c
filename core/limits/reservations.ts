/**
 * Calls whose cost is known only afterwards. An estimate is reserved in the counter before the call, one round trip for
 * all who wait for the same counter, and replaced by the real cost behind the answer.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { correct } from '../rate-limit/mod.ts';
import { type Account, countOwn, decide, decideByShare, learn } from './account.ts';
import type { Availability } from './availability.ts';
import type { Settlements } from './settlements.ts';
import type { LimitStore } from './store.ts';
import type { Decision, Reservation } from './types.ts';

export type Reservations = {
  reserve(account: Account, reservation: Reservation): Promise<Decision>;
  settle(organizationId: string, reservationId: string, costNano: number | null): void;
};

export type ReservationsOptions = {
  clock: Clock;
  store: LimitStore;
  availability: Availability;
  settlements: Settlements;
  /** Gateways that live. */
  gateways(): number;
  /** A decision was made by this process's share. */
  onDegraded(): void;
};

type Ask = { reservation: Reservation; resolve(decision: Decision): void };

/** Calls under way whose estimates the own share can correct; one that is never settled falls out in the end. */
const MAX_OPEN = 100_000;
const ASKED_AT_ONCE = 500;

/** Makes the reservations of a process. */
export function createReservations(options: ReservationsOptions): Reservations {
  const { clock, store, availability, settlements } = options;
  /** Who waits for a counter; there while the store is being asked. */
  const waiting = new Map<Account, Ask[]>();
  const open = new LRUCache<string, { account: Account; at: number; estimateNano: number }>({
    max: MAX_OPEN,
  });

  async function reserve(account: Account, reservation: Reservation): Promise<Decision> {
    const now = clock.monotonic();
    if (availability.isAway()) return reserveByShare(account, reservation, now);
    if (now < account.refusedUntil) return decide(account, false, 0, now);
    return await new Promise((resolve) => askStore(account, { reservation, resolve }));
  }

  /** Asks the store, unless it is being asked: then who waits has the next turn. */
  function askStore(account: Account, ask: Ask): void {
    const queue = waiting.get(account);
    if (queue !== undefined) {
      queue.push(ask);
      return;
    }
    const asks = [ask];
    waiting.set(account, asks);
    void askUntilServed(account, asks);
  }

  async function askUntilServed(account: Account, asks: Ask[]): Promise<void> {
    while (asks.length > 0) await reserveBatch(account, asks.splice(0, ASKED_AT_ONCE));
    waiting.delete(account);
  }

  async function reserveBatch(account: Account, asking: readonly Ask[]): Promise<void> {
    const batch = asking.map(({ reservation }) => ({ ...reservation, ageMs: 0 }));
    const answer = availability.isAway()
      ? undefined
      : await availability.attempt(() => store.reserve(account, batch, false));
    const now = clock.monotonic();
    if (answer === undefined) {
      for (const ask of asking) reserveUnheard(account, ask, now);
      return;
    }
    learn(account, answer, now);
    asking.forEach(({ reservation, resolve }, place) => {
      const isAdmitted = place < answer.granted;
      if (isAdmitted) {
        countOwn(account, now, reservation.estimateNano);
        opened(account, reservation, now);
      }
      resolve(decide(account, isAdmitted, 0, now));
    });
  }

  /** The store may have reserved it all the same: there it counts once, and not at all for who is refused. */
  function reserveUnheard(account: Account, { reservation, resolve }: Ask, now: number): void {
    const decision = reserveByShare(account, reservation, now);
    if (!decision.isAdmitted) settle(account.counter.organizationId, reservation.reservationId, 0);
    resolve(decision);
  }

  function reserveByShare(account: Account, reservation: Reservation, now: number): Decision {
    const { reservationId, estimateNano } = reservation;
    const decision = decideByShare(account, options.gateways(), now, estimateNano);
    options.onDegraded();
    if (decision.isAdmitted) {
      opened(account, reservation, now);
      settlements.addMissed(account, reservationId, estimateNano, now);
    }
    return decision;
  }

  function opened(account: Account, { reservationId, estimateNano }: Reservation, at: number): void {
    open.set(`${account.counter.organizationId} ${reservationId}`, { account, at, estimateNano });
  }

  function settle(organizationId: string, reservationId: string, costNano: number | null): void {
    const name = `${organizationId} ${reservationId}`;
    const call = open.get(name);
    if (call !== undefined) {
      open.delete(name);
      const { account, at, estimateNano } = call;
      if (costNano !== null && account.own !== null) correct(account.own, at, costNano - estimateNano);
      // What it did not cost may be what the next one needs.
      account.refusedUntil = 0;
    }
    settlements.add({ organizationId, reservationId, costNano });
  }

  return { reserve, settle };
}
