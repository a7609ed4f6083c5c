/**
 * Counts tokens in a thread of its own, by the vocabulary of OpenAI's models since 2024 (o200k). The thread is started
 * when it is first needed and ends when it is idle: the vocabulary takes time and memory, and most processes never count.
 * The work is bounded for one text, for one group of texts, and in all. A failure only leaves texts uncounted.
 */
import type { Clock } from '#platform/process/clock.ts';
import { type Sample, sampleOf } from './sample.ts';

/** Counts tokens of texts. */
export type TokenCounter = {
  /** Returns the number of tokens of each text; null where it could not be counted in time. Never rejects. */
  count(texts: readonly string[]): Promise<(number | null)[]>;
  close(): Promise<void>;
};

export type TokenCounterOptions = {
  clock: Clock;
  /** Receives the reason why texts could not be counted; at most once a minute. */
  onFailure(error: unknown): void;
  /** The module of the thread; default: worker.ts. */
  thread?: URL;
  /** Maximum time of the thread for one group of texts. */
  timeoutMs?: number;
};

const WORKER = new URL('./worker.ts', import.meta.url);
/** Characters in one group: about 50 ms of work, and 1.3 seconds for texts made to be slow. */
const CHARS_AT_ONCE = 128 * 1024;
/** Time after which one call of `count` starts no further group, because other entries wait for it. */
const BUDGET_MS = 2_000;
/** Longer means that something is wrong. */
const TIMEOUT_MS = 5_000;
/** The same for the start of the thread: 0.2 seconds, or 5 and more on a machine whose processors are all busy. */
const START_TIMEOUT_MS = 60_000;
/** After a failure nothing is counted for this long, so that not every batch waits for a timeout. */
const REST_MS = 60_000;
/** Concurrent calls; the texts of further ones are not counted. */
const MAX_CALLS = 16;
const IDLE_MS = 60_000;
const THREAD_MEMORY_MB = 256;

/** Makes a counter. Costs nothing until there is something to count. */
export function createTokenCounter(options: TokenCounterOptions): TokenCounter {
  const { clock, onFailure, thread = WORKER, timeoutMs = TIMEOUT_MS } = options;
  let pool: Awaited<ReturnType<typeof openPool>> | null = null;
  let starting: Promise<unknown> | null = null;
  let calls = 0;
  let restUntil = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  async function countGroup(texts: string[], limitMs = timeoutMs): Promise<number[] | null> {
    if (isClosed || clock.monotonic() < restUntil) return null;
    try {
      pool ??= await openPool();
      const signal = AbortSignal.timeout(limitMs);
      return await pool.run(texts, { filename: thread.href, name: 'countEach', signal });
    } catch (error) {
      if (isClosed || clock.monotonic() < restUntil) return null;
      restUntil = clock.monotonic() + REST_MS;
      onFailure(error);
      return null;
    }
  }

  /** Waits for the thread, apart from any texts: its start is no reason to leave them uncounted. */
  async function awaitThread(): Promise<void> {
    if (starting === null && pool !== null && pool.threads.length > 0) return;
    starting ??= countGroup([], START_TIMEOUT_MS).finally(() => {
      starting = null;
    });
    await starting;
  }

  async function count(texts: readonly string[]): Promise<(number | null)[]> {
    await awaitThread();
    const until = clock.monotonic() + BUDGET_MS;
    const counts: (number | null)[] = [];
    for (const samples of groupsOf(texts)) {
      const counted = clock.monotonic() < until ? await countGroup(samples.map(({ text }) => text)) : null;
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
      await pool?.destroy();
    },
  };
}

/** Yields the samples of texts in groups for the thread. */
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

/** Opens the pool. Its library is loaded here because most processes never count. */
async function openPool() {
  const { createThreadPool } = await import('#platform/process/thread-pool.ts');
  return createThreadPool<string[], number[]>({
    threadMemoryMb: THREAD_MEMORY_MB,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
  });
}
