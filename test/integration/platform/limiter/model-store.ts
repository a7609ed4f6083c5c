/**
 * The part of the counters that money needs, as a model: one counter in memory, on a clock that the test advances, behind
 * a line that delays, loses and cuts. test/integration/platform/limiter/holds-sql.test.ts holds Postgres against it.
 */

import {
  charge,
  correct,
  createWindow,
  freeAfterMs,
  resetAfterMs,
  used,
  type Window,
  type WindowShape,
} from '#core/rate-limit/mod.ts';
import type {
  DegradedReservation,
  HoldGrant,
  HoldRequest,
  Settlement,
} from '#platform/limiter/counter-store.ts';

export type ModelReservation = { atMs: number; reserved: number; settled: number | null; revision: number };

export type ModelCounter = {
  readonly window: Window;
  readonly reservations: Map<string, ModelReservation>;
  reserve(wish: HoldRequest, nowMs: number, told?: readonly Settlement[]): HoldGrant;
  reserveDegraded(missed: readonly DegradedReservation[], nowMs: number): void;
  settle(settlements: readonly Settlement[], nowMs: number): void;
};

/** A counter with one window. */
export function modelCounter(shape: WindowShape, quota: number): ModelCounter {
  const window = createWindow(shape);
  const reservations = new Map<string, ModelReservation>();

  function reserve(id: string, atMs: number, amount: number): void {
    if (reservations.has(id)) return;
    reservations.set(id, { atMs, reserved: amount, settled: null, revision: 0 });
    correct(window, atMs, amount);
  }

  function settle(settlements: readonly Settlement[], nowMs: number): void {
    used(window, nowMs);
    for (const { reservationId, costNano, revision, isOpen } of settlements) {
      const reservation = reservations.get(reservationId);
      if (reservation === undefined || reservation.settled !== null || reservation.revision >= revision)
        continue;
      correct(window, reservation.atMs, costNano - reservation.reserved);
      reservation.revision = revision;
      reservation.reserved = costNano;
      if (!isOpen) reservation.settled = costNano;
    }
  }

  return {
    window,
    reservations,
    reserve({ reservationId, estimatesNano, prefetchNano, minPrefetchNano, shares }, nowMs, told = []) {
      settle(told, nowMs);
      let left = quota - used(window, nowMs);
      let granted = 0;
      let reserved = 0;
      for (const estimate of estimatesNano) {
        if (left <= 0) break;
        left -= estimate;
        reserved += estimate;
        granted += 1;
      }
      const share = Math.min(prefetchNano, Math.floor(Math.max(0, left) / shares));
      const ahead = share < minPrefetchNano ? 0 : share;
      charge(window, nowMs, 0);
      if (granted > 0 || ahead > 0) reserve(reservationId, nowMs, reserved + ahead);
      const now = used(window, nowMs);
      return {
        key: Buffer.alloc(16),
        atMs: nowMs,
        granted,
        prefetchedNano: ahead,
        used: now,
        spendableMs: (window.newest + 1) * shape.widthMs - nowMs - 1,
        resetMs: resetAfterMs(window, nowMs),
        retryMs: now < quota ? 0 : freeAfterMs(window, nowMs, quota - 1),
      };
    },
    reserveDegraded(missed, nowMs) {
      used(window, nowMs);
      for (const { reservationId, estimateNano, ageMs } of missed) {
        reserve(reservationId, nowMs - ageMs, estimateNano);
      }
    },
    settle,
  };
}
