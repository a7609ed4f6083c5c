/**
 * Decides whether a store may be called now. A store that fails, or is silent for longer than a caller should wait, is away, so that
 * during an outage not every call waits in vain. The caller decides how to go on without the store.
 */

import { AssayError } from '#core/contracts/errors.ts';
import { Backoff } from '../process/backoff.ts';
import type { Clock } from '../process/clock.ts';
import { withDeadline } from '../process/deadline.ts';
import { isStoreUnavailable } from './connect.ts';

export type Availability = {
  isAway(): boolean;
  /**
   * Resolves as `work` does. Rejects as it does, or with a StoreLateError; if that is an outage, the store is away from then
   * on. Does not check `isAway` first.
   */
  attempt<T>(work: () => PromiseLike<T>, options?: AttemptOptions<T>): Promise<T>;
  /** Reports a failure elsewhere; if it is an outage, the store is away from then on. */
  report(error: unknown): void;
  /** Notes that the store responds again. */
  reset(): void;
  /** Ends probing, and ignores further reports. */
  stop(): void;
};

export type AttemptOptions<T> = {
  /** Overrides how long this attempt may take, in milliseconds. */
  patienceMs?: number;
  /** Gets the result of an attempt that was late. */
  onLate?(result: T): void;
};

/** Callers call a store that is away again after a pause; each failure restarts the pause. */
type Pause = { pauseMs: number };

/** Only a probe in the background calls a store that is away, again and again until it responds. */
type Probing = {
  /** Runs any cheap statement. */
  probe(): Promise<unknown>;
  /** Called when a probe succeeded. The store is away until this resolves, and remains away if it rejects. */
  onReturn(): Promise<void>;
  /** Waits between probes, longer each time: on a dead connection each probe waits for ever. */
  firstMs: number;
  longestMs: number;
};

export type AvailabilityOptions = {
  clock: Pick<Clock, 'monotonic'>;
  patienceMs: number;
  recovery: Pause | Probing;
  /** Returns whether an error is an outage. Default: Postgres cannot be reached or cannot work now. */
  isOutage?(error: unknown): boolean;
  /**
   * True when a late response is no outage if another arrived during the wait: the store is then busy, not away. Default:
   * false, for callers whose attempts are independent.
   */
  sparesBusyStore?: boolean;
  /**
   * A timer later than this was delayed by the process itself, which is not the store's fault, and the wait is restarted.
   * Default: never, because the caller must not wait longer.
   */
  stallMs?: number;
  /** Called once at the beginning of each outage. */
  onAway?(error: unknown): void;
  /** Called when a probe succeeded and `onReturn` has resolved. */
  onBack?(): void;
};

/** A response was not there in time. */
export class StoreLateError extends AssayError {
  constructor(waitMs: number) {
    super('store_unavailable', `no answer within ${waitMs} ms`);
  }
}

/** Resolves as `statement` does, or rejects with a StoreLateError after `waitMs`. */
export function answeredWithin<T>(waitMs: number, statement: PromiseLike<T>): Promise<T> {
  return withDeadline(statement, waitMs, () => {
    throw new StoreLateError(waitMs);
  });
}

const LATE = Symbol('late');

/** Creates the availability of a store that is assumed to be up. */
export function createAvailability(options: AvailabilityOptions): Availability {
  const { clock, patienceMs, recovery, isOutage = isStoreUnavailable } = options;
  const { sparesBusyStore = false, stallMs = Number.POSITIVE_INFINITY } = options;
  let awayUntil = Number.NEGATIVE_INFINITY;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const isAway = () => clock.monotonic() < awayUntil;

  /** Resolves as `working` does, or with LATE after `waitMs` without a stall of the process. */
  async function inTime<T>(working: PromiseLike<T>, waitMs: number): Promise<T | typeof LATE> {
    for (;;) {
      const dueAt = clock.monotonic() + waitMs;
      const result = await withDeadline<T, typeof LATE>(working, waitMs, () => LATE);
      if (result !== LATE) answeredAt = clock.monotonic();
      else if (clock.monotonic() - dueAt > stallMs) continue;
      return result;
    }
  }

  async function attempt<T>(work: () => PromiseLike<T>, waitMs: number, onLate?: (result: T) => void) {
    try {
      const working = work();
      const result = await inTime(working, waitMs);
      if (result !== LATE) return result;
      if (onLate !== undefined) working.then(onLate, () => {});
    } catch (error) {
      report(error);
      throw error;
    }
    const late = new StoreLateError(waitMs);
    const isBusy = sparesBusyStore && clock.monotonic() - answeredAt < waitMs;
    if (!isBusy) report(late);
    throw late;
  }

  function report(error: unknown): void {
    if (isStopped || !isOutage(error)) return;
    const wasAway = isAway();
    awayUntil = 'pauseMs' in recovery ? clock.monotonic() + recovery.pauseMs : Number.POSITIVE_INFINITY;
    if (wasAway) return;
    options.onAway?.(error);
    if ('probe' in recovery) probeLater(recovery, new Backoff(recovery));
  }

  function probeLater(probing: Probing, backoff: Backoff): void {
    if (isStopped) return;
    timer = setTimeout(async () => {
      try {
        if ((await inTime(probing.probe(), patienceMs)) === LATE) return probeLater(probing, backoff);
        await probing.onReturn();
        awayUntil = Number.NEGATIVE_INFINITY;
        options.onBack?.();
      } catch {
        probeLater(probing, backoff);
      }
    }, backoff.next());
    timer.unref();
  }

  return {
    isAway,
    report,
    attempt: (work, { patienceMs: waitMs = patienceMs, onLate } = {}) => attempt(work, waitMs, onLate),
    reset: () => {
      awayUntil = Number.NEGATIVE_INFINITY;
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
