/** Translates large requests without holding up the event loop. */
import type { Piscina } from 'piscina';
import { AssayError } from '#core/contracts/errors.ts';
import { FairSlots } from '#platform/process/fair-slots.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import { sharedInTurns } from '#platform/process/turns.ts';
import { type TranslationFailure, type TranslationTask, translateRequest } from './translate-request.ts';

/**
 * Below these limits a translation takes less than 15 ms, or 50 where most marks are in arguments, and runs on the event loop. A
 * thread costs a copy of the body, and 100 ms when it has to start.
 */
const MAX_INLINE = { bytes: 1024 * 1024, values: 10_000, marks: 50_000 };
/**
 * One thread for all organizations by turns, and one more for an organization that has nothing in the first. A body that waits
 * for its turn takes memory: up to 64 KiB each beside the room for bodies.
 */
const SLOTS = new FairSlots({
  count: 1,
  spare: 1,
  ofOne: 1,
  maxWaiting: 2_048,
  maxWaitingOfOne: 512,
  patienceMs: 30_000,
});
const MAX_THREADS = 2;
/** The time after which an idle thread ends: long enough for a conversation's next call. */
const IDLE_MS = 300_000;
/** A body of 32 MiB takes some 64 MiB as text, and three copies of it exist at a time. */
const THREAD_MEMORY_MB = 1_024;

let pool: Piscina<TranslationTask, Uint8Array | TranslationFailure> | null = null;

const BACKSLASH = 0x5c;
/** The characters of `,[{`, one of which every value has before it that is in an array or object; `:` follows one. */
const isMark = (byte: number | undefined): boolean => byte === 0x2c || byte === 0x5b || byte === 0x7b;

/**
 * Returns whether a body may have many values. Arguments of tools are JSON within a string, whose values the scan of the body has
 * not counted.
 */
function hasManyMarks(bytes: Buffer): boolean {
  if (bytes.length <= MAX_INLINE.marks) return false;
  let marks = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isMark(byte) || (byte === BACKSLASH && isMark(escapedAt(bytes, at)))) marks += 1;
  }
  return marks > MAX_INLINE.marks;
}

/** Returns what an escape such as `\u002c` stands for, as far as it is a mark. */
function escapedAt(bytes: Buffer, at: number): number | undefined {
  // The letter u, and two zeros.
  if (bytes[at + 1] !== 0x75 || bytes[at + 2] !== 0x30 || bytes[at + 3] !== 0x30) return undefined;
  return Number.parseInt(String.fromCharCode(bytes[at + 4]!, bytes[at + 5]!), 16);
}

/** The caller whose request is translated. */
export type Translated = { organizationId: string; signal: AbortSignal };

/**
 * Translates a request, in a thread when it is large.
 * @param values the number of values in the body
 * @throws AssayError invalid_body, naming the field that the other dialect cannot express; bodies_busy when no thread had time
 *   for it within 30 seconds, or too many wait; client_closed_request when the client left before
 */
export async function translateBody(
  task: TranslationTask & { bytes: Buffer },
  values: number,
  { organizationId, signal }: Translated,
): Promise<Buffer> {
  const isSmall = task.bytes.length <= MAX_INLINE.bytes && values <= MAX_INLINE.values;
  if (isSmall && !hasManyMarks(task.bytes)) return translateRequest(task);
  const translated = await SLOTS.run(organizationId, () => translateInPool(task), { signal });
  if (translated !== null) return translated;
  if (signal.aborted)
    throw new AssayError('client_closed_request', 'The client left before its request was translated');
  throw new AssayError('bodies_busy', 'The gateway has too many large requests to translate; try again');
}

async function translateInPool(task: TranslationTask & { bytes: Buffer }): Promise<Buffer> {
  pool ??= createThreadPool<TranslationTask, Uint8Array | TranslationFailure>({
    module: new URL('./translate-request.ts', import.meta.url),
    threadMemoryMb: THREAD_MEMORY_MB,
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: IDLE_MS,
  });
  const result = await pool.run(
    { ...task, bytes: await sharedInTurns(task.bytes) },
    { name: 'translateInThread' },
  );
  if (!(result instanceof Uint8Array)) throw new AssayError(result.code, result.message);
  return Buffer.from(result.buffer, result.byteOffset, result.byteLength);
}
