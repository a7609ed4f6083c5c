import { setTimeout as sleep } from 'node:timers/promises';
import { AssayError } from '#core/contracts/errors.ts';

/**
 * Settles like `work`, or rejects after `timeoutMs`; the outcome of `work` is then ignored.
 * @throws AssayError store_unavailable
 */
export async function within<T>(timeoutMs: number, work: PromiseLike<T>): Promise<T> {
  const done = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: done.signal }).then(() => {
    throw new AssayError('store_unavailable', `no answer within ${timeoutMs} ms`);
  });
  // The one that loses the race may still reject.
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
