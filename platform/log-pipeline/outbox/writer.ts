/**
 * Writes an outbox: appends frames to segment files, with group commit.
 *
 * Why plain files and not a database: an entry costs a third of the CPU that SQLite's WAL takes, and no checkpoint stalls
 * calls (`npm run bench outbox` shows both); trimming is an unlink; a reader needs no lock.
 *
 * "Committed" means that the bytes are with the operating system, so that the death of a process does not lose them
 * (`sync: 'process'`), or on the disk itself, so that a power cut does not either (`sync: 'disk'`).
 */

import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '#core/contracts/errors.ts';
import { EMPTY_ENTRY, type LogEntry } from '#core/contracts/log-entry-codec.ts';
import type { Logger } from '../../observability/log.ts';
import { makeDataDirectory } from '../../process/data-directory.ts';
import { type Lock, tryLock } from '../../process/process-lock.ts';
import { type EncodedFrame, encodeFrame, MAX_FRAME_BYTES } from './frame.ts';
import { bytesBelow, OWNER_LOCK, UNFINISHED_PREFIX } from './layout.ts';
import { removeRemains } from './reader.ts';
import { SegmentWriter } from './segment-writer.ts';

/** Identifies a call among those under way in this process: an object of its own, or a text that no other call has. */
export type CallKey = string | object;

type OpenCall = {
  /** The number that the frames of this call share. */
  number: number;
  start: EncodedFrame;
  /** True when the START is on disk. */
  isKept: boolean;
};

/** The calls of this process that were begun and have not ended. */
class OpenCalls {
  #calls = new Map<CallKey, OpenCall>();
  /** Calls closed since the map was made. */
  #closed = 0;
  #lastNumber = 0;

  /** Returns a number that no call has had. */
  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  open(key: CallKey, number: number, start: EncodedFrame): OpenCall {
    const call = { number, start, isKept: false };
    this.#calls.set(key, call);
    return call;
  }

  /** Returns the number of an open call, and 0 for a call that is not open. */
  numberOf(key: CallKey): number {
    return this.#calls.get(key)?.number ?? 0;
  }

