/** Translates large requests without holding up the event loop. */
import type { Piscina } from 'piscina';
import { AssayError } from '#core/contracts/errors.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import { sharedInTurns } from '#platform/process/turns.ts';
import { type TranslationFailure, type TranslationTask, translateRequest } from './translate-request.ts';

/**
 * Below both limits a translation takes less than 15 ms, and runs on the event loop. A thread costs a copy of the body, and
 * 100 ms when it has to start.
 */
const MAX_INLINE = { bytes: 1024 * 1024, values: 10_000 };
/** The time after which an idle thread ends: long enough for a conversation's next call. */
const IDLE_MS = 300_000;
/** A body of 32 MiB takes some 64 MiB as text, and three copies of it exist at a time. */
const THREAD_MEMORY_MB = 1_024;

let pool: Piscina<TranslationTask, Uint8Array | TranslationFailure> | null = null;

/**
 * Translates a request, in a thread when it is large.
 * @param values the number of values in the body
 * @throws AssayError invalid_body, naming the field that the other dialect cannot express
 */
export async function translateBody(
  task: TranslationTask & { bytes: Buffer },
  values: number,
): Promise<Buffer> {
  if (task.bytes.length <= MAX_INLINE.bytes && values <= MAX_INLINE.values) return translateRequest(task);
  pool ??= createThreadPool<TranslationTask, Uint8Array | TranslationFailure>({
    module: new URL('./translate-request.ts', import.meta.url),
    threadMemoryMb: THREAD_MEMORY_MB,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
  });
  const result = await pool.run(
    { ...task, bytes: await sharedInTurns(task.bytes) },
    { name: 'translateInThread' },
  );
  if (!(result instanceof Uint8Array)) throw new AssayError(result.code, result.message);
  return Buffer.from(result.buffer, result.byteOffset, result.byteLength);
}
