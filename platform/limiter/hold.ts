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
  /** The counter that was charged: see `counterName`. */
  readonly counter: string;
  readonly reservationId: string;
  /** From then on nobody draws from it, on this process's monotonic clock. */
  readonly expiresAt: number;
  /** What the store has reserved, as far as is known; 0 while it has not heard of the reservation. */
  reserved: number;
  /** Calls under way, and their estimates. */
  calls: number;
  open: number;
  /** What the calls that have ended cost. */
  spent: number;
  /** Calls that have ended, and of how many of them the store has been told. */
  ended: number;
  told: number;
  /** Nobody draws from it any more. */
  isClosed: boolean;
  /** The store knows that all of its calls have ended, and what they cost. */
  isSettled: boolean;
  /** How often the store was told of it, and the latest of these turns that it has confirmed. */
  turn: number;
  confirmedTurn: number;
};

/** A hold on what the store has reserved. */
export function openHold(
  given: Pick<Hold, 'organizationId' | 'counter' | 'reservationId' | 'expiresAt' | 'reserved'>,
): Hold {
  return {
    ...given,
    calls: 0,
    open: 0,
    spent: 0,
    ended: 0,
    told: 0,
    isClosed: false,
    isSettled: false,
    turn: 0,
    confirmedTurn: 0,
  };
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

/** What the store counts too little: calls that cost more than was reserved for them, or were admitted without it. */
export function overdraftOf(hold: Hold): number {
  return hold.isSettled ? 0 : Math.max(0, needOf(hold) - hold.reserved);
}

/** Calls that have ended, and of whose cost the store has not been told. */
export function untoldOf({ ended, told }: Hold): number {
  return ended - told;
}

/** Nobody will tell the store of this hold any more: what it has counted stands. */
export function giveUp(hold: Hold): void {
  hold.told = hold.ended;
  hold.isSettled = true;
}

/**
 * Takes the estimate of a call from the rest, if that is there.
 * @param balance what is left of the quota beyond holds; when it is negative, the rest has to pay for that first
 */
export function draw(hold: Hold, estimateNano: number, now: number, balance: number): boolean {
  const rest = restOf(hold, now);
  if (rest <= 0 || balance + rest <= 0 || estimateNano > rest) return false;
  enter(hold, estimateNano);
  return true;
}

/** A call has ended: what its estimate was too high by can be drawn again; too low, and more is needed than is there. */
export function endCall(hold: Hold, estimateNano: number, costNano: number): void {
  hold.calls -= 1;
  hold.open -= estimateNano;
  hold.spent += costNano;
  hold.ended += 1;
  if (needOf(hold) > hold.reserved) hold.isClosed = true;
}

/** Whether there is something that the store should be told. */
export function isOwing(hold: Hold): boolean {
  if (!hold.isClosed || hold.isSettled) return false;
  return hold.calls === 0 || untoldOf(hold) > 0 || needOf(hold) !== hold.reserved;
}

/** What the store is told, and how many calls had ended by then. */
export type Word = { settlement: Settlement; ended: number };

/** What the store is to be told now. */
export function wordOf(hold: Hold): Word {
  hold.turn += 1;
  const { organizationId, reservationId, turn } = hold;
  const settlement = { organizationId, reservationId, costNano: needOf(hold), turn, isOpen: hold.calls > 0 };
  return { settlement, ended: hold.ended };
}

/** The store has heard it. Returns how many ended calls it had not been told of before. */
export function heard(hold: Hold, { settlement, ended }: Word): number {
  // Words travel on several connections: one that is confirmed after a later one says nothing new.
  if (settlement.turn <= hold.confirmedTurn) return 0;
  hold.confirmedTurn = settlement.turn;
  hold.reserved = settlement.costNano;
  hold.isSettled ||= !settlement.isOpen;
  const news = Math.max(0, ended - hold.told);
  hold.told += news;
  return news;
}
