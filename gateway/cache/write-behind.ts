import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable } from '#platform/postgres/mod.ts';
import { settlesWithin } from '#platform/process/deadline.ts';

export type WriteBehindOptions<T> = {
  write(item: T): Promise<void>;
  bytesOf(item: T): number;
  /** Of items that wait; what comes on top is dropped. */
  maxBytes: number;
  log: Logger;
};

/** Writes things one after the other, after whoever put them has gone on. */
export type WriteBehind<T> = {
  /** Resolves, and never rejects, when the item is written or given up. */
  put(item: T): Promise<void>;
  /** Items given up since the start: no room for them, refused by Postgres, or left when it stopped. */
  readonly dropped: number;
  /** Writes what waits, for `withinMs` at most and not if Postgres is away; gives up the rest. */
  stop(withinMs: number): Promise<void>;
};

const RETRY_MS = 1_000;

type Waiting<T> = { item: T; bytes: number; settle(): void };
type Fate = 'written' | 'refused' | 'away';

/** While Postgres is away, items wait for it, as many as there is room for. */
export function createWriteBehind<T>(options: WriteBehindOptions<T>): WriteBehind<T> {
  const { write, bytesOf, maxBytes, log } = options;
  /** In the order they came; a set, so that the first one leaves it as cheaply as the last. */
  const queue = new Set<Waiting<T>>();
  const stopping = new AbortController();
  let queuedBytes = 0;
  let dropped = 0;
  let running: Promise<void> | null = null;

  async function tryWrite(item: T): Promise<Fate> {
    try {
      await write(item);
      return 'written';
    } catch (error) {
      log.warn({ error: describeError(error) }, 'an answer could not be written to the cache');
      return isStoreUnavailable(error) ? 'away' : 'refused';
    }
  }

  function remove(waiting: Waiting<T>, isWritten: boolean): void {
    if (!queue.delete(waiting)) return;
    queuedBytes -= waiting.bytes;
    if (!isWritten) dropped += 1;
    waiting.settle();
  }

  function giveUp(): void {
    for (const waiting of queue) remove(waiting, false);
  }

  async function drain(): Promise<void> {
    for (const waiting of queue) {
      let fate = await tryWrite(waiting.item);
      while (fate === 'away' && !stopping.signal.aborted) {
        await sleep(RETRY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
        fate = await tryWrite(waiting.item);
      }
      if (fate === 'away') giveUp();
      remove(waiting, fate === 'written');
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
      giveUp();
    },
  };
}
