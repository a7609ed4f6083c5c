/** Reads every outbox of this machine, over and over, and stores what it finds. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import {
  listOutboxes,
  type OutboxEntry,
  type OutboxPosition,
  type ReadLimits,
  readInterrupted,
  readOutbox,
  removeOutbox,
  takeAbandonedOutbox,
  trimOutbox,
} from '#platform/log-pipeline/outbox/mod.ts';
import { Backoff } from '#platform/process/backoff.ts';
import { dropCursor, moveCursor, readCursor } from './cursor.ts';
import { insertDeadLetter } from './dead-letters.ts';
import { BatchOvertakenError, type BatchResult, BatchStore, type BatchStoreOptions } from './store-batch.ts';

export type DrainOptions = BatchStoreOptions & {
  /** The directory of the outboxes. */
  root: string;
  limits?: ReadLimits;
  onStored(result: BatchResult): void;
};

const DEFAULT_LIMITS: ReadLimits = { maxEntries: 500, maxBytes: 8 * 1024 * 1024 };
/** How soon a new entry is seen when nothing was there: a listing of a few names, 0.1 ms of work. */
const IDLE_MS = 25;
const LOOK_EVERY_MS = 1_000;
/** Short at its longest too: what waits for Postgres to be back should not wait for this. */
const BACKOFF = { firstMs: 50, longestMs: 500 };

/** How far an outbox is stored, as its cursor in Postgres says, and how much further there is nothing to store. */
type Progress = { stored: OutboxPosition; read: OutboxPosition };

