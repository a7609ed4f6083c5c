/**
 * Whether the store of the counters answers. One call that fails, or that takes longer than a caller should wait while no
 * other is answered, opens the breaker: from then on nobody waits, until a probe in the background is answered.
 */

import { AssayError, describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import { isStoreUnavailable } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';

export type Availability = {
  isUnavailable(): boolean;
  /**
   * The result of `work`, or undefined when it fails. A store that is unavailable, or answers nobody in time, opens
   * the breaker. `onLate` gets an answer that came all the same, after it was waited for.
   */
  run<T>(work: () => Promise<T>, onLate?: (result: T) => void): Promise<T | undefined>;
  /** Work in the background, which may take its time, has failed: opens the breaker if the store is why. */
  reportFailure(error: unknown): void;
  stop(): void;
};

export type AvailabilityOptions = {
  clock: Clock;
  log: Logger;
  timeoutMs: number;
  /** Any small thing that the store can be asked. */
  probe(): Promise<unknown>;
  /** The store answers again; the breaker closes when this is done. A rejection leaves it open. */
  onRecovery(): Promise<void>;
};

/** From one probe to the next, longer each time: on a dead line each of them waits for ever. */
const PROBE_AFTER_MS = { first: 250, longest: 1_000 };
/** A timer that is later than this was late because this process stood still, which is not the store's fault. */
const STALL_MS = 50;

const LATE = Symbol('late');

/** One answer was not there in time. */
class LateError extends AssayError {}

/** Makes the breaker, closed. */
export function createAvailability(options: AvailabilityOptions): Availability {
  const { clock, log, timeoutMs } = options;
  let isAway = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let probing: NodeJS.Timeout | undefined;

  /** Resolves with LATE after the patience of a process that runs. */
  function patience(): { late: Promise<typeof LATE>; cancel(): void } {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<typeof LATE>((resolve) => {
      const wait = () => {
        const dueAt = clock.monotonic() + timeoutMs;
        timer = setTimeout(() => {
          if (clock.monotonic() - dueAt > STALL_MS) wait();
          else resolve(LATE);
        }, timeoutMs);
      };
      wait();
    });
    return { late, cancel: () => clearTimeout(timer) };
  }

  async function inTime<T>(work: () => Promise<T>, onLate: (result: T) => void): Promise<T> {
    const { late, cancel } = patience();
    try {
      const working = work();
      const first = await Promise.race([working, late]);
      if (first !== LATE) {
        answeredAt = clock.monotonic();
        return first;
      }
      working.then(onLate, () => {});
      throw new LateError('store_unavailable', `no answer within ${timeoutMs} ms`);
    } finally {
      cancel();
    }
  }

  function reportFailure(error: unknown): void {
    if (isAway || isStopped) return;
    if (!isStoreUnavailable(error)) {
      log.error({ error: describeError(error) }, 'the counters of rate limits refused what they were asked');
      return;
    }
    isAway = true;
    log.warn(
      { reason: describeError(error) },
      'the counters of rate limits are away; each gateway limits by itself',
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
      await inTime(options.probe, () => {});
      await options.onRecovery();
      isAway = false;
      log.info('the counters of rate limits are back');
    } catch {
      probeAfter(nextMs);
    }
  }

  return {
    isUnavailable: () => isAway,
    async run(work, onLate = () => {}) {
      try {
        return await inTime(work, onLate);
      } catch (error) {
        // A store that answers others meanwhile is busy, not away.
        const isBusy = error instanceof LateError && clock.monotonic() - answeredAt < timeoutMs;
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
