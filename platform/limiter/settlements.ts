/**
 * What the store is to be told of holds: kept in memory until it has heard it, sent in batches behind the calls, one
 * statement for all counters. That a call was admitted without the store comes before what it cost.
 */

import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { Clock } from '../process/clock.ts';
import type { Account } from './account.ts';
import type { Availability } from './availability.ts';
import type { CounterStore } from './counter-store.ts';
import { createDirtyHolds } from './dirty-holds.ts';
import {
  abandon,
  acknowledge,
  type Hold,
  isDirty,
  type PendingSettlement,
  settlementFor,
  unreportedCalls,
} from './hold.ts';

export type Settlements = {
  /** The hold of a call that was admitted at `at`, on the monotonic clock, without the store. */
  enqueueDegraded(account: Account, hold: Hold, estimateNano: number, at: number): void;
  /** A call of this hold has ended: told once the hold is closed. */
  callEnded(hold: Hold): void;
  /** This hold is closed. */
  enqueue(hold: Hold): void;
  /** Tells all that there is now. Rejects when the store is away. */
  flush(): Promise<void>;
  /** What there is to tell of one counter now, to be sent with a question about it; null: more than fits. */
  settlementsFor(counter: string): readonly HoldSettlement[] | null;
  /** The store has heard these words. */
  acknowledge(words: readonly HoldSettlement[]): void;
  /** Nano-dollars that count in a counter and that the store does not know of. */
  overdraftNano(counter: string): number;
  /** Whether there is something to tell. */
  hasUnsent(): boolean;
  /** Whether the store does not know of a call that was admitted without it. */
  hasDegraded(): boolean;
  /** Calls that have ended, and of whose cost the store has not been told. */
  unreportedCalls(): number;
};

/** A hold, and what the store is told of it. */
export type HoldSettlement = { hold: Hold; pending: PendingSettlement };

export type SettlementsOptions = {
  clock: Clock;
  log: Logger;
  store: Pick<CounterStore, 'reserveDegraded' | 'settle'>;
  availability: Pick<Availability, 'isUnavailable' | 'reportFailure'>;
};

/** Of holds that owe, and of missed ones: 400 bytes each. Beyond, the oldest estimates stand. */
const MAX_WAITING = 100_000;
const SENT_AT_ONCE = 500;
/** How long what is to be told waits for more; before a call is refused, all of it is. */
const GATHER_MS = 50;
const RETRY_MS = 250;
/** SQLSTATEs of what can never be stored, however often it is tried. */
const INVALID_DATA = /^22/;

type Missed = { account: Account; estimateNano: number; at: number };

