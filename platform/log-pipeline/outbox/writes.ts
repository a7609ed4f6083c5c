/** Waits for writes to outboxes without looking at them again and again: the kernel tells (inotify, FSEvents). */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { listOutboxes } from './layout.ts';

/** Longest wait for a write: a file system that is not the machine's own may tell of none. */
const LOOK_ANYWAY_MS = 1_000;
/**
 * Shortest wait, and the delay until the next look where directories cannot be watched. A look lists a few names in 0.1 ms; one
 * after each piece of a large entry would read it as often, to find it incomplete.
 */
const LEAST_MS = 25;

/**
 * The writes to the outboxes below a directory, by any process.
 * @example while (isRunning) if (!(await look())) await writes.wait();
 */
export class OutboxWrites implements Disposable {
  readonly #root: string;
  readonly #lookAnywayMs: number;
  #watchers: FSWatcher[] = [];
  /** A write was announced since the directories were listed, or they cannot be watched. */
  #isAnnounced = false;
  #isWoken = false;
  #wake: () => void = () => {};

  /** @param root directory of the outboxes: a new outbox counts as a write */
  constructor(root: string, { lookAnywayMs = LOOK_ANYWAY_MS }: { lookAnywayMs?: number } = {}) {
    this.#root = root;
    this.#lookAnywayMs = lookAnywayMs;
  }

  /**
   * Waits until something may have been written since the last wait began: between two waits, the caller looks. It is short when
   * nothing was watched before, as what was written since the caller's look has not been announced.
   * @param mostMs when to look anyway
   * @returns whether the whole time passed without an announced write
   */
  async wait(mostMs = this.#lookAnywayMs): Promise<boolean> {
    const beganAt = performance.now();
    let hasTimedOut = false;
    if (this.#watchers.length > 0) {
      await this.#pause(mostMs);
      hasTimedOut = !this.#isAnnounced && !this.#isWoken;
      await this.#pause(beganAt + LEAST_MS - performance.now());
    } else if (!(await this.#watchAll())) await this.#pause(LEAST_MS);
    this.#isWoken = false;
    return hasTimedOut;
  }

  /** Ends the wait that is under way, or the next one. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }

  /** Returns whether all directories are watched, and nothing has been announced yet. */
  async #watchAll(): Promise<boolean> {
    this.#isAnnounced = false;
    try {
      this.#watch(this.#root);
      for (const id of await listOutboxes(this.#root)) this.#watchUnlessDenied(join(this.#root, id));
    } catch {
      // A directory is missing, or the kernel watches no more of them.
      this.#isAnnounced = true;
    }
    if (this.#isAnnounced) this[Symbol.dispose]();
    return !this.#isAnnounced;
  }

  /** Watches an outbox. One that this process may not read, as with a wrong owner, must not make it look again and again. */
  #watchUnlessDenied(directory: string): void {
    try {
      this.#watch(directory);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EACCES') throw error;
    }
  }

  #watch(directory: string): void {
    // The first write ends the watch: under load, an announcement of each would cost more than the look.
    const tell = () => {
      this.#isAnnounced = true;
      this[Symbol.dispose]();
      this.#wake();
    };
    this.#watchers.push(watch(directory, { persistent: false }, tell).on('error', tell));
  }

  async #pause(mostMs: number): Promise<void> {
    if (this.#isWoken || mostMs <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mostMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
