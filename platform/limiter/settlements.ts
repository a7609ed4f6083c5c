/**
 * Settlements of holds: kept in memory until the counter acknowledges them, and sent in batches behind the calls, one
 * statement for many counters. A call that was admitted while degraded is reserved before it is settled.
 */

import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { Clock } from '../process/clock.ts';
import type { Account } from './account.ts';
import type { CounterAvailability } from './availability.ts';
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
  /** Enqueues the hold of a call that was admitted while degraded, at `at` on the monotonic clock. */
  enqueueDegraded(account: Account, hold: Hold, estimateNano: number, at: number): void;
  /** Notes that a call of this hold has ended. It is reported once the hold is closed. */
  callEnded(hold: Hold): void;
  /** Enqueues a hold that was closed. */
  enqueue(hold: Hold): void;
  /** Sends everything that is enqueued now. Rejects if the store is unavailable. */
  flush(): Promise<void>;
  /** Makes the settlements of one counter, to be sent with a request about it; null if they are too many for one. */
  settlementsFor(counter: string): readonly HoldSettlement[] | null;
  /** Takes settlements over as received by the counter. */
  acknowledge(settlements: readonly HoldSettlement[]): void;
  /** Returns the nano-dollars that this gateway's calls use of a counter beyond what the counter has counted. */
  overdraftNano(counter: string): number;
  /** Returns whether anything is enqueued. */
  hasUnsent(): boolean;
  /** Returns whether a call that was admitted while degraded is not reserved yet. */
  hasDegraded(): boolean;
  /** Returns the number of ended calls whose cost the counters do not know. */
  unreportedCalls(): number;
};

/** A hold, and a settlement made of it. */
export type HoldSettlement = { hold: Hold; pending: PendingSettlement };

type SettlementsOptions = {
  clock: Clock;
  log: Logger;
  store: Pick<CounterStore, 'reserveDegraded' | 'settle'>;
  availability: Pick<CounterAvailability, 'isUnavailable' | 'reportFailure'>;
};

/** Maximum of dirty holds, and of degraded calls: 400 bytes each. Beyond it the oldest are abandoned at their estimate. */
const MAX_ENQUEUED = 100_000;
const BATCH_SIZE = 500;
/** Batching delay before settlements are flushed. A flush also happens before any refusal. */
const BATCH_DELAY_MS = 50;
const RETRY_MS = 250;
/** SQLSTATEs of data that can never be stored, however often it is sent. */
const INVALID_DATA = /^22/;

type DegradedCall = { account: Account; estimateNano: number; at: number };

