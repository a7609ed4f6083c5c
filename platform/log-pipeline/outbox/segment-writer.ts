/** Appends groups of frames to the segments of one outbox, one segment after the other. */
import {
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writev,
  writevSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../../observability/log.ts';
import type { EncodedFrame } from './frame.ts';
import { segmentName, UNFINISHED_PREFIX } from './layout.ts';

export type SegmentWriterOptions = {
  directory: string;
  sync: 'process' | 'disk';
  /** A segment is closed when more than this was appended to it. */
  segmentBytes: number;
  /** A segment that has frames is old after so many milliseconds. */
  segmentAgeMs: number;
  /** Returns the frames that a new segment begins with: older segments may be removed as soon as it exists. */
  firstFrames(): EncodedFrame[];
  /** Makes the directory again, which another program removed. */
  restoreDirectory(): void;
  log: Logger;
};

const fdatasyncAsync = promisify(fdatasync);

/**
 * Age at which a segment with frames is old while room is short: it may be what takes the room, and be stored by now. Sooner, a
 * process that has just filled its disk would make a segment of every few frames.
 */
const SHORT_OF_ROOM_AGE_MS = 10_000;
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT']);

function isNoRoom(error: unknown): boolean {
  return NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '');
}

/** Up to this size the event loop writes by itself, which is faster than a round trip to a thread; more would stall calls. */
const LARGEST_SYNC_WRITE = 512 * 1024;

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #segment = 0;
  #file = -1;
  /** Identifies the file of the segment in its file system. */
  #inode = 0;
  #offset = 0;
  /** The offset behind the frames that the segment began with. */
  #firstOffset = 0;
  /** From this offset on, the next group goes to a new segment. */
  #fullAt = 0;
  #openedAt = 0;
  #isFailing = false;
  /** When a write found the disk full, with none that has succeeded since; null: none has. */
  #noRoomSince: number | null = null;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /**
   * Commits the frames of a group, and returns how many of them, from the first on: all, unless the disk fails. When the
   * disk is full, keeps the segment and every frame that is whole in it: a new segment would take the little room for its
   * first frames. Tries a new segment after any other failure.
   */
  async commit(group: readonly EncodedFrame[]): Promise<number> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      let isWriting = false;
      try {
        if (this.#file === -1 || this.#offset >= this.#fullAt) await this.#rotate();
        isWriting = true;
        const writing = this.#write(group);
        const bytes = typeof writing === 'number' ? writing : await writing;
        isWriting = false;
        // A failed sync may have dropped pages for good: it fails the segment.
        if (this.#options.sync === 'disk') await fdatasyncAsync(this.#file);
        this.#offset += bytes;
        this.#logFailure(null);
        this.#noRoomSince = null;
        return group.length;
      } catch (error) {
        this.#noRoomSince = isNoRoom(error) ? (this.#noRoomSince ?? performance.now()) : null;
        this.#logFailure(error);
        const whole = isWriting && isNoRoom(error) ? await this.#keepWhole(group) : null;
        if (whole !== null) return whole;
        this.#abandonSegment();
      }
    }
    return 0;
  }

  /** Logs the first failure of a row, and the first success after it. */
  #logFailure(error: unknown): void {
    const { log } = this.#options;
    if (error !== null && !this.#isFailing)
      log.error(
        { error: describeError(error) },
        'cannot write to the outbox; entries that are lost are counted',
      );
    else if (error === null && this.#isFailing) log.info('the outbox is writable again');
    this.#isFailing = error !== null;
  }

  /** Writes frames, and returns how many bytes that was; of a large group a promise of it. */
  #write(frames: readonly EncodedFrame[]): number | Promise<number> {
    const bytes = frames.reduce((sum, frame) => sum + frame.bytes, 0);
    const buffers = frames.flatMap((frame) => frame.buffers);
    if (bytes > LARGEST_SYNC_WRITE) return gatherWriteInThread(this.#file, buffers).then(() => bytes);
    gatherWrite(this.#file, buffers);
    return bytes;
  }

  /**
   * Begins another segment with the next group if this one was removed, replaced or cut off by another program: its writes would
   * go on to succeed, and no reader find what they wrote.
   */
  async checkFile(): Promise<void> {
    const [segment, inode, offset] = [this.#segment, this.#inode, this.#offset];
    if (this.#file === -1 || this.#fullAt === 0) return;
    const found = await stat(join(this.#options.directory, segmentName(segment))).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    });
    const isSound = found !== null && found.ino === inode && found.size >= offset;
    if (isSound || segment !== this.#segment) return;
    this.#fullAt = 0;
    this.#options.log.error(
      { directory: this.#options.directory, segment },
      'a file of the outbox was removed or changed by another program: entries in it are lost; the next ones go to a new file',
    );
  }

  /**
   * Has the next group begin a new segment where this one is old, so that a reader removes it once it is stored: else the calls of a
   * quiet process would stay on its disk for months, erased ones too. Where room is short a segment is old soon, unless it has no
   * more than it began with: those that together take all room would keep every entry out after they are stored.
   * @param isShort true when the outboxes of all processes have taken most of their bound; a full disk is known here
   * @returns whether it is old
   */
  retireOld(isShort: boolean): boolean {
    if (this.#file === -1 || this.#offset === 0) return false;
    const isHurried = isShort || this.#noRoomSince !== null;
    if (isHurried && this.#offset === this.#firstOffset) return false;
    const { segmentAgeMs } = this.#options;
    const ageMs = isHurried ? Math.min(SHORT_OF_ROOM_AGE_MS, segmentAgeMs) : segmentAgeMs;
    if (performance.now() - this.#openedAt < ageMs) return false;
    this.#fullAt = 0;
    return true;
  }

  /** Begins the new segment after `retireOld` without a group, while none is being committed. Never rejects: the next group tries again. */
  async replaceRetired(): Promise<void> {
    try {
      await this.#rotate();
    } catch (error) {
      this.#logFailure(error);
      this.close();
    }
  }

  /**
   * Opens a new segment. Where the disk has had no room for its first frames for a while it begins without them: else the one before
   * could never be removed, and no room come. Calls whose START goes with that one leave nothing if this process is killed.
   */
  async #rotate(): Promise<void> {
    try {
      await this.#begin(this.#options.firstFrames());
    } catch (error) {
      const since = this.#noRoomSince;
      if (!isNoRoom(error) || since === null || performance.now() - since < SHORT_OF_ROOM_AGE_MS) throw error;
      await this.#begin([]);
    }
  }

  /** Opens a new segment that begins with these frames. Readers see it only with them, because they remove the segments before it. */
  async #begin(first: readonly EncodedFrame[]): Promise<void> {
    this.close();
    this.#offset = 0;
    const name = segmentName(this.#segment + 1);
    const unfinished = join(this.#options.directory, `${UNFINISHED_PREFIX}${name}`);
    try {
      // Opened for appending: after a cut, writing goes on where the file ends.
      this.#file = this.#open(unfinished);
      if (first.length > 0) {
        this.#offset = await this.#write(first);
        if (this.#options.sync === 'disk') await fdatasyncAsync(this.#file);
      }
      renameSync(unfinished, join(this.#options.directory, name));
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    this.#segment += 1;
    this.#firstOffset = this.#offset;
    this.#inode = fstatSync(this.#file).ino;
    this.#openedAt = performance.now();
    // However many calls are open, at least half of a segment is new frames.
    this.#fullAt = this.#offset + Math.max(this.#options.segmentBytes, this.#offset);
  }

  #open(path: string): number {
    try {
      return openSync(path, 'ax', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      this.#options.restoreDirectory();
      return openSync(path, 'ax', 0o600);
    }
  }

  /**
   * Cuts off the torn frame of a group that found too little room, and returns how many frames before it the segment has.
   * Null: that failed. A whole frame stays: a reader may have passed it, and would go on in the middle of what follows.
   */
  async #keepWhole(group: readonly EncodedFrame[]): Promise<number | null> {
    try {
      const written = fstatSync(this.#file).size - this.#offset;
      let count = 0;
      let bytes = 0;
      while (count < group.length && bytes + group[count]!.bytes <= written) {
        bytes += group[count]!.bytes;
        count += 1;
      }
      ftruncateSync(this.#file, this.#offset + bytes);
      if (count > 0 && this.#options.sync === 'disk') await fdatasyncAsync(this.#file);
      this.#offset += bytes;
      return count;
    } catch {
      return null;
    }
  }

  /** Cuts what was not committed off the segment, as its frames are counted as lost or written again, and closes it. */
  #abandonSegment(): void {
    if (this.#file === -1) return;
    try {
      ftruncateSync(this.#file, this.#offset);
    } catch (error) {
      // The torn end stays. A reader passes over it, because another segment follows.
      this.#options.log.warn({ error: describeError(error) }, 'cannot cut the torn end of an outbox segment');
    }
    this.close();
  }

  /** Closes the file. */
  close(): void {
    const file = this.#file;
    // First: a close that fails has closed the file all the same.
    this.#file = -1;
    if (file !== -1) closeSync(file);
  }
}

/** The most buffers that writev takes (IOV_MAX). */
const MAX_BUFFERS = 1_024;

/**
 * Writes all of `buffers` at the file's position.
 * @throws Error when the disk takes no more; part of it may have been written
 */
function gatherWrite(file: number, buffers: readonly Uint8Array[]): void {
  for (let rest = buffers; rest.length > 0; )
    rest = afterBytes(rest, writevSync(file, rest.length > MAX_BUFFERS ? rest.slice(0, MAX_BUFFERS) : rest));
}

/** As `gatherWrite`, in a thread. */
async function gatherWriteInThread(file: number, buffers: readonly Uint8Array[]): Promise<void> {
  for (let rest = buffers; rest.length > 0; )
    rest = afterBytes(rest, await writevInThread(file, rest.slice(0, MAX_BUFFERS)));
}

/** Calls writev in a thread. Without `promisify`, whose result differs between Node and Deno. */
function writevInThread(file: number, buffers: readonly Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(file, buffers, (error, written) => (error ? reject(error) : resolve(written)));
  });
}

/**
 * Returns what is left of `buffers` behind the first `written` bytes.
 * @throws Error when none were written
 */
function afterBytes(buffers: readonly Uint8Array[], written: number): readonly Uint8Array[] {
  if (!(written > 0)) throw new Error('the disk takes no more bytes');
  let skip = written;
  let first = 0;
  while (first < buffers.length && skip >= buffers[first]!.length) {
    skip -= buffers[first]!.length;
    first += 1;
  }
  if (first === buffers.length) return [];
  return [buffers[first]!.subarray(skip), ...buffers.slice(first + 1)];
}
