/**
 * Model of a counter of money: one counter in memory, on a clock that the test advances.
 * test/integration/platform/limiter/holds-sql.test.ts checks Postgres against it.
 */

import {
  charge,
  correct,
  createWindow,
  resetAfterMs,
  type Window,
  type WindowShape,
} from '#core/rate-limit/mod.ts';
import { freeAfterMs, used } from '#core/rate-limit/window.ts';
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
  reserve(request: HoldRequest, nowMs: number, settlements?: readonly Settlement[]): HoldGrant;
  reserveDegraded(calls: readonly DegradedReservation[], nowMs: number): void;
  settle(settlements: readonly Settlement[], nowMs: number): void;
};

/** Creates a counter with one window. */
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
    reserve({ reservationId, estimatesNano, prefetchNano, minPrefetchNano, shares }, nowMs, reports = []) {
      settle(reports, nowMs);
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
      const prefetched = share < minPrefetchNano ? 0 : share;
      charge(window, nowMs, 0);
      if (granted > 0 || prefetched > 0) reserve(reservationId, nowMs, reserved + prefetched);
      const now = used(window, nowMs);
      return {
        key: Buffer.alloc(16),
        atMs: nowMs,
        granted,
        prefetchedNano: prefetched,
        used: now,
        spendableMs: (window.newest + 1) * shape.widthMs - nowMs - 1,
        resetMs: resetAfterMs(window, nowMs),
        retryMs: now < quota ? 0 : freeAfterMs(window, nowMs, quota - 1),
      };
    },
    reserveDegraded(calls, nowMs) {
      used(window, nowMs);
      for (const { reservationId, estimateNano, ageMs } of calls) {
        reserve(reservationId, nowMs - ageMs, estimateNano);
      }
    },
    settle,
  };
}