/** Creates the settlements of a process. */
export function createSettlements(options: SettlementsOptions): Settlements {
  const { clock, log, store, availability } = options;
  const degraded = new Map<Hold, DegradedCall>();
  const enqueued = new Set<Hold>();
  const dirtyHolds = createDirtyHolds();
  let unreported = 0;
  let lastFlush: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function drop(hold: Hold): void {
    degraded.delete(hold);
    enqueued.delete(hold);
    unreported -= unreportedCalls(hold);
    abandon(hold);
    dirtyHolds.update(hold, false);
  }

  function dropOldestBeyondMaximum(holds: Pick<Set<Hold>, 'size' | 'keys'>): void {
    if (holds.size <= MAX_ENQUEUED) return;
    const [oldest] = holds.keys();
    drop(oldest!);
    log.error(
      { reservation: oldest!.reservationId },
      'too many settlements wait for the rate-limit counters; the oldest was dropped, and its estimate stands',
    );
  }

  function enqueue(hold: Hold): void {
    if (!isDirty(hold)) return;
    enqueued.add(hold);
    dirtyHolds.update(hold, true);
    dropOldestBeyondMaximum(enqueued);
    flushAfter(BATCH_DELAY_MS);
  }

  function flushAfter(ms: number): void {
    if (timer !== undefined) return;
    const flushOrRetry = () => {
      timer = undefined;
      if (availability.isUnavailable()) return flushAfter(RETRY_MS);
      flush().catch((error) => {
        availability.reportFailure(error);
        flushAfter(RETRY_MS);
      });
    };
    timer = setTimeout(flushOrRetry, ms).unref();
  }

  /** Flushes one after the other, each with everything that is enqueued when it begins. */
  function flush(): Promise<void> {
    lastFlush = lastFlush.catch(() => {}).then(sendAll);
    return lastFlush;
  }

  async function sendAll(): Promise<void> {
    while (degraded.size > 0) {
      for (const [account, calls] of groupByAccount(degraded)) await sendDegraded(account, calls);
    }
    const holds = [...enqueued];
    for (let sent = 0; sent < holds.length; sent += BATCH_SIZE) {
      // A call that was admitted while degraded since then is left to the next flush.
      await sendSettlements(holds.slice(sent, sent + BATCH_SIZE).filter((hold) => !degraded.has(hold)));
    }
  }

  async function sendDegraded(account: Account, calls: ReadonlyMap<Hold, DegradedCall>): Promise<void> {
    const now = clock.monotonic();
    const toReservation = (hold: Hold) => {
      const { estimateNano, at } = calls.get(hold)!;
      return { reservationId: hold.reservationId, estimateNano, ageMs: Math.floor(now - at) };
    };
    const holds = [...calls.keys()];
    await sendOrSplit(holds, (batch) => store.reserveDegraded(account, batch.map(toReservation)));
    for (const hold of holds) {
      // A hold that was dropped meanwhile is not enqueued any more.
      const call = degraded.get(hold);
      if (call === undefined) continue;
      degraded.delete(hold);
      hold.reservedNano = call.estimateNano;
      dirtyHolds.update(hold, enqueued.has(hold));
    }
  }

  async function sendSettlements(holds: readonly Hold[]): Promise<void> {
    if (holds.length === 0) return;
    await sendOrSplit(holds, async (batch) => {
      const sent = batch.map((hold) => ({ hold, pending: settlementFor(hold) }));
      await store.settle(sent.map(({ pending }) => pending.settlement));
      acknowledgeAll(sent);
    });
  }

  function acknowledgeAll(settlements: readonly HoldSettlement[]): void {
    for (const { hold, pending } of settlements) {
      unreported -= acknowledge(hold, pending);
      const isStillDirty = isDirty(hold);
      if (!isStillDirty) enqueued.delete(hold);
      dirtyHolds.update(hold, isStillDirty);
    }
  }

  /** Sends a batch. If it contains data that can never be stored, sends its holds one by one and drops the bad ones. */
  async function sendOrSplit(
    batch: readonly Hold[],
    send: (batch: readonly Hold[]) => Promise<unknown>,
  ): Promise<void> {
    try {
      await send(batch);
    } catch (error) {
      if (!INVALID_DATA.test(String((error as { code?: unknown }).code))) throw error;
      if (batch.length > 1) {
        for (const hold of batch) await sendOrSplit([hold], send);
        return;
      }
      drop(batch[0]!);
      log.error(
        { error: describeError(error) },
        'rate-limit counters cannot store a cost; its estimate stands',
      );
    }
  }

  return {
    enqueueDegraded(account, hold, estimateNano, at) {
      degraded.set(hold, { account, estimateNano, at });
      dirtyHolds.update(hold, true);
      dropOldestBeyondMaximum(degraded);
      flushAfter(RETRY_MS);
    },
    callEnded(hold) {
      if (hold.isSettled) return;
      unreported += 1;
      enqueue(hold);
    },
    enqueue,
    flush,
    settlementsFor(counter) {
      const holds = [...dirtyHolds.holdsOf(counter)].filter((hold) => !degraded.has(hold));
      if (holds.length > BATCH_SIZE) return null;
      return holds.map((hold) => ({ hold, pending: settlementFor(hold) }));
    },
    acknowledge: acknowledgeAll,
    overdraftNano: dirtyHolds.overdraftNano,
    hasUnsent: () => degraded.size > 0 || enqueued.size > 0,
    hasDegraded: () => degraded.size > 0,
    unreportedCalls: () => unreported,
  };
}

/** Groups degraded calls by account, each group up to the size of a batch. */
function groupByAccount(degraded: ReadonlyMap<Hold, DegradedCall>): Map<Account, Map<Hold, DegradedCall>> {
  const groups = new Map<Account, Map<Hold, DegradedCall>>();
  for (const [hold, call] of degraded) {
    const group = groups.get(call.account) ?? new Map<Hold, DegradedCall>();
    if (group.size < BATCH_SIZE) groups.set(call.account, group.set(hold, call));
  }
  return groups;
}
