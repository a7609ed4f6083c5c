/** Translates large requests without holding up the event loop. */
import type { Piscina } from 'piscina';
import { AssayError } from '#core/contracts/errors.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import { sharedInTurns } from '#platform/process/turns/mod.ts';
import { type TranslationFailure, type TranslationTask, translateRequest } from './translate-request.ts';

/** Up to both of these it takes less than 15 ms; a thread costs a copy of the body, and 100 ms when it has to start. */
const TRANSLATED_HERE = { bytes: 1024 * 1024, values: 10_000 };
/** Long enough for a conversation's next call. */
const IDLE_MS = 300_000;
/** A body of 32 MiB is some 64 MiB of text, and is there three times over. */
const THREAD_MEMORY_MB = 1_024;

let pool: Piscina<TranslationTask, Uint8Array | TranslationFailure> | null = null;

/**
 * Translates a request that has `values` values.
 * @throws AssayError invalid_body, naming the field that the other dialect cannot express
 */
export async function translated(task: TranslationTask & { bytes: Buffer }, values: number): Promise<Buffer> {
  if (task.bytes.length <= TRANSLATED_HERE.bytes && values <= TRANSLATED_HERE.values)
    return translateRequest(task);
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
