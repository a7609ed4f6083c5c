/** Promises with a deadline. What loses the race goes on unheard: its failure is nobody's unhandled rejection. */

/**
 * Resolves as `work` does, or with what `onLate` returns (or throws) when `work` has not settled within `waitMs`. The
 * timer is cleared as soon as `work` settles; until then it keeps the process alive, or a stop with a deadline could end
 * without a word when `work` holds no handle of its own.
 */
export async function withDeadline<T, L>(
  work: PromiseLike<T>,
  waitMs: number,
  onLate: () => L,
): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>();
  // One turn of the event loop later: a result that has arrived, and that a busy process has not read yet, is in time.
  const timer = setTimeout(() => setImmediate(resolve, LATE), waitMs);
  try {
    const first = await Promise.race([work, promise]);
    return first === LATE ? onLate() : first;
  } finally {
    clearTimeout(timer);
  }
}

const LATE = Symbol('late');

/** Returns whether `work` settled within `waitMs`; rejects as `work` does. */
export function settlesWithin(work: PromiseLike<unknown>, waitMs: number): Promise<boolean> {
  return withDeadline(
    work.then(() => true),
    waitMs,
    () => false,
  );
}
