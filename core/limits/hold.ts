/**
 * Money of a counter that is reserved in the store, in the hands of one process: the estimates of calls under way, what
 * ended calls cost, and a rest that calls to come draw from without asking. All of it is charged to the sub-bucket it was
 * reserved in, so nobody draws once that may have ended, and what is spent was always counted. While a hold lives the
 * store need not hear of it: whatever its calls do, they take from what is reserved. Once it is closed the store is told
 * what it is: the whole of it, not the change, so that telling twice is telling once. Pure.
 */
import type { Settlement } from './store.ts';

/** Amounts are whole nano-dollars. */
export type Hold = {
  readonly organizationId: string;
  readonly reservationId: string;
  /** From then on nobody draws from it, on this process's monotonic clock. */
  readonly expiresAt: number;
  /** What the store has reserved, as far as is known. */
  reserved: number;
  /** Calls under way, and their estimates. */
  calls: number;
  open: number;
  /** What the calls that have ended cost. */
  spent: number;
  /** Ended calls that the store has not been told of. */
  untold: number;
  /** Nobody draws from it any more. */
  isClosed: boolean;
  /** The store knows that all of its calls have ended, and what they cost. */
  isSettled: boolean;
  /** How often the store was told of it. */
  turn: number;
};

/** A hold on what the store has reserved. */
export function openHold(
  given: Pick<Hold, 'organizationId' | 'reservationId' | 'expiresAt' | 'reserved'>,
): Hold {
  return { ...given, calls: 0, open: 0, spent: 0, untold: 0, isClosed: false, isSettled: false, turn: 0 };
}

const needOf = ({ open, spent }: Hold) => open + spent;

/** What calls can draw now. */
export function restOf(hold: Hold, now: number): number {
  return hold.isClosed || now >= hold.expiresAt ? 0 : hold.reserved - needOf(hold);
}

/** Takes the estimate of a call for which the store has reserved it. */
export function enter(hold: Hold, estimateNano: number): void {
  hold.calls += 1;
  hold.open += estimateNano;
}

/** Takes the estimate of a call from the rest, if that is there. */
export function draw(hold: Hold, estimateNano: number, now: number): boolean {
  const rest = restOf(hold, now);
  if (rest <= 0 || estimateNano > rest) return false;
  enter(hold, estimateNano);
  return true;
}

/** A call has ended: what its estimate was too high by can be drawn again; too low, and more is needed than is there. */
export function endCall(hold: Hold, estimateNano: number, costNano: number): void {
  hold.calls -= 1;
  hold.open -= estimateNano;
  hold.spent += costNano;
  hold.untold += 1;
  if (needOf(hold) > hold.reserved) hold.isClosed = true;
}

/** Whether there is something that the store should be told. */
export function isOwing(hold: Hold): boolean {
  if (!hold.isClosed || hold.isSettled) return false;
  return hold.calls === 0 || hold.untold > 0 || needOf(hold) !== hold.reserved;
}

/** What the store is told, and how many ended calls are in it. */
export type Word = { settlement: Settlement; ended: number };

/** What the store is to be told now. */
export function wordOf(hold: Hold): Word {
  hold.turn += 1;
  const { organizationId, reservationId, turn } = hold;
  const settlement = { organizationId, reservationId, costNano: needOf(hold), turn, isOpen: hold.calls > 0 };
  return { settlement, ended: hold.untold };
}

/** The store has heard it. Returns how many ended calls it had not been told of before. */
export function heard(hold: Hold, { settlement, ended }: Word): number {
  // Given up meanwhile, it is over.
  const news = Math.min(hold.untold, ended);
  hold.reserved = settlement.costNano;
  hold.isSettled ||= !settlement.isOpen;
  hold.untold -= news;
  return news;
}
