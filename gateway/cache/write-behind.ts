/** The queue of responses on their way to Postgres. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable } from '#platform/postgres/mod.ts';
import { Backoff } from '#platform/process/backoff.ts';
import { settlesWithin } from '#platform/process/deadline.ts';

export type WriteBehindOptions<T> = {
  write(item: T): Promise<void>;
  bytesOf(item: T): number;
  /** Size of the queue; items that do not fit are dropped. */
  maxBytes: number;
  log: Logger;
};

/** A queue of items that are written one after the other, while their callers go on. */
export type WriteBehind<T> = {
  /** Queues an item. Resolves, and never rejects, when the item is written or dropped. */
  put(item: T): Promise<void>;
  /** Items dropped since the start: the queue was full, Postgres refused them, or they were left when it stopped. */
  readonly dropped: number;
  /** Writes the queue for at most `withinMs`, unless Postgres is away; drops the rest. */
  stop(withinMs: number): Promise<void>;
};

/** Before an item is tried again, while Postgres is away. Shorter only fills the log; longer fills the queue. */
const RETRY = { firstMs: 250, longestMs: 2_000 };

type QueuedItem<T> = { item: T; bytes: number; settle(): void };
type WriteOutcome = 'written' | 'refused' | 'away';

/** Makes a queue. While Postgres is away, items wait, as many as fit into `maxBytes`. */
export function createWriteBehind<T>(options: WriteBehindOptions<T>): WriteBehind<T> {
  const { write, bytesOf, maxBytes, log } = options;
  /** In order of arrival. A set, because removing the first item of an array costs more the longer it is. */
  const queue = new Set<QueuedItem<T>>();
  const stopping = new AbortController();
  let queuedBytes = 0;
  let dropped = 0;
  let running: Promise<void> | null = null;

  async function tryWrite(item: T): Promise<WriteOutcome> {
    try {
      await write(item);
      return 'written';
    } catch (error) {
      log.warn({ error: describeError(error) }, 'Cannot write a response to the cache');
      return isStoreUnavailable(error) ? 'away' : 'refused';
    }
  }

  function remove(waiting: QueuedItem<T>, isWritten: boolean): void {
    if (!queue.delete(waiting)) return;
    queuedBytes -= waiting.bytes;
    if (!isWritten) dropped += 1;
    waiting.settle();
  }

  function dropAll(): void {
    for (const waiting of queue) remove(waiting, false);
  }

  async function drain(): Promise<void> {
    const backoff = new Backoff(RETRY);
    for (const waiting of queue) {
      let outcome = await tryWrite(waiting.item);
      while (outcome === 'away' && !stopping.signal.aborted) {
        await sleep(backoff.next(), undefined, { signal: stopping.signal, ref: false }).catch(() => {});
        outcome = await tryWrite(waiting.item);
      }
      backoff.reset();
      if (outcome === 'away') dropAll();
      remove(waiting, outcome === 'written');
    }
    running = null;
  }

  return {
    put: (item) => {
      const bytes = bytesOf(item);
      if (stopping.signal.aborted || queuedBytes + bytes > maxBytes) {
        dropped += 1;
        return Promise.resolve();
      }
      queuedBytes += bytes;
      return new Promise((settle) => {
        queue.add({ item, bytes, settle });
        running ??= drain();
      });
    },
    get dropped() {
      return dropped;
    },
    stop: async (withinMs) => {
      stopping.abort();
      if (running === null) return;
      await settlesWithin(running, withinMs);
      dropAll();
    },
  };
}