/** Drains outboxes until told to stop. */
export class Drain {
  readonly #options: DrainOptions;
  readonly #limits: ReadLimits;
  readonly #store: BatchStore;
  readonly #progress = new Map<string, Progress>();
  /** When to look again whether an outbox's gateway lives, on the monotonic clock. */
  readonly #nextLook = new Map<string, number>();
  #isStopping = false;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#store = new BatchStore(options);
  }

  /** Runs until `stop`, and then until nothing is left to read. Failures of the store are waited out. */
  async run(): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    for (;;) {
      try {
        const stored = await this.#pass();
        backoff.reset();
        if (stored > 0) continue;
        if (this.#isStopping) return;
        await sleep(IDLE_MS);
      } catch (error) {
        if (error instanceof BatchOvertakenError) {
          this.#progress.clear();
          continue;
        }
        const retryMs = backoff.next();
        this.#options.log.warn(
          { error: describeError(error), retryMs },
          'cannot store log entries; will try again',
        );
        if (this.#isStopping) return;
        await sleep(retryMs);
      }
    }
  }

  /** Lets `run` end once everything is stored. */
  stop(): void {
    this.#isStopping = true;
  }

  /** One batch of each outbox. Returns how many entries were settled. */
  async #pass(): Promise<number> {
    let settled = 0;
    for (const outboxId of await listOutboxes(this.#options.root)) settled += await this.#drainOnce(outboxId);
    return settled;
  }

  async #drainOnce(outboxId: string): Promise<number> {
    const directory = join(this.#options.root, outboxId);
    const { stored, read } = await this.#progressOf(outboxId);
    const { entries, next, damage } = await readOutbox(directory, read, this.#limits);
    if (entries.length === 0 && isSame(read, next)) {
      return await this.#removeIfAbandoned(outboxId, directory, { stored, read });
    }
    if (entries.length === 0 && damage === null) {
      // STARTs alone are worth no transaction: the cursor passes them with the next entry.
      this.#progress.set(outboxId, { stored, read: next });
      return 1;
    }
    if (damage !== null) await this.#storeDamage({ outboxId, from: stored, next, damage });
    else this.#options.onStored(await this.#storeEntries(outboxId, entries, stored, next));
    this.#progress.set(outboxId, { stored: next, read: next });
    if (next.segment !== stored.segment) await trimOutbox(directory, next);
    return Math.max(1, entries.length);
  }

  async #progressOf(outboxId: string): Promise<Progress> {
    const known = this.#progress.get(outboxId);
    if (known !== undefined) return known;
    const stored = await readCursor(this.#options.sql, outboxId);
    const progress = { stored, read: stored };
    this.#progress.set(outboxId, progress);
    return progress;
  }

  #storeEntries(
    outboxId: string,
    entries: OutboxEntry[],
    from: OutboxPosition,
    next: OutboxPosition,
  ): Promise<BatchResult> {
    // The cursor moves over the entries whose records its transaction holds, and over nothing else.
    const startOf = (first: number) => (first === 0 ? from : entries[first]!.position);
    const endOf = (end: number) => (end === entries.length ? next : entries[end]!.position);
    return this.#store.store({
      entries: entries.map((entry) => ({ ...entry, origin: originOf(outboxId, entry.position) })),
      alongside: (tx, first, end) => moveCursor(tx, outboxId, startOf(first), endOf(end)),
    });
  }

  /** Sets a damaged stretch aside as a dead letter, and moves the cursor behind it. */
  async #storeDamage(stretch: {
    outboxId: string;
    from: OutboxPosition;
    next: OutboxPosition;
    damage: { position: OutboxPosition; reason: string; bytes: Buffer };
  }): Promise<void> {
    const { outboxId, from, next, damage } = stretch;
    this.#options.log.error(
      { outboxId, ...damage.position, reason: damage.reason },
      'a stretch of the outbox cannot be read',
    );
    await this.#options.sql.begin(async (tx) => {
      await moveCursor(tx, outboxId, from, next);
      await insertDeadLetter(tx, {
        origin: originOf(outboxId, damage.position),
        organizationId: null,
        requestId: null,
        reason: `The outbox was damaged: ${damage.reason}`,
        entry: damage.bytes,
      });
    });
  }

  /** Looks, once a second at most, whether the gateway of an outbox that is read to its end still lives. */
  async #removeIfAbandoned(outboxId: string, directory: string, progress: Progress): Promise<number> {
    const now = this.#options.clock.monotonic();
    if (now < (this.#nextLook.get(outboxId) ?? 0)) return 0;
    this.#nextLook.set(outboxId, now + LOOK_EVERY_MS);
    const lock = takeAbandonedOutbox(directory);
    if (lock === null) return 0;
    try {
      // Its gateway is gone: what it wrote between our reading and its end is there now, and nothing can follow.
      const last = await readOutbox(directory, progress.read, { maxEntries: 1, maxBytes: 1 });
      if (last.entries.length > 0 || !isSame(last.next, progress.read)) {
        this.#nextLook.delete(outboxId);
        return 1;
      }
      if (last.damage !== null) {
        const { stored } = progress;
        await this.#storeDamage({ outboxId, from: stored, next: stored, damage: last.damage });
      }
      await this.#storeInterrupted(outboxId, directory);
      await removeOutbox(directory, lock);
    } finally {
      lock.release();
    }
    this.#progress.delete(outboxId);
    this.#nextLook.delete(outboxId);
    await dropCursor(this.#options.sql, outboxId);
    this.#options.log.info(
      { outboxId },
      'the outbox of a gateway that is gone was read to its end and removed',
    );
    return 1;
  }

  /** Stores the calls that were under way when the gateway was killed. Harmless when done twice: Postgres knows them. */
  async #storeInterrupted(outboxId: string, directory: string): Promise<void> {
    const interrupted = await readInterrupted(directory);
    for (let first = 0; first < interrupted.length; first += this.#limits.maxEntries) {
      const batch = interrupted.slice(first, first + this.#limits.maxEntries);
      const entries = batch.map((entry, index) => ({
        ...entry,
        origin: `${outboxId}/interrupted/${first + index}`,
      }));
      this.#options.onStored(await this.#store.store({ entries }));
    }
  }
}

function isSame(a: OutboxPosition, b: OutboxPosition): boolean {
  return a.segment === b.segment && a.offset === b.offset;
}

function originOf(outboxId: string, position: OutboxPosition): string {
  return `${outboxId}/${position.segment}/${position.offset}`;
}
