/**
 * Which calls go first. A browser has six connections to a host, and the API two processors on a small machine: charts, counts and
 * facets wait until the list that they belong to is there.
 */

/** Calls with priority that are under way. */
let urgent = 0;
let waiting: (() => void)[] = [];

/** Runs a call that others wait for. */
export async function withPriority<T>(run: () => Promise<T>): Promise<T> {
  urgent += 1;
  try {
    return await run();
  } finally {
    urgent -= 1;
    if (urgent === 0) {
      for (const go of waiting) go();
      waiting = [];
    }
  }
}

/** A call with priority that takes longer is slow: a search in bodies, say. The others go on without it. */
const LONGEST_WAIT_MS = 1_000;
/** Longer than a frame takes; a page that nobody sees has none. */
const LONGEST_FRAME_MS = 200;

/** Resolves when what was rendered last is on the screen; on a page that nobody sees, soon. */
export function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, LONGEST_FRAME_MS);
  });
}

/** Resolves when no call with priority is under way, or has been for too long. */
async function quiet(signal: AbortSignal): Promise<void> {
  const late = performance.now() + LONGEST_WAIT_MS;
  while (urgent > 0 && !signal.aborted && performance.now() < late) {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      setTimeout(resolve, LONGEST_WAIT_MS);
    });
    await painted();
  }
}

/**
 * Runs a call after those with priority, when what they brought is on the screen; one that is slow is not waited for. A call whose
 * signal is aborted meanwhile is never made.
 * @example useResource('total', (signal) => afterPriority(signal, () => call<Total>('POST', '/v1/total', body, signal)));
 */
export async function afterPriority<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  // Until the end of the current rendering, in which a call with priority may yet begin.
  await new Promise((resolve) => setTimeout(resolve));
  await quiet(signal);
  signal.throwIfAborted();
  return await run();
}
