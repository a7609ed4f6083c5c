/**
 * The writing side of an outbox: frames are appended to segment files with group commit.
 *
 * Why files of our own and not a database: an entry costs a third of the CPU that SQLite's WAL takes for it, and no
 * checkpoint stops the calls under way (`npm run bench outbox` shows both); trimming is an unlink; a reader needs no lock.
 *
 * What "committed" means: the bytes are with the operating system, so no death of any process loses them
 * (`sync: 'process'`), or on the disk itself, so a power cut does not either (`sync: 'disk'`).
 */
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '#core/contracts/errors.ts';
import { EMPTY_ENTRY, type LogEntry } from '#core/contracts/log-entry-codec.ts';
import type { Logger } from '../../observability/log.ts';
import { type Lock, tryLock } from '../../process/process-lock.ts';
import { type EncodedFrame, encodeFrame, MAX_FRAME_BYTES } from './frame.ts';
import { bytesBelow, OWNER_LOCK, UNFINISHED_PREFIX } from './layout.ts';
import { type CallKey, OpenCalls } from './open-calls.ts';
import { SegmentWriter } from './segment-writer.ts';

export type OutboxOptions = {
  /** The directory that holds the outboxes of every gateway on this machine. */
  root: string;
  /** A new ULID: one outbox for one life of one process. */
  id: string;
  /** The bound on bytes on disk below `root`; beyond it entries are refused. */
  maxBytes: number;
  sync: 'process' | 'disk';
  log: Logger;
  /** A segment is closed when it is larger; smaller in tests. */
  segmentBytes?: number;
};

export type Outbox = {
  /**
   * Commits a START: `entry` is what will be stored of the call if this process dies before `append`. Resolves with
   * whether it was kept, never rejects: the call is made either way. Takes up to half of the bound only, so that in a
   * long backlog the room is for what was answered.
   * @param key not open already; exactly one `append` follows
   */
  begin(key: CallKey, entry: LogEntry): Promise<boolean>;
  /**
   * Appends one entry, and closes the START of `key` if there is one, even when the entry is not kept. Resolves with
   * true when it is committed, with false when it could not be kept (bound reached, disk full or failing, larger than a
   * frame), which is counted in `refused`. Never rejects: the answer must go out either way.
   */
  append(key: CallKey, entry: LogEntry): Promise<boolean>;
  /** Closes the START of `key` instead: nothing is to be stored of the call. Not counted as refused. */
  discard(key: CallKey): void;
  /** Entries that `append` refused since the start. */
  readonly refused: number;
  /** Waits for pending appends and lets go of the files. */
  close(): Promise<void>;
};

const DEFAULT_SEGMENT_BYTES = 64 * 1024 * 1024;
const MAX_GROUP_FRAMES = 256;
const MAX_GROUP_BYTES = 64 * 1024 * 1024;
const MEASURE_EVERY_MS = 1_000;
const BEGUN_SHARE_OF_BOUND = 0.5;

type Pending = { frame: EncodedFrame; settle: (kept: boolean) => void };

class OutboxWriter implements Outbox {
  refused = 0;
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #log: Logger;
  readonly #lock: Lock;
  readonly #segments: SegmentWriter;
  readonly #measuring: NodeJS.Timeout;
  readonly #calls = new OpenCalls();
  #pending: Pending[] = [];
  #running: Promise<void> | null = null;
  /** In this turn of the event loop. */
  #hasWritten = false;
  /** The last write was of several frames. */
  #isBusy = false;
  /** The numbers of calls whose void could not be written yet. Their STARTs are on disk, which bounds them. */
  #unwrittenVoids: number[] = [];
  /** Bytes on disk below the root: measured every second, and counted up in between. */
  #bytesOnDisk = 0;

  constructor(options: OutboxOptions, directory: string, lock: Lock) {
    const { root, maxBytes, sync, log, segmentBytes = DEFAULT_SEGMENT_BYTES } = options;
    this.#root = root;
    this.#maxBytes = maxBytes;
    this.#log = log;
    this.#lock = lock;
    const firstFrames = () => this.#calls.starts();
    this.#segments = new SegmentWriter({ directory, sync, segmentBytes, firstFrames, log });
    this.#measuring = setInterval(() => void this.measure(), MEASURE_EVERY_MS);
    this.#measuring.unref();
  }

  async measure(): Promise<void> {
    try {
      this.#bytesOnDisk = await bytesBelow(this.#root);
    } catch (error) {
      this.#log.warn({ error: describeError(error) }, 'cannot measure the outbox');
    }
  }

