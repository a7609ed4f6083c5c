/**
 * Availability of the counters. One failed request opens the breaker, and so does one that times out while no other is
 * answered: from then on no call waits for the counters, until a background probe succeeds.
 */

import { AssayError, describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import { isStoreUnavailable } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';

export type Availability = {
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

export type AvailabilityOptions = {
  clock: Clock;
  log: Logger;
  /** How long a call waits for the store. */
  timeoutMs: number;
  /** Makes any small request to the store. */
  probe(): Promise<unknown>;
  /** Runs when the store answers again; the breaker closes when this is done. A rejection keeps it open. */
  onRecovery(): Promise<void>;
};

/** Pause before a probe, doubled each time: on a dead connection each probe waits for ever. */
const PROBE_AFTER_MS = { first: 250, longest: 1_000 };
/** A timer later than this is late because this process stood still, which is not the store's fault. */
const STALL_MS = 50;

const TIMED_OUT = Symbol('timed out');

/** One request was not answered in time. */
class TimeoutError extends AssayError {}

/** Creates the breaker, closed. */
export function createAvailability(options: AvailabilityOptions): Availability {
  const { clock, log, timeoutMs } = options;
  let isUnavailable = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let probing: NodeJS.Timeout | undefined;

  /** Starts a timeout that does not count the time in which this process stood still. */
  function startTimeout(): { timedOut: Promise<typeof TIMED_OUT>; cancel(): void } {
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<typeof TIMED_OUT>((resolve) => {
      const wait = () => {
        const dueAt = clock.monotonic() + timeoutMs;
        timer = setTimeout(() => {
          if (clock.monotonic() - dueAt > STALL_MS) wait();
          else resolve(TIMED_OUT);
        }, timeoutMs);
      };
      wait();
    });
    return { timedOut, cancel: () => clearTimeout(timer) };
  }

  async function runInTime<T>(work: () => Promise<T>, onLate: (result: T) => void): Promise<T> {
    const { timedOut, cancel } = startTimeout();
    try {
      const working = work();
      const first = await Promise.race([working, timedOut]);
      if (first !== TIMED_OUT) {
        answeredAt = clock.monotonic();
        return first;
      }
      working.then(onLate, () => {});
      throw new TimeoutError('store_unavailable', `no answer within ${timeoutMs} ms`);
    } finally {
      cancel();
    }
  }

  function reportFailure(error: unknown): void {
    if (isUnavailable || isStopped) return;
    if (!isStoreUnavailable(error)) {
      log.error({ error: describeError(error) }, 'rate-limit counters rejected a request');
      return;
    }
    isUnavailable = true;
    log.warn(
      { reason: describeError(error) },
      'rate-limit counters unavailable; each gateway now limits on its own',
    );
    probeAfter(PROBE_AFTER_MS.first);
  }

  function probeAfter(ms: number): void {
    if (isStopped) return;
    probing = setTimeout(() => void probe(Math.min(2 * ms, PROBE_AFTER_MS.longest)), ms);
    probing.unref();
  }

  async function probe(nextMs: number): Promise<void> {
    try {
      await runInTime(options.probe, () => {});
      await options.onRecovery();
      isUnavailable = false;
      log.info('rate-limit counters available again');
    } catch {
      probeAfter(nextMs);
    }
  }

  return {
    isUnavailable: () => isUnavailable,
    async run(work, onLate = () => {}) {
      try {
        return await runInTime(work, onLate);
      } catch (error) {
        // A store that meanwhile answered other requests is busy, not unavailable.
        const isBusy = error instanceof TimeoutError && clock.monotonic() - answeredAt < timeoutMs;
        if (!isBusy) reportFailure(error);
        return undefined;
      }
    },
    reportFailure,
    stop() {
      isStopped = true;
      clearTimeout(probing);
    },
  };
}