  /**
   * Closes a call, and copies the map once as many calls were closed as are open. A map whose entries come and go makes
   * itself a new table now and then, and V8 links the old one to it: once a table is in the old generation, all that
   * follow outlive every minor collection, and with them the calls they held. Under load that made the gateway's
   * collections three times as long and took 60 MB. Copying costs a call 0.1 µs.
   */
  close(key: CallKey): void {
    if (!this.#calls.delete(key)) return;
    this.#closed += 1;
    if (this.#closed <= this.#calls.size) return;
    this.#calls = new Map(this.#calls);
    this.#closed = 0;
  }

  /** Returns the STARTs that are on disk and would be needed if this process died now. */
  starts(): EncodedFrame[] {
    return [...this.#calls.values()].filter(({ isKept }) => isKept).map(({ start }) => start);
  }
}

export type OutboxOptions = {
  /** The directory of the outboxes of every gateway on this machine. */
  root: string;
  /** A new ULID: each life of a process has an outbox of its own. */
  id: string;
  /** The bound on bytes on disk below `root`; entries beyond it are refused. */
  maxBytes: number;
  sync: 'process' | 'disk';
  log: Logger;
  /** A segment that is larger is closed. Tests set less. */
  segmentBytes?: number;
  /** A segment that is older, in milliseconds, is closed. Tests set less. */
  segmentAgeMs?: number;
};

export type Outbox = {
  /**
   * Commits a START: the `entry` that is stored for the call if this process dies before `append`. Resolves with whether it
   * was kept, and never rejects: the call is made either way. STARTs take at most half of the bound, so that a long
   * backlog leaves room for finished entries.
   * @param key not open already; exactly one `append` or `discard` follows
   */
  begin(key: CallKey, entry: LogEntry): Promise<boolean>;
  /**
   * Appends one entry, and closes the START of `key` if there is one, even when the entry is not kept. Resolves with true
   * when the entry is committed, and with false when it could not be kept (bound reached, disk full or failing, larger than
   * a frame), which `refused` counts. Never rejects: the response must go out either way.
   */
  append(key: CallKey, entry: LogEntry): Promise<boolean>;
  /** Closes the START of `key` without an entry: nothing is stored for the call. Not counted as refused. */
  discard(key: CallKey): void;
  /** Entries that `append` committed, and those that it refused, since the outbox was opened. */
  readonly appended: number;
  readonly refused: number;
  /** True from an entry that found no room, or whose disk failed, until one is committed or there is room under the bound again. */
  readonly isRefusing: boolean;
  /** Bytes of all outboxes below the root, which the bound limits: measured every second, seldom while idle, and counted in between. */
  readonly bytesOnDisk: number;
  /** Waits for pending appends and closes the files. */
  close(): Promise<void>;
};

const DEFAULT_SEGMENT_BYTES = 64 * 1024 * 1024;
/** A segment takes at most this part of the bound: one that took all of it would keep entries out after it is stored. */
const SEGMENT_SHARE_OF_BOUND = 1 / 8;
/** Longest stay of a stored call's text on the disk of a process with little to log. Each segment is a file to make and to remove. */
const DEFAULT_SEGMENT_AGE_MS = 60 * 60_000;
const MAX_GROUP_FRAMES = 256;
const MAX_GROUP_BYTES = 64 * 1024 * 1024;
const MEASURE_EVERY_MS = 1_000;
/** Where nothing was appended in so many measures, and half of the bound is free, the next may come later. */
const IDLE_MEASURES = 60;
const MEASURE_IDLE_EVERY_MS = 15_000;
const BEGUN_SHARE_OF_BOUND = 0.5;

type Pending = { frame: EncodedFrame; settle: (kept: boolean) => void };

class OutboxWriter implements Outbox {
  appended = 0;
  refused = 0;
  bytesOnDisk = 0;
  /** Cause of the last refusal, unless an entry was committed since: the bound, with the bytes of the entry, or the disk. */
  #obstacle: { bytes: number } | 'disk' | null = null;
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #log: Logger;
  #lock: Lock;
  readonly #segments: SegmentWriter;
  #measuring: NodeJS.Timeout | null = null;
  /** Measures in a row before which nothing was appended. */
  #idleMeasures = 0;
  #appendedAtMeasure = 0;
  readonly #calls = new OpenCalls();
  #pending: Pending[] = [];
  #running: Promise<void> | null = null;
  /** True when it has written in this turn of the event loop. */
  #hasWritten = false;
  /** True when the last write was of several frames. */
  #isBusy = false;
  /** The numbers of calls whose void frame could not be written yet: no more than there are STARTs on disk. */
  #unwrittenVoids: number[] = [];

  constructor(options: OutboxOptions, directory: string, lock: Lock) {
    const { root, id, maxBytes, sync, log } = options;
    const { segmentBytes = Math.min(DEFAULT_SEGMENT_BYTES, maxBytes * SEGMENT_SHARE_OF_BOUND) } = options;
    const { segmentAgeMs = DEFAULT_SEGMENT_AGE_MS } = options;
    this.#root = root;
    this.#maxBytes = maxBytes;
    this.#log = log;
    this.#lock = lock;
    const firstFrames = () => this.#calls.starts();
    const restoreDirectory = () => {
      const restored = makeLocked(root, id);
      this.#lock.release();
      this.#lock = restored;
    };
    this.#segments = new SegmentWriter({
      directory,
      sync,
      segmentBytes,
      segmentAgeMs,
      firstFrames,
      restoreDirectory,
      log,
    });
    this.#measureLater();
  }

  #measureLater(): void {
    const isIdle = this.#idleMeasures >= IDLE_MEASURES && this.bytesOnDisk < this.#maxBytes / 2;
    const waitMs = isIdle ? MEASURE_IDLE_EVERY_MS : MEASURE_EVERY_MS;
    this.#measuring = setTimeout(async () => {
      this.#idleMeasures = this.appended === this.#appendedAtMeasure ? this.#idleMeasures + 1 : 0;
      this.#appendedAtMeasure = this.appended;
      // In the place of a group: entries that come meanwhile are written after it.
      if (this.#segments.retireOld(this.bytesOnDisk > this.#maxBytes * BEGUN_SHARE_OF_BOUND))
        this.#running ??= this.#segments.replaceRetired().then(() => this.#drain());
      await this.measure();
      if (this.#measuring !== null) this.#measureLater();
    }, waitMs).unref();
  }

