import { setTimeout as sleep } from 'node:timers/promises';
import { AssayError } from '#core/contracts/errors.ts';

/**
 * Resolves like `work`, or rejects after `timeoutMs`; what becomes of the work then nobody hears.
 * @throws AssayError store_unavailable
 */
export async function within<T>(timeoutMs: number, work: PromiseLike<T>): Promise<T> {
  const done = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: done.signal }).then(() => {
    throw new AssayError('store_unavailable', `no answer within ${timeoutMs} ms`);
  });
  // Whichever of the two comes second may still fail.
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
