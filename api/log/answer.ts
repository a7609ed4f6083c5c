import { AssayError } from '#core/contracts/errors.ts';
import { createThreadPool } from '#platform/process/thread-pool.ts';
import { type AnswerForm, formOfStream } from './stream-form.ts';

/** Fields and comments of an event stream; no JSON begins like this. */
const EVENT_STREAM = /^\ufeff?\s*(?:data|event|id|retry)?:/;
/** A stream is recognized within so many bytes. */
const BEGINNING_BYTES = 4 * 1024;

/** The form of a response that was logged as an object. */
export const JSON_ANSWER: AnswerForm = { stream: false, truncated: false, contentType: 'application/json' };

/** Up to this size a stream is assembled in a few milliseconds at worst; a larger one is assembled in a thread. */
const LARGEST_ASSEMBLED_HERE = 64 * 1024;
/** A thread starts in some 50 ms. */
const IDLE_MS = 60_000;
/** Ten times the largest text. No real response takes more when its events are parsed. */
const THREAD_MEMORY_MB = 512;

let pool: ReturnType<typeof openPool> | null = null;

/**
 * Returns the form of a response that was logged as text. A stream is assembled in every dialect that the gateway relays;
 * one of another dialect, or of which nothing can be assembled, is kept as text.
 */
export async function formOfText(text: Buffer): Promise<AnswerForm> {
  if (!EVENT_STREAM.test(text.toString('utf8', 0, BEGINNING_BYTES)))
    return { stream: false, truncated: false, contentType: null };
  if (text.length <= LARGEST_ASSEMBLED_HERE) return formOfStream(text);
  pool ??= openPool();
  try {
    return await pool.run(text, { name: 'formOfStream' });
  } catch (error) {
    // No thread could be started: the caller tries again, and the answer is logged as what it is.
    if (error instanceof AssayError) throw error;
    // The thread ran out of memory, which no real response causes.
    return { stream: false, truncated: false, contentType: 'text/event-stream' };
  }
}

function openPool() {
  return createThreadPool<Buffer, AnswerForm>({
    module: new URL('./stream-form.ts', import.meta.url),
    threadMemoryMb: THREAD_MEMORY_MB,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
  });
}
