/** Appends groups of frames to the segments of one outbox, one segment after the other. */
import { closeSync, fdatasync, ftruncateSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../../observability/log.ts';
import type { EncodedFrame } from './frame.ts';
import { gatherWrite } from './gather-write.ts';
import { segmentName, UNFINISHED_PREFIX } from './layout.ts';

export type SegmentWriterOptions = {
  directory: string;
  sync: 'process' | 'disk';
  /** A segment is closed when more than this was appended to it. */
  segmentBytes: number;
  /** Returns the frames that a new segment begins with: older segments may be removed as soon as it exists. */
  firstFrames(): EncodedFrame[];
  log: Logger;
};

const fdatasyncAsync = promisify(fdatasync);

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT']);

function isNoRoom(error: unknown): boolean {
  return NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '');
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #segment = 0;
  #file = -1;
  #offset = 0;
  /** From this offset on, the next group goes to a new segment. */
  #fullAt = 0;
  #isFailing = false;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /**
   * Commits all of a group or nothing of it, and returns which. After a failure, cuts the segment back to its last whole
   * frame. Keeps the segment when the disk is full: a new one would take the little room for its first frames. Tries a new
   * segment after any other failure.
   */
  async commit(group: readonly EncodedFrame[]): Promise<boolean> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      let isInSegment = false;
      try {
        if (this.#file === -1 || this.#offset >= this.#fullAt) await this.#rotate();
        isInSegment = true;
        this.#offset += await this.#write(group);
        this.#logFailure(null);
        return true;
      } catch (error) {
        this.#logFailure(error);
        const isWhole = this.#file !== -1 && this.#cutBack();
        if (isInSegment && isWhole && isNoRoom(error)) return false;
        this.close();
      }
    }
    return false;
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

  /** Returns how many bytes were written. */
  async #write(frames: readonly EncodedFrame[]): Promise<number> {
    const bytes = frames.reduce((sum, frame) => sum + frame.bytes, 0);
    const buffers = frames.flatMap((frame) => frame.buffers);
    await gatherWrite(this.#file, buffers, bytes);
    // A failed sync may have dropped the pages for good: it fails the segment as a failed write does.
    if (this.#options.sync === 'disk') await fdatasyncAsync(this.#file);
    return bytes;
  }

  /** Opens a new segment. Readers see it only with its first frames, because they remove the segments before it. */
  async #rotate(): Promise<void> {
    this.close();
    this.#offset = 0;
    const name = segmentName(this.#segment + 1);
    const unfinished = join(this.#options.directory, `${UNFINISHED_PREFIX}${name}`);
    try {
      // Opened for appending: after a cut, writing goes on where the file ends.
      this.#file = openSync(unfinished, 'ax', 0o600);
      const first = this.#options.firstFrames();
      if (first.length > 0) this.#offset = await this.#write(first);
      renameSync(unfinished, join(this.#options.directory, name));
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    this.#segment += 1;
    // However many calls are open, at least half of a segment is new frames.
    this.#fullAt = this.#offset + Math.max(this.#options.segmentBytes, this.#offset);
  }

  /** Cuts the segment back to its last whole frame. Returns whether that succeeded. */
  #cutBack(): boolean {
    try {
      ftruncateSync(this.#file, this.#offset);
      return true;
    } catch (error) {
      // The torn end stays. A reader passes over it, because another segment follows.
      this.#options.log.warn({ error: describeError(error) }, 'cannot cut the torn end of an outbox segment');
      return false;
    }
  }

  /** Closes the file. */
  close(): void {
    if (this.#file !== -1) closeSync(this.#file);
    this.#file = -1;
  }
}
