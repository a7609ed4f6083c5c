/** Reads the outboxes of this machine continuously, and stores their entries. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import {
  FailingOutboxes,
  isSamePosition,
  listOutboxes,
  type OutboxPosition,
  onFiles,
  type ReadLimits,
  type ReadResult,
  readInterrupted,
  readOutbox,
  removeOutbox,
  takeAbandonedOutbox,
  trimOutbox,
} from '#platform/log-pipeline/outbox/mod.ts';
import { FailureLog } from '#platform/observability/failure-log.ts';
import { Backoff } from '#platform/process/backoff.ts';
import { dropCursor, moveCursor, readCursor } from './cursor.ts';
import { insertDeadLetter, originOf } from './dead-letters.ts';
import { DrainPauses, LOOK_EVERY_MS } from './drain-pauses.ts';
import type { PreparedEntries } from './prepare-batch.ts';
import {
  BATCH_EVERY_MS,
  BatchOvertakenError,
  type BatchResult,
  BatchStore,
  type BatchStoreOptions,
} from './store-batch.ts';

export type DrainOptions = BatchStoreOptions & {
  /** The directory of the outboxes. */
  root: string;
  limits?: ReadLimits;
  onStored(result: BatchResult): void;
  /** Receives after each batch whether entries are waiting. */
  onPace?(isBehind: boolean): void;
};

const DEFAULT_LIMITS: ReadLimits = { maxEntries: 500, maxBytes: 8 * 1024 * 1024 };
/** Outboxes whose next batch is read ahead, at most: each takes memory. */
const MOST_AHEAD = 4;
/** Short at its longest too: entries that waited for Postgres to return should not wait for the next retry as well. */
const BACKOFF = { firstMs: 50, longestMs: 500 };

/** The stored position of an outbox, its cursor in Postgres, and the position read, up to which nothing else needs storing. */
type Progress = { stored: OutboxPosition; read: OutboxPosition };

/** The result of reading an outbox. */
type Read = ReadResult & { prepared: PreparedEntries };

/** Result of a look at outboxes; `more`: there is a next batch already. */
type Found = 'nothing' | 'some' | 'more';

/** Drains outboxes until it is stopped. */
export class Drain {
  readonly #options: DrainOptions;
  readonly #failures: FailureLog;
  readonly #limits: ReadLimits;
  readonly #store: BatchStore;
  readonly #progress = new Map<string, Progress>();
  /** The next batches of outboxes, read while the ones before them were stored. */
  readonly #ahead = new Map<string, { from: OutboxPosition; batch: Promise<Read> }>();
  /** The times of the next checks whether an outbox's gateway is alive, on the monotonic clock. */
  readonly #nextLook = new Map<string, number>();
  readonly #failing: FailingOutboxes;
  /** Outboxes of living gateways that end in damage behind which nothing can be read yet. */
  readonly #heldUp = new Set<string>();
  readonly #pauses: DrainPauses;
  #isStopping = false;

  constructor(options: DrainOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.#store = new BatchStore(options);
    const { root, log, clock } = options;
    this.#failures = new FailureLog(log, clock.monotonic);
    this.#failing = new FailingOutboxes({ root, log, monotonic: clock.monotonic });
    this.#pauses = new DrainPauses(root, clock);
  }

  /** Outboxes that could not be read, or only up to damage, when they were last tried. */
  get failingOutboxes(): number {
    return this.#failing.count + this.#heldUp.size;
  }

