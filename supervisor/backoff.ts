/** How long to wait before what has died is started again. */
export type Backoff = {
  /** Milliseconds to wait, after a life of `livedMs`. */
  next(livedMs: number): number;
};

/** Soon enough that callers who retry hardly notice. */
const FIRST_MS = 100;
/** A process that dies at once, over and over, costs next to nothing and is back soon after the cause is gone. */
const LONGEST_MS = 10_000;
/** Who has lived this long did not die of the start: the wait begins anew. */
const STABLE_MS = 30_000;

/** Doubles from death to death, within bounds. */
export function createBackoff(): Backoff {
  let deaths = 0;
  return {
    next(livedMs) {
      if (livedMs >= STABLE_MS) deaths = 0;
      const waitMs = Math.min(FIRST_MS * 2 ** deaths, LONGEST_MS);
      deaths += 1;
      return waitMs;
    },
  };
}
