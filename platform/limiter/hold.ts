/**
 * Money of a counter that is reserved in the store, in the hands of one process: the estimates of calls under way, what
 * ended calls cost, and a rest that calls to come draw from without asking. All of it is charged to the sub-bucket it was
 * reserved in, so nobody draws once that may have ended, and what is spent was always counted. While a hold lives the
 * store need not hear of it: whatever its calls do, they take from what is reserved. Once it is closed the store is told
 * what it is: the whole of it, not the change, so that telling twice is telling once. Pure.
 */
import type { Settlement } from './counter-store.ts';

/** Amounts are whole nano-dollars. */
export type Hold = {
  readonly organizationId: string;
  /** The counter that was charged: see `counterName`. */
  readonly counter: string;
  readonly reservationId: string;
  /** From then on nobody draws from it, on this process's monotonic clock. */
  readonly expiresAt: number;
  /** What the store has reserved, as far as is known; 0 while it has not heard of the reservation. */
  reservedNano: number;
  /** Calls under way, and their estimates. */
  openCalls: number;
  openNano: number;
  /** What the calls that have ended cost. */
  spentNano: number;
  /** Calls that have ended, and of how many of them the store has been told. */
  endedCalls: number;
  reportedCalls: number;
  /** Nobody draws from it any more. */
  isClosed: boolean;
  /** The store knows that all of its calls have ended, and what they cost. */
  isSettled: boolean;
  /** How often the store was told of it, and the latest of these turns that it has confirmed. */
  revision: number;
  acknowledgedRevision: number;
};

/** A hold on what the store has reserved. */
export function openHold(
  given: Pick<Hold, 'organizationId' | 'counter' | 'reservationId' | 'expiresAt' | 'reservedNano'>,
): Hold {
  return {
    ...given,
    openCalls: 0,
    openNano: 0,
    spentNano: 0,
    endedCalls: 0,
    reportedCalls: 0,
    isClosed: false,
    isSettled: false,
    revision: 0,
    acknowledgedRevision: 0,
  };
}

const neededNano = ({ openNano, spentNano }: Hold) => openNano + spentNano;

/** What calls can draw now. */
export function availableNano(hold: Hold, now: number): number {
  return hold.isClosed || now >= hold.expiresAt ? 0 : hold.reservedNano - neededNano(hold);
}

/** Takes the estimate of a call for which the store has reserved it. */
export function addCall(hold: Hold, estimateNano: number): void {
  hold.openCalls += 1;
  hold.openNano += estimateNano;
}

/** What the store counts too little: calls that cost more than was reserved for them, or were admitted without it. */
export function overdraftNano(hold: Hold): number {
  return hold.isSettled ? 0 : Math.max(0, neededNano(hold) - hold.reservedNano);
}

/** Calls that have ended, and of whose cost the store has not been told. */
export function unreportedCalls({ endedCalls: ended, reportedCalls }: Hold): number {
  return ended - reportedCalls;
}

/** Nobody will tell the store of this hold any more: what it has counted stands. */
export function abandon(hold: Hold): void {
  hold.reportedCalls = hold.endedCalls;
  hold.isSettled = true;
}

/**
 * Takes the estimate of a call from the rest, if that is there.
 * @param balance what is left of the quota beyond holds; when it is negative, the rest has to pay for that first
 */
export function tryDraw(hold: Hold, estimateNano: number, now: number, balance: number): boolean {
  const rest = availableNano(hold, now);
  if (rest <= 0 || balance + rest <= 0 || estimateNano > rest) return false;
  addCall(hold, estimateNano);
  return true;
}

/** A call has ended: what its estimate was too high by can be drawn again; too low, and more is needed than is there. */
export function endCall(hold: Hold, estimateNano: number, costNano: number): void {
  hold.openCalls -= 1;
  hold.openNano -= estimateNano;
  hold.spentNano += costNano;
  hold.endedCalls += 1;
  if (neededNano(hold) > hold.reservedNano) hold.isClosed = true;
}

/** Whether there is something that the store should be told. */
export function isDirty(hold: Hold): boolean {
  if (!hold.isClosed || hold.isSettled) return false;
  return hold.openCalls === 0 || unreportedCalls(hold) > 0 || neededNano(hold) !== hold.reservedNano;
}

/** What the store is told, and how many calls had ended by then. */
export type PendingSettlement = { settlement: Settlement; endedCalls: number };

/** What the store is to be told now. */
export function settlementFor(hold: Hold): PendingSettlement {
  hold.revision += 1;
  const { organizationId, reservationId, revision } = hold;
  const settlement = {
    organizationId,
    reservationId,
    costNano: neededNano(hold),
    revision: revision,
    isOpen: hold.openCalls > 0,
  };
  return { settlement, endedCalls: hold.endedCalls };
}

/** The store has heard it. Returns how many ended calls it had not been told of before. */
export function acknowledge(hold: Hold, { settlement, endedCalls }: PendingSettlement): number {
  // Words travel on several connections: one that is confirmed after a later one says nothing new.
  if (settlement.revision <= hold.acknowledgedRevision) return 0;
  hold.acknowledgedRevision = settlement.revision;
  hold.reservedNano = settlement.costNano;
  hold.isSettled ||= !settlement.isOpen;
  const news = Math.max(0, endedCalls - hold.reportedCalls);
  hold.reportedCalls += news;
  return news;
}