  begin(key: CallKey, entry: LogEntry): Promise<boolean> {
    const number = this.#calls.nextNumber();
    const start = encodeFrame({ kind: 'begun', call: number, entry });
    if (!this.#hasRoom(start, this.#maxBytes * BEGUN_SHARE_OF_BOUND)) return Promise.resolve(false);
    const call = this.#calls.open(key, number, start);
    return this.#enqueue(start, (kept) => {
      if (kept) call.isKept = true;
      else this.#calls.close(key);
    });
  }

  append(key: CallKey, entry: LogEntry): Promise<boolean> {
    const frame = encodeFrame({ kind: 'finished', call: this.#calls.numberOf(key), entry });
    if (!this.#hasRoom(frame, this.#maxBytes)) {
      this.#refuse(key);
      return Promise.resolve(false);
    }
    return this.#enqueue(frame, (kept) => {
      if (kept) this.#calls.close(key);
      else this.#refuse(key);
    });
  }

  #hasRoom(frame: EncodedFrame, maxBytes: number): boolean {
    return frame.bytes <= MAX_FRAME_BYTES && this.#bytesOnDisk + frame.bytes <= maxBytes;
  }

  #refuse(key: CallKey): void {
    this.refused += 1;
    this.discard(key);
  }

  discard(key: CallKey): void {
    const call = this.#calls.numberOf(key);
    this.#calls.close(key);
    // Served and not logged: it must not come up as interrupted either.
    if (call !== 0) this.#writeVoid(call);
  }

  /** Not held against the bound: it is 24 bytes. */
  #writeVoid(call: number): void {
    void this.#enqueue(encodeFrame({ kind: 'void', call, entry: EMPTY_ENTRY }), (kept) => {
      if (!kept) this.#unwrittenVoids.push(call);
    });
  }

  #enqueue(frame: EncodedFrame, settled: (kept: boolean) => void): Promise<boolean> {
    this.#bytesOnDisk += frame.bytes;
    return new Promise((resolve) => {
      const settle = (kept: boolean) => {
        settled(kept);
        resolve(kept);
      };
      this.#pending.push({ frame, settle });
      this.#running ??= this.#hasWritten || this.#isBusy ? this.#drainAfterTurn() : this.#drainNow();
    });
  }

  /** A gateway with little to do writes the first of a turn of the event loop at once, and answers that much sooner. */
  #drainNow(): Promise<void> {
    this.#hasWritten = true;
    setImmediate(() => {
      this.#hasWritten = false;
    });
    return this.#drain();
  }

  /** All that follows in the same turn shares one write. */
  #drainAfterTurn(): Promise<void> {
    return new Promise((done) => setImmediate(() => this.#drain().finally(done)));
  }

  async #drain(): Promise<void> {
    while (this.#pending.length > 0) {
      const group = this.#takeGroup();
      this.#isBusy = group.length > 1;
      const kept = await this.#segments.commit(group.map(({ frame }) => frame));
      for (const { settle } of group) settle(kept);
      if (kept) for (const call of this.#unwrittenVoids.splice(0)) this.#writeVoid(call);
    }
    this.#running = null;
  }

  #takeGroup(): Pending[] {
    let bytes = 0;
    let count = 0;
    for (const { frame } of this.#pending) {
      bytes += frame.bytes;
      if (count > 0 && (bytes > MAX_GROUP_BYTES || count === MAX_GROUP_FRAMES)) break;
      count += 1;
    }
    return this.#pending.splice(0, count);
  }

  async close(): Promise<void> {
    clearInterval(this.#measuring);
    while (this.#running !== null) await this.#running;
    this.#segments.close();
    this.#lock.release();
  }
}

/**
 * Makes a new outbox and holds its lock until `close` or the death of this process.
 * @throws Error when the directory cannot be made or written
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  const unfinished = join(options.root, `${UNFINISHED_PREFIX}${options.id}`);
  const directory = join(options.root, options.id);
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  const lock = tryLock(join(unfinished, OWNER_LOCK));
  if (lock === null) throw new Error(`Cannot lock the new outbox ${options.id}`);
  // Readers see the outbox only once it is locked: to them, one without a lock is one whose gateway is gone.
  renameSync(unfinished, directory);
  const writer = new OutboxWriter(options, directory, lock);
  await writer.measure();
  return writer;
}
