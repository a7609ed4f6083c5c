/** Statements of the cache that calls can do without. */
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createAvailability } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';

/**
 * Runs a statement that a call can do without. Resolves with undefined, and never rejects, when Postgres does not respond
 * in time, fails, or failed a moment ago.
 */
export type TryStore = <T>(work: () => PromiseLike<T>) => Promise<T | undefined>;

/** After a failure, statements are skipped for this long: an outage must not cost every call the full `patienceMs`. */
const PAUSE_MS = 1_000;
/** Statements at a time. More would only wait for a connection of the pool. */
const MAX_AT_ONCE = 200;

export type TryStoreOptions = {
  clock: Clock;
  log: Logger;
  /** The longest wait for a statement. */
  patienceMs: number;
};

/** Makes the one function that all statements of a cache go through, but for its writes. */
export function createTryStore({ clock, log, patienceMs }: TryStoreOptions): TryStore {
  let running = 0;
  const store = createAvailability({
    clock,
    patienceMs,
    recovery: { pauseMs: PAUSE_MS },
    // Whichever error the cache's own statements fail with, calls are better off without the cache for a moment.
    isOutage: () => true,
    sparesBusyStore: true,
    onAway: (error) =>
      log.warn(
        { error: describeError(error) },
        'Postgres does not respond to the cache; calls go to their providers',
      ),
  });
  return async (work) => {
    if (running >= MAX_AT_ONCE || store.isAway()) return undefined;
    running += 1;
    try {
      return await store.attempt(work);
    } catch {
      return undefined;
    } finally {
      running -= 1;
    }
  };
}
