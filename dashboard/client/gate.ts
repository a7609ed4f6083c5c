/** Bounds how many calls of one kind are under way, so that a page of many rows leaves connections for everything else. */

/** Runs a call when there is room for it; the others wait in their order. */
export type Gate = <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Creates a gate for at most `most` calls at once. A call whose signal is aborted while it waits is never made. */
export function createGate(most: number): Gate {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (run, signal) => {
    while (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      signal.throwIfAborted();
      return await run();
    } finally {
      running--;
      waiting.shift()?.();
    }
  };
}