  async measure(): Promise<void> {
    try {
      await this.#segments.checkFile();
      this.bytesOnDisk = await bytesBelow(this.#root);
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
      // An entry that is larger than a frame says nothing about those to come.
      if (frame.bytes <= MAX_FRAME_BYTES) this.#obstacle = { bytes: frame.bytes };
      this.#refuse(key);
      return Promise.resolve(false);
    }
    return this.#enqueue(frame, (kept) => {
      this.#obstacle = kept ? null : 'disk';
      if (kept) {
        this.appended += 1;
        this.#calls.close(key);
      } else this.#refuse(key);
    });
  }

  get isRefusing(): boolean {
    const obstacle = this.#obstacle;
    if (obstacle === null || obstacle === 'disk') return obstacle !== null;
    return this.bytesOnDisk + obstacle.bytes > this.#maxBytes;
  }

  #hasRoom(frame: EncodedFrame, maxBytes: number): boolean {
    return frame.bytes <= MAX_FRAME_BYTES && this.bytesOnDisk + frame.bytes <= maxBytes;
  }

  #refuse(key: CallKey): void {
    this.refused += 1;
    this.discard(key);
  }

  discard(key: CallKey): void {
    const call = this.#calls.numberOf(key);
    this.#calls.close(key);
    // A call that was served and not logged must not be reported as interrupted either.
    if (call !== 0) this.#writeVoid(call);
  }

  /** Writes a void frame. Its 24 bytes are not checked against the bound. */
  #writeVoid(call: number): void {
    void this.#enqueue(encodeFrame({ kind: 'void', call, entry: EMPTY_ENTRY }), (kept) => {
      if (!kept) this.#unwrittenVoids.push(call);
    });
  }

  #enqueue(frame: EncodedFrame, settled: (kept: boolean) => void): Promise<boolean> {
    this.bytesOnDisk += frame.bytes;
    return new Promise((resolve) => {
      const settle = (kept: boolean) => {
        settled(kept);
        resolve(kept);
      };
      this.#pending.push({ frame, settle });
      this.#running ??= this.#hasWritten || this.#isBusy ? this.#drainAfterTurn() : this.#drainNow();
    });
  }

  /** Writes at once: with few calls, the first write of an event loop turn need not wait for others to share it. */
  #drainNow(): Promise<void> {
    this.#hasWritten = true;
    setImmediate(() => {
      this.#hasWritten = false;
    });
    return this.#drain();
  }

  /** Writes after this turn of the event loop: all frames of the turn share one write. */
  #drainAfterTurn(): Promise<void> {
    return new Promise((done) => setImmediate(() => this.#drain().finally(done)));
  }

  async #drain(): Promise<void> {
    while (this.#pending.length > 0) {
      const group = this.#takeGroup();
      this.#isBusy = group.length > 1;
      const kept = await this.#segments.commit(group.map(({ frame }) => frame));
      for (let index = 0; index < group.length; index += 1) group[index]!.settle(index < kept);
      if (kept === group.length) for (const call of this.#unwrittenVoids.splice(0)) this.#writeVoid(call);
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
    if (this.#measuring !== null) clearTimeout(this.#measuring);
    this.#measuring = null;
    while (this.#running !== null) await this.#running;
    this.#segments.close();
    this.#lock.release();
  }
}

/** Makes the directory of an outbox, and returns its lock. */
function makeLocked(root: string, id: string): Lock {
  const unfinished = join(root, `${UNFINISHED_PREFIX}${id}`);
  makeDataDirectory(root, 0o700);
  mkdirSync(unfinished, { mode: 0o700 });
  const lock = tryLock(join(unfinished, OWNER_LOCK));
  if (lock === null) throw new Error(`Cannot lock the new outbox ${id}`);
  // Readers see the outbox only once it is locked: they take an outbox without a lock for one whose gateway is gone.
  renameSync(unfinished, join(root, id));
  return lock;
}

/**
 * Makes a new outbox, and holds its lock until `close` or the death of this process.
 * @throws Error with a sentence when the directory cannot be made or written
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  const directory = join(options.root, options.id);
  const lock = makeLocked(options.root, options.id);
  // They take room and harm nothing: a gateway starts also where they cannot be removed.
  await removeRemains(options.root).catch((error: unknown) => {
    options.log.warn({ error: describeError(error) }, 'cannot remove what is left of an outbox');
  });
  const writer = new OutboxWriter(options, directory, lock);
  await writer.measure();
  return writer;
}