  /** Runs until `stop`, and then until nothing is left that can be read. Failures of Postgres are retried. */
  async run(): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    for (;;) {
      try {
        const { clock } = this.#options;
        const beganAt = clock.monotonic();
        const found = await this.#pass();
        backoff.reset();
        if (found !== 'nothing') this.#pauses.noteFound(beganAt);
        this.#options.onPace?.(found === 'more');
        if (found === 'more') continue;
        if (this.#isStopping) {
          if (found === 'nothing') break;
          continue;
        }
        if (found === 'nothing') await this.#pauses.wait();
        else await sleep(Math.max(0, beganAt + BATCH_EVERY_MS - clock.monotonic()));
      } catch (error) {
        if (error instanceof BatchOvertakenError) {
          this.#progress.clear();
          continue;
        }
        const retryMs = backoff.next();
        const fields = { error: describeError(error), retryMs };
        this.#failures.note('warn', fields, 'cannot store log entries; will try again');
        if (this.#isStopping) break;
        await sleep(retryMs);
      }
    }
    this.#pauses[Symbol.dispose]();
  }

  /** Lets `run` end once everything is stored. */
  stop(): void {
    this.#isStopping = true;
    this.#pauses.wake();
  }

  /** Drains one batch of each outbox that can be read. */
  async #pass(): Promise<Found> {
    let found: Found = 'nothing';
    const outboxIds = await listOutboxes(this.#options.root);
    this.#keepAheadOf(outboxIds);
    this.#failing.keepOnly(outboxIds);
    for (const outboxId of this.#heldUp) if (!outboxIds.includes(outboxId)) this.#heldUp.delete(outboxId);
    for (const outboxId of outboxIds) {
      const one = await this.#failing.attempt('read', outboxId, () => this.#drainOnce(outboxId));
      if (one !== null && (found === 'nothing' || one === 'more')) found = one;
    }
    return found;
  }

  async #drainOnce(outboxId: string): Promise<Found> {
    const directory = join(this.#options.root, outboxId);
    const { stored, read } = await this.#progressOf(outboxId);
    const batch = await this.#read(outboxId, read);
    const { entries, next, damage, hasMore } = batch;
    const found = hasMore ? 'more' : 'some';
    if (entries.length === 0 && isSamePosition(read, next)) {
      if (await this.#removeIfAbandoned(outboxId, directory, { stored, read })) return 'more';
      this.#noteHeldUp(outboxId, damage);
      return 'nothing';
    }
    this.#heldUp.delete(outboxId);
    if (entries.length === 0 && damage === null) {
      // STARTs alone need no transaction: the cursor passes them with the next entry.
      // A cursor that has not begun is in segment 0, and the first is 1.
      if (next.segment <= Math.max(stored.segment, 1)) {
        this.#progress.set(outboxId, { stored, read: next });
        return found;
      }
      // The end of a segment has one, so that the segment is removed even if no entry follows for days.
      await this.#options.sql.begin((tx) => moveCursor(tx, outboxId, stored, next, 0));
    } else if (damage !== null) await this.#storeDamage({ outboxId, from: stored, next, damage });
    else this.#options.onStored(await this.#storeEntries(outboxId, batch, stored));
    this.#progress.set(outboxId, { stored: next, read: next });
    if (next.segment !== stored.segment) await onFiles(() => trimOutbox(directory, next));
    return found;
  }

  async #progressOf(outboxId: string): Promise<Progress> {
    const known = this.#progress.get(outboxId);
    if (known !== undefined) return known;
    const stored = await readCursor(this.#options.sql, outboxId);
    const progress = { stored, read: stored };
    this.#progress.set(outboxId, progress);
    return progress;
  }

  /** Returns the batch that begins at `from`, which may have been read ahead. */
  async #read(outboxId: string, from: OutboxPosition): Promise<Read> {
    const ahead = this.#ahead.get(outboxId);
    this.#ahead.delete(outboxId);
    const isNext = ahead !== undefined && isSamePosition(ahead.from, from);
    return await (isNext ? ahead.batch : this.#readAnew(outboxId, from));
  }

  /** Drops what was read ahead of other outboxes: another process has removed them. */
  #keepAheadOf(outboxIds: readonly string[]): void {
    for (const outboxId of this.#ahead.keys())
      if (!outboxIds.includes(outboxId)) this.#ahead.delete(outboxId);
  }

  async #readAnew(outboxId: string, from: OutboxPosition): Promise<Read> {
    const directory = join(this.#options.root, outboxId);
    const result = await onFiles(() => readOutbox(directory, from, this.#limits));
    const prepared = await this.#store.prepare(
      result.entries.map((entry) => ({ ...entry, origin: originOf(outboxId, entry.position) })),
    );
    return { ...result, prepared };
  }

  #readAhead(outboxId: string, from: OutboxPosition): void {
    const batch = this.#readAnew(outboxId, from);
    // A failure is thrown where the batch is taken.
    batch.catch(() => {});
    this.#ahead.set(outboxId, { from, batch });
  }

  #storeEntries(
    outboxId: string,
    { entries, prepared, next, hasMore }: Read,
    from: OutboxPosition,
  ): Promise<BatchResult> {
    // The cursor moves over exactly the entries whose records are in its transaction.
    const startOf = (first: number) => (first === 0 ? from : entries[first]!.position);
    const endOf = (end: number) => (end === entries.length ? next : entries[end]!.position);
    return this.#store.storePrepared(prepared, {
      alongside: (tx, first, end) => moveCursor(tx, outboxId, startOf(first), endOf(end), end - first),
      meanwhile: () => {
        if (hasMore && !this.#ahead.has(outboxId) && this.#ahead.size < MOST_AHEAD)
          this.#readAhead(outboxId, next);
      },
    });
  }

