import { OutboxWrites } from '#platform/log-pipeline/outbox/mod.ts';
import type { Clock } from '#platform/process/clock.ts';

/** Time between looks at outboxes, unless the file system announces a write. */
export const LOOK_EVERY_MS = 1_000;
/**
 * The same once nothing was found for `IDLE_AFTER_MS`. The outbox of a killed gateway is found then, too: its next process
 * announces itself by making another.
 */
const IDLE_LOOK_EVERY_MS = 10_000;
const IDLE_AFTER_MS = 60_000;

/** The pauses of a drain that has found nothing. They end early when the file system announces a write to an outbox. */
export class DrainPauses {
  readonly #writes: OutboxWrites;
  readonly #clock: Clock;
  /** When entries were last found, on the monotonic clock. */
  #foundAt: number;
  /** The last pause ended by its time: no write was announced in it. */
  #hasTimedOut = false;
  /** Entries were found that had not been announced, so this file system cannot be relied on. */
  #isUnannounced = false;

  /** @param root the directory of the outboxes */
  constructor(root: string, clock: Clock) {
    this.#writes = new OutboxWrites(root);
    this.#clock = clock;
    this.#foundAt = clock.monotonic();
  }

  /** Notes that a look found entries. @param at when it began, on the monotonic clock */
  noteFound(at: number): void {
    this.#foundAt = at;
    if (this.#hasTimedOut) this.#isUnannounced = true;
    this.#hasTimedOut = false;
  }

  /** Resolves when it is time for another look. */
  async wait(): Promise<void> {
    const isIdle = this.#clock.monotonic() - this.#foundAt > IDLE_AFTER_MS;
    this.#hasTimedOut = await this.#writes.wait(
      isIdle && !this.#isUnannounced ? IDLE_LOOK_EVERY_MS : LOOK_EVERY_MS,
    );
  }

  /** Ends the pause under way, or the next one. */
  wake(): void {
    this.#writes.wake();
  }

  [Symbol.dispose](): void {
    this.#writes[Symbol.dispose]();
  }
}
