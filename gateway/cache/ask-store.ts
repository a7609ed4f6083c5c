import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createAvailability } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';

/**
 * Asks Postgres for something that a call can do without. Resolves with undefined, and never rejects, when Postgres does
 * not answer in time, fails, or has just done so.
 */
export type AskStore = <T>(work: () => PromiseLike<T>) => Promise<T | undefined>;

/** After a failure, how long no call asks: an outage must not cost every call its patience. */
const PAUSE_MS = 1_000;
/** At a time; what comes on top would only wait behind the pool. */
const MAX_AT_ONCE = 200;

export type AskStoreOptions = {
  clock: Clock;
  log: Logger;
  /** How long an answer is waited for. */
  patienceMs: number;
};

/** Makes the one function that all look-ups of a cache go through. */
export function createAskStore({ clock, log, patienceMs }: AskStoreOptions): AskStore {
  let underWay = 0;
  const store = createAvailability({
    clock,
    patienceMs,
    recovery: { pauseMs: PAUSE_MS },
    // Whatever the cache's own statements fail of, calls are better off without it for a moment.
    isOutage: () => true,
    sparesBusyStore: true,
    onAway: (error) =>
      log.warn({ error: describeError(error) }, 'the cache cannot ask Postgres; calls go to their providers'),
  });
  return async (work) => {
    if (underWay >= MAX_AT_ONCE || store.isAway()) return undefined;
    underWay += 1;
    try {
      return await store.attempt(work);
    } catch {
      return undefined;
    } finally {
      underWay -= 1;
    }
  };
}
