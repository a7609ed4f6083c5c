/**
 * Availability of the counters. One failed request opens the breaker, and so does one that times out while no other is
 * answered: from then on no call waits for the counters, until a background probe succeeds.
 */

import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import { createAvailability, isStoreUnavailable } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';

export type CounterAvailability = {
  isUnavailable(): boolean;
  /**
   * Returns the result of `work`, or undefined if it fails or times out. The breaker opens if the store is unavailable
   * or answers no request in time. `onLate` receives a result that arrives after the timeout.
   */
  run<T>(work: () => Promise<T>, onLate?: (result: T) => void): Promise<T | undefined>;
  /** Reports an error of background work, which has no deadline: opens the breaker if the store is the cause. */
  reportFailure(error: unknown): void;
  stop(): void;
};

type CounterAvailabilityOptions = {
  clock: Clock;
  log: Logger;
  /** Longest wait of a call for the store. */
  timeoutMs: number;
  /** Makes any small request to the store. */
  probe(): Promise<unknown>;
  /** Runs when the store answers again; the breaker closes when this is done. A rejection keeps it open. */
  onRecovery(): Promise<void>;
};

/** Pause before a probe, doubled each time: on a dead connection each probe waits for ever. */
const PROBE_AFTER = { firstMs: 250, longestMs: 1_000 };
/** A timer later than this is late because this process stood still, which is not the store's fault. */
const STALL_MS = 50;

/** Creates the breaker, closed. */
export function createCounterAvailability(options: CounterAvailabilityOptions): CounterAvailability {
  const { clock, log, timeoutMs, probe, onRecovery } = options;
  const store = createAvailability({
    clock,
    patienceMs: timeoutMs,
    recovery: { ...PROBE_AFTER, probe, onReturn: onRecovery },
    sparesBusyStore: true,
    stallMs: STALL_MS,
    onAway: (error) =>
      log.warn(
        { reason: describeError(error) },
        'rate-limit counters unavailable; each gateway now limits on its own',
      ),
    onBack: () => log.info('rate-limit counters available again'),
  });

  function logRejection(error: unknown): void {
    if (store.isAway() || isStoreUnavailable(error)) return;
    log.error({ error: describeError(error) }, 'rate-limit counters rejected a request');
  }

  return {
    isUnavailable: store.isAway,
    async run(work, onLate = () => {}) {
      try {
        return await store.attempt(work, { onLate });
      } catch (error) {
        logRejection(error);
        return undefined;
      }
    },
    reportFailure(error) {
      store.report(error);
      logRejection(error);
    },
    stop: store.stop,
  };
}