/** Makes the queue of a process. */
export function createSettlements(options: SettlementsOptions): Settlements {
  const { clock, log, store, availability } = options;
  const missed = new Map<Hold, Missed>();
  const owing = new Set<Hold>();
  const unheard = createDirtyHolds();
  let untold = 0;
  let round: Promise<void> = Promise.resolve();
  let gathering: NodeJS.Timeout | undefined;

  function forget(hold: Hold): void {
    missed.delete(hold);
    owing.delete(hold);
    untold -= unreportedCalls(hold);
    abandon(hold);
    unheard.update(hold, false);
  }

  function bound(holds: Pick<Set<Hold>, 'size' | 'keys'>): void {
    if (holds.size <= MAX_WAITING) return;
    const [oldest] = holds.keys();
    forget(oldest!);
    log.error(
      { reservation: oldest!.reservationId },
      'too many costs wait for the counters; an estimate stands',
    );
  }

  function enqueue(hold: Hold): void {
    if (!isDirty(hold)) return;
    owing.add(hold);
    unheard.update(hold, true);
    bound(owing);
    sendAfter(GATHER_MS);
  }

  function sendAfter(ms: number): void {
    if (gathering !== undefined) return;
    const send = () => {
      gathering = undefined;
      if (availability.isUnavailable()) return sendAfter(RETRY_MS);
      flush().catch((error) => {
        availability.reportFailure(error);
        sendAfter(RETRY_MS);
      });
    };
    gathering = setTimeout(send, ms).unref();
  }

  /** One round after the other, each with all that there is when it begins. */
  function flush(): Promise<void> {
    round = round.catch(() => {}).then(sendAll);
    return round;
  }

  async function sendAll(): Promise<void> {
    while (missed.size > 0) {
      for (const [account, holds] of groupByAccount(missed)) await sendMissed(account, holds);
    }
    const all = [...owing];
    for (let sent = 0; sent < all.length; sent += SENT_AT_ONCE) {
      // Who was admitted without the store since has another turn.
      await sendWords(all.slice(sent, sent + SENT_AT_ONCE).filter((hold) => !missed.has(hold)));
    }
  }

  async function sendMissed(account: Account, calls: ReadonlyMap<Hold, Missed>): Promise<void> {
    const now = clock.monotonic();
    const toMissed = (hold: Hold) => {
      const { estimateNano, at } = calls.get(hold)!;
      return { reservationId: hold.reservationId, estimateNano, ageMs: Math.floor(now - at) };
    };
    const holds = [...calls.keys()];
    await inGoodPart(holds, (part) => store.reserveDegraded(account, part.map(toMissed)));
    for (const hold of holds) {
      // Given up meanwhile, it is not missed any more.
      const call = missed.get(hold);
      if (call === undefined) continue;
      missed.delete(hold);
      hold.reservedNano = call.estimateNano;
      unheard.update(hold, owing.has(hold));
    }
  }

  async function sendWords(holds: readonly Hold[]): Promise<void> {
    if (holds.length === 0) return;
    await inGoodPart(holds, async (part) => {
      const words = part.map((hold) => ({ hold, pending: settlementFor(hold) }));
      await store.settle(words.map(({ pending }) => pending.settlement));
      confirm(words);
    });
  }

  function confirm(words: readonly HoldSettlement[]): void {
    for (const { hold, pending } of words) {
      untold -= acknowledge(hold, pending);
      const stillOwes = isDirty(hold);
      if (!stillOwes) owing.delete(hold);
      unheard.update(hold, stillOwes);
    }
  }

  /** Tells all that can be stored: of a batch that cannot, one by one. */
  async function inGoodPart(
    batch: readonly Hold[],
    send: (part: readonly Hold[]) => Promise<unknown>,
  ): Promise<void> {
    try {
      await send(batch);
    } catch (error) {
      if (!INVALID_DATA.test(String((error as { code?: unknown }).code))) throw error;
      if (batch.length > 1) {
        for (const one of batch) await inGoodPart([one], send);
        return;
      }
      forget(batch[0]!);
      log.error({ error: describeError(error) }, 'the counters cannot hold a cost; its estimate stands');
    }
  }

  return {
    enqueueDegraded(account, hold, estimateNano, at) {
      missed.set(hold, { account, estimateNano, at });
      unheard.update(hold, true);
      bound(missed);
      sendAfter(RETRY_MS);
    },
    callEnded(hold) {
      if (hold.isSettled) return;
      untold += 1;
      enqueue(hold);
    },
    enqueue,
    flush,
    settlementsFor(counter) {
      const holds = [...unheard.holdsOf(counter)].filter((hold) => !missed.has(hold));
      return holds.length > SENT_AT_ONCE
        ? null
        : holds.map((hold) => ({ hold, pending: settlementFor(hold) }));
    },
    acknowledge: confirm,
    overdraftNano: unheard.overdraftNano,
    hasUnsent: () => missed.size > 0 || owing.size > 0,
    hasDegraded: () => missed.size > 0,
    unreportedCalls: () => untold,
  };
}

/** Of each account as many as are told at once. */
function groupByAccount(missed: ReadonlyMap<Hold, Missed>): Map<Account, Map<Hold, Missed>> {
  const groups = new Map<Account, Map<Hold, Missed>>();
  for (const [hold, call] of missed) {
    const group = groups.get(call.account) ?? new Map<Hold, Missed>();
    if (group.size < SENT_AT_ONCE) groups.set(call.account, group.set(hold, call));
  }
  return groups;
}
