import { Backoff } from '#platform/process/backoff.ts';

/** How long to wait before a process that died is started again. */
export type RestartBackoff = {
  /** Returns the milliseconds to wait after a process that lived for `livedMs`. */
  next(livedMs: number): number;
};

/**
 * The first wait is short enough that clients who retry hardly notice; at the longest, a process that dies at once, over
 * and over, costs next to nothing and is back soon after the cause is gone.
 */
const BACKOFF = { firstMs: 100, longestMs: 10_000 };
/** A process that lived this long did not die of its start: the wait begins anew. */
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
