import { Backoff } from '#platform/process/backoff.ts';

/** The waits before a process that died is started again. */
export type RestartBackoff = {
  /** Returns the milliseconds to wait after a process that lived for `livedMs`. */
  next(livedMs: number): number;
};

/**
 * The first wait is so short that clients who retry hardly notice. The longest makes a process that dies at every start cost
 * next to nothing, and still brings it back soon after the cause is gone.
 */
const BACKOFF = { firstMs: 100, longestMs: 10_000 };
/** A process that lived this long did not die while starting: the next wait is the first one again. */
const STABLE_MS = 30_000;

/** Makes a backoff that doubles from death to death, within bounds. */
export function createRestartBackoff(): RestartBackoff {
  const backoff = new Backoff(BACKOFF);
  return {
    next(livedMs) {
      if (livedMs >= STABLE_MS) backoff.reset();
      return backoff.next();
    },
  };
}
