/**
 * Counts tokens in a thread of its own, by the vocabulary of OpenAI's models since 2024 (o200k). The thread is started
 * when it is first needed and ends when nobody needs it, as its vocabulary takes time and memory that most processes
 * have better uses for. What it does is bounded: in one text, at a time, and in all. Its failure is nobody else's.
 */
import type { Clock } from '#platform/process/clock.ts';
import { type Sample, sampleOf } from './sample.ts';

export type TokenCounter = {
  /** The tokens of each text; null where they could not be counted in time. Never rejects. */
  count(texts: readonly string[]): Promise<(number | null)[]>;
  close(): Promise<void>;
};

export type TokenCounterOptions = {
  clock: Clock;
  /** Told why texts could not be counted; at most once a minute. */
  onFailure(error: unknown): void;
  /** What the thread runs; default: worker.ts. */
  thread?: URL;
  /** How long the thread may take for what it is given at a time. */
  timeoutMs?: number;
};

const WORKER = new URL('./worker.ts', import.meta.url);
/** Characters that the thread is given at a time: some 50 ms of work, and 1.3 seconds if they are made to be slow. */
const CHARS_AT_ONCE = 128 * 1024;
/** How long one call of `count` may go on giving: who waits for it has others waiting behind. */
const BUDGET_MS = 2_000;
/** Beyond it something is wrong. Long, as a busy machine may take a second to start the thread. */
const TIMEOUT_MS = 5_000;
/** After a failure nobody waits for the next one for a while. */
const REST_MS = 60_000;
/** Calls at a time; those beyond are not counted. */
const MAX_CALLS = 16;
const IDLE_MS = 60_000;
const THREAD_MEMORY_MB = 256;

/** Makes a counter. Costs nothing until there is something to count. */
export function createTokenCounter(options: TokenCounterOptions): TokenCounter {
  const { clock, onFailure, thread = WORKER, timeoutMs = TIMEOUT_MS } = options;
  let pool: ReturnType<typeof openPool> | null = null;
  let calls = 0;
  let restUntil = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  async function countGroup(samples: readonly Sample[]): Promise<number[] | null> {
    if (isClosed || clock.monotonic() < restUntil) return null;
    try {
      pool ??= openPool();
      const texts = samples.map(({ text }) => text);
      const signal = AbortSignal.timeout(timeoutMs);
      return await (await pool).run(texts, { filename: thread.href, name: 'countEach', signal });
    } catch (error) {
      if (isClosed || clock.monotonic() < restUntil) return null;
      restUntil = clock.monotonic() + REST_MS;
      onFailure(error);
      return null;
    }
  }

  async function count(texts: readonly string[]): Promise<(number | null)[]> {
    const until = clock.monotonic() + BUDGET_MS;
    const counts: (number | null)[] = [];
    for (const samples of groupsOf(texts)) {
      const counted = clock.monotonic() < until ? await countGroup(samples) : null;
      for (const [index, { factor }] of samples.entries()) {
        counts.push(counted === null ? null : Math.round(counted[index]! * factor));
      }
    }
    return counts;
  }

  return {
    count: async (texts) => {
      if (calls >= MAX_CALLS) return texts.map(() => null);
      calls += 1;
      try {
        return await count(texts);
      } finally {
        calls -= 1;
      }
    },
    close: async () => {
      isClosed = true;
      await (await pool)?.destroy();
    },
  };
}

/** The samples of texts, as many together as the thread is given at a time. */
function* groupsOf(texts: readonly string[]): Generator<Sample[]> {
  let group: Sample[] = [];
  let chars = 0;
  for (const text of texts) {
    const sample = sampleOf(text);
    group.push(sample);
    chars += sample.text.length;
    if (chars < CHARS_AT_ONCE) continue;
    yield group;
    group = [];
    chars = 0;
  }
  if (group.length > 0) yield group;
}

/** Loads the library too: most processes never count. */
async function openPool() {
  const { createThreadPool } = await import('#platform/process/thread-pool.ts');
  return createThreadPool<string[], number[]>({
    threadMemoryMb: THREAD_MEMORY_MB,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
  });
}