  /** Logs, once, that damage holds up an outbox that is still written to. Null: it holds up nothing. */
  #noteHeldUp(outboxId: string, damage: ReadResult['damage']): void {
    if (damage === null) return void this.#heldUp.delete(outboxId);
    if (this.#heldUp.has(outboxId)) return;
    this.#heldUp.add(outboxId);
    this.#options.log.error(
      { outboxId, ...damage.position, reason: damage.reason },
      'an outbox is damaged: its entries wait until its process begins another segment, or ends',
    );
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
      'a damaged stretch of the outbox becomes a dead letter',
    );
    await this.#options.sql.begin(async (tx) => {
      await moveCursor(tx, outboxId, from, next, 0);
      await insertDeadLetter(tx, {
        origin: originOf(outboxId, damage.position),
        organizationId: null,
        requestId: null,
        reason: `The outbox was damaged: ${damage.reason}`,
        entry: damage.bytes,
      });
    });
  }

  /**
   * Removes an outbox that is read to its end if its gateway is gone. One that lives is asked once a second at most. Returns
   * whether something was done.
   */
  async #removeIfAbandoned(outboxId: string, directory: string, progress: Progress): Promise<boolean> {
    const now = this.#options.clock.monotonic();
    if (now < (this.#nextLook.get(outboxId) ?? 0)) return false;
    const lock = await onFiles(() => takeAbandonedOutbox(directory));
    if (lock === null) {
      this.#nextLook.set(outboxId, now + LOOK_EVERY_MS);
      return false;
    }
    try {
      // The gateway is gone. Entries that it wrote after the last reading are visible now, and no more can follow.
      const last = await onFiles(() => readOutbox(directory, progress.read, { maxEntries: 1, maxBytes: 1 }));
      if (last.entries.length > 0 || !isSamePosition(last.next, progress.read)) return true;
      if (last.damage !== null) {
        const { stored } = progress;
        await this.#storeDamage({ outboxId, from: stored, next: stored, damage: last.damage });
      }
      await this.#storeInterrupted(outboxId, directory);
      await onFiles(() => removeOutbox(directory, lock));
    } finally {
      lock.release();
    }
    this.#progress.delete(outboxId);
    this.#nextLook.delete(outboxId);
    await dropCursor(this.#options.sql, outboxId);
    this.#options.log.info(
      { outboxId },
      'removed the outbox of a gateway that is gone, after reading it to its end',
    );
    return true;
  }

  /** Stores the calls that were under way when the gateway was killed. Harmless when repeated: Postgres has them already. */
  async #storeInterrupted(outboxId: string, directory: string): Promise<void> {
    const interrupted = await onFiles(() => readInterrupted(directory));
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
