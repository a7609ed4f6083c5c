/**
 * Whether a store may be asked now. A store that fails, or is silent for longer than a caller should wait, is away: an
 * outage must not cost every call its patience. What a call does without the store, its caller decides.
 */

import { AssayError } from '#core/contracts/errors.ts';
import { Backoff } from '../process/backoff.ts';
import type { Clock } from '../process/clock.ts';
import { withDeadline } from '../process/deadline.ts';
import { isStoreUnavailable } from './connect.ts';

export type Availability = {
  isAway(): boolean;
  /**
   * Resolves as `work` does. Rejects as it does, or with a StoreLateError; the store is away then, if the error says so.
   * Does not look at `isAway` first.
   */
  attempt<T>(work: () => PromiseLike<T>, options?: AttemptOptions<T>): Promise<T>;
  /** Work elsewhere has failed: the store is away, if the error says so. */
  report(error: unknown): void;
  /** The store is known to answer again. */
  reset(): void;
  /** Ends all probing; nothing that is reported changes anything any more. */
  stop(): void;
};

export type AttemptOptions<T> = {
  /** How long this attempt is waited for. */
  patienceMs?: number;
  /** Gets a result that came all the same, after it was waited for. */
  onLate?(result: T): void;
};

/** A store that is away is asked again by callers, after a pause; each failure begins the pause anew. */
type Pause = { pauseMs: number };

/** A store that is away is asked again by a probe alone, in the background, until one is answered. */
type Probing = {
  /** Any small thing that the store can be asked. */
  probe(): Promise<unknown>;
  /** The store has answered a probe; it is away until this is done, and remains away if it rejects. */
  onReturn(): Promise<void>;
  /** From one probe to the next, longer each time: on a dead connection each of them waits for ever. */
  firstMs: number;
  longestMs: number;
};

export type AvailabilityOptions = {
  clock: Pick<Clock, 'monotonic'>;
  patienceMs: number;
  recovery: Pause | Probing;
  /** Errors by which the store is away; default: those of a Postgres that cannot be reached or cannot work now. */
  isOutage?(error: unknown): boolean;
  /**
   * A late answer is no outage when another came while it was waited for: the store is busy then, not away. Default:
   * false, for callers whose attempts tell nothing of one another.
   */
  sparesBusyStore?: boolean;
  /**
   * A timer that is later than this was late because the process stood still, which is not the store's fault: the wait
   * begins anew. Default: it never does, as the caller must not wait for longer.
   */
  stallMs?: number;
  /** The store has been found away, once for each outage. */
  onAway?(error: unknown): void;
  /** A probe was answered, and `onReturn` is done. */
  onBack?(): void;
};

/** One answer was not there in time. */
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

/** Makes the availability of a store that nothing is known against. */
export function createAvailability(options: AvailabilityOptions): Availability {
  const { clock, patienceMs, recovery, isOutage = isStoreUnavailable } = options;
  const { sparesBusyStore = false, stallMs = Number.POSITIVE_INFINITY } = options;
  let awayUntil = Number.NEGATIVE_INFINITY;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const isAway = () => clock.monotonic() < awayUntil;

  /** Resolves as `working` does, or with LATE after `waitMs` of a process that did not stand still. */
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
