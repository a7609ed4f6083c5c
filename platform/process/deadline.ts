/** Promises with a deadline. Work that is late goes on; its failure causes no unhandled rejection. */

/**
 * Settles as `work` does, or as `onLate` returns or throws when `work` has not settled within `waitMs`. The timer is cleared
 * as soon as `work` settles; until then it keeps the process alive, because a stop with a deadline would otherwise end
 * silently when `work` holds no handle of its own.
 */
export async function withDeadline<T, L>(
  work: PromiseLike<T>,
  waitMs: number,
  onLate: () => L,
): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>();
  // One turn of the event loop later: a result that arrived while the process was busy is in time.
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
