/** Translates large requests without holding up the event loop. */
import type { Piscina } from 'piscina';
import { AssayError } from '#core/contracts/errors.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import { sharedInTurns } from '#platform/process/turns.ts';
import { type TranslationFailure, type TranslationTask, translateRequest } from './translate-request.ts';

/**
 * Below these limits a translation takes less than 15 ms, or 50 where most commas are between arguments, and runs on the event
 * loop. A thread costs a copy of the body, and 100 ms when it has to start.
 */
const MAX_INLINE = { bytes: 1024 * 1024, values: 10_000, commas: 50_000 };
/** The time after which an idle thread ends: long enough for a conversation's next call. */
const IDLE_MS = 300_000;
/** A body of 32 MiB takes some 64 MiB as text, and three copies of it exist at a time. */
const THREAD_MEMORY_MB = 1_024;

let pool: Piscina<TranslationTask, Uint8Array | TranslationFailure> | null = null;

const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const TWO = 0x32;
/** A comma as a string may have it. */
const ESCAPED_COMMA = /^\\u002c$/i;

/**
 * Returns whether a body has many commas. Arguments of tools are JSON within a string, whose values the scan of the body has not
 * counted: each but the last of an object or array has a comma behind it, which may be escaped.
 */
function hasManyCommas(bytes: Buffer): boolean {
  if (bytes.length <= MAX_INLINE.commas) return false;
  let commas = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === COMMA || (bytes[at] === BACKSLASH && isEscapedComma(bytes, at))) commas += 1;
  }
  return commas > MAX_INLINE.commas;
}

function isEscapedComma(bytes: Buffer, at: number): boolean {
  // The digit is in few other escapes.
  return bytes[at + 4] === TWO && ESCAPED_COMMA.test(bytes.toString('latin1', at, at + 6));
}

/**
 * Translates a request, in a thread when it is large.
 * @param values the number of values in the body
 * @throws AssayError invalid_body, naming the field that the other dialect cannot express
 */
export async function translateBody(
  task: TranslationTask & { bytes: Buffer },
  values: number,
): Promise<Buffer> {
  const isSmall = task.bytes.length <= MAX_INLINE.bytes && values <= MAX_INLINE.values;
  if (isSmall && !hasManyCommas(task.bytes)) return translateRequest(task);
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
