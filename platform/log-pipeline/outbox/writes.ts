/** Waits for writes to outboxes without looking at them again and again: the kernel tells (inotify, FSEvents). */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { listOutboxes } from './layout.ts';

/** Longest wait for a write: a file system that is not the machine's own may tell of none. */
const LOOK_ANYWAY_MS = 1_000;
/** Delay until the next look where directories cannot be watched. A look lists a few names in 0.1 ms. */
const UNWATCHED_MS = 25;

/**
 * The writes to the outboxes below a directory, by any process.
 * @example while (isRunning) if (!(await look())) await writes.wait();
 */
export class OutboxWrites implements Disposable {
  readonly #root: string;
  readonly #lookAnywayMs: number;
  #watchers: FSWatcher[] = [];
  #wake: () => void = () => {};

  /** @param root directory of the outboxes: a new outbox counts as a write */
  constructor(root: string, { lookAnywayMs = LOOK_ANYWAY_MS }: { lookAnywayMs?: number } = {}) {
    this.#root = root;
    this.#lookAnywayMs = lookAnywayMs;
  }

  /**
   * Waits until something may have been written since the last wait began: between two waits, the caller looks. Resolves at once
   * when nothing was watched before, as what was written since the caller's look has not been told.
   */
  async wait(): Promise<void> {
    if (this.#watchers.length === 0) await this.#watchAll();
    else await this.#pause(this.#lookAnywayMs);
  }

  /** Ends the wait that is under way, if there is one. */
  wake(): void {
    this.#wake();
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }

  async #watchAll(): Promise<void> {
    try {
      this.#watch(this.#root);
      for (const id of await listOutboxes(this.#root)) this.#watch(join(this.#root, id));
    } catch {
      // A directory is missing, or the kernel watches no more of them.
      this[Symbol.dispose]();
      await this.#pause(UNWATCHED_MS);
    }
  }

  #watch(directory: string): void {
    // The first write ends the watch: under load, to be told of each would cost more than the look.
    const tell = () => {
      this[Symbol.dispose]();
      this.#wake();
    };
    this.#watchers.push(watch(directory, { persistent: false }, tell).on('error', tell));
  }

  async #pause(mostMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mostMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
