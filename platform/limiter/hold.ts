/**
 * Hold: money that one gateway has reserved of a counter. It covers the estimates of calls under way, the cost of ended
 * calls, and a rest from which later calls draw without a round trip. All of it is charged to the sub-bucket in which it
 * was reserved, so no call draws once that sub-bucket may have ended, and whatever is spent was already counted. An open
 * hold needs no reports: whatever its calls do, they use what is reserved. Once it is closed, a settlement tells the
 * counter what is needed of it: the total, not the change, so that sending it twice is harmless. Pure.
 */
import type { Settlement } from './counter-store.ts';

/** Amounts are whole nano-dollars. */
export type Hold = {
  readonly organizationId: string;
  /** `counterName` of the counter that was charged. */
  readonly counter: string;
  readonly reservationId: string;
  /** From then on no call draws from it. On this process's monotonic clock. */
  readonly expiresAt: number;
  /** The amount that the counter has reserved, as far as is known; 0 before it knows of the reservation. */
  reservedNano: number;
  /** Calls under way, and the sum of their estimates. */
  openCalls: number;
  openNano: number;
  /** Sum of the costs of ended calls. */
  spentNano: number;
  /** Calls that have ended, and how many of them the counter knows of. */
  endedCalls: number;
  reportedCalls: number;
  /** No more calls draw from it. */
  isClosed: boolean;
  /** The counter knows the cost of all of its calls. */
  isSettled: boolean;
  /** Number of settlements made of it, and the latest one that the counter acknowledged. */
  revision: number;
  acknowledgedRevision: number;
};

/** Opens a hold on what the counter has reserved. */
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

/** Returns what later calls can draw now. */
export function availableNano(hold: Hold, now: number): number {
  return hold.isClosed || now >= hold.expiresAt ? 0 : hold.reservedNano - neededNano(hold);
}

/** Adds a call for whose estimate the money is reserved. */
export function addCall(hold: Hold, estimateNano: number): void {
  hold.openCalls += 1;
  hold.openNano += estimateNano;
}

/** Returns what the counter lacks: calls that cost more than was reserved, or were admitted while degraded. */
export function overdraftNano(hold: Hold): number {
  return hold.isSettled ? 0 : Math.max(0, neededNano(hold) - hold.reservedNano);
}

/** Returns the number of ended calls whose cost the counter does not know. */
export function unreportedCalls({ endedCalls, reportedCalls }: Hold): number {
  return endedCalls - reportedCalls;
}

/** Stops reporting a hold: what the counter has counted so far stands. */
export function abandon(hold: Hold): void {
  hold.reportedCalls = hold.endedCalls;
  hold.isSettled = true;
}

/**
 * Draws the estimate of a call, if the hold has that much left.
 * @param sharedBalance unused quota beyond holds; if it is negative, the rest of the hold has to cover that first
 */
export function tryDraw(hold: Hold, estimateNano: number, now: number, sharedBalance: number): boolean {
  const available = availableNano(hold, now);
  if (available <= 0 || sharedBalance + available <= 0 || estimateNano > available) return false;
  addCall(hold, estimateNano);
  return true;
}

/**
 * Replaces a call's estimate by its cost. What it did not use can be drawn again; if the calls need more than is
 * reserved, the hold closes.
 */
export function endCall(hold: Hold, estimateNano: number, costNano: number): void {
  hold.openCalls -= 1;
  hold.openNano -= estimateNano;
  hold.spentNano += costNano;
  hold.endedCalls += 1;
  if (neededNano(hold) > hold.reservedNano) hold.isClosed = true;
}

/** Returns whether the counter needs a settlement: the hold is closed, and the counter does not know its latest state. */
export function isDirty(hold: Hold): boolean {
  if (!hold.isClosed || hold.isSettled) return false;
  return hold.openCalls === 0 || unreportedCalls(hold) > 0 || neededNano(hold) !== hold.reservedNano;
}

/** A settlement, and how many calls had ended when it was made. */
export type PendingSettlement = { settlement: Settlement; endedCalls: number };

/** Makes a settlement, a new revision, of the hold's state now. */
export function settlementFor(hold: Hold): PendingSettlement {
  hold.revision += 1;
  const { organizationId, reservationId, revision } = hold;
  const isOpen = hold.openCalls > 0;
  const settlement = { organizationId, reservationId, costNano: neededNano(hold), revision, isOpen };
  return { settlement, endedCalls: hold.endedCalls };
}

/** Applies a settlement that the counter has taken. Returns how many ended calls it reported for the first time. */
export function acknowledge(hold: Hold, { settlement, endedCalls }: PendingSettlement): number {
  // Settlements travel on several connections: one that is acknowledged after a later revision is obsolete.
  if (settlement.revision <= hold.acknowledgedRevision) return 0;
  hold.acknowledgedRevision = settlement.revision;
  hold.reservedNano = settlement.costNano;
  hold.isSettled ||= !settlement.isOpen;
  const newlyReported = Math.max(0, endedCalls - hold.reportedCalls);
  hold.reportedCalls += newlyReported;
  return newlyReported;
}
