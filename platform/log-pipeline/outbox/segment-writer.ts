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
  /** What each segment begins with: the older ones may be removed as soon as it exists. */
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
   * Commits a group whole, or nothing of it; says which. After a failure the segment is cut back to its last whole frame.
   * When the disk is full it is gone on with later: new ones would take what room there is for their first frames. After
   * any other failure a new one is tried.
   */
  async commit(group: readonly EncodedFrame[]): Promise<boolean> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      let isInSegment = false;
      try {
        if (this.#file === -1 || this.#offset >= this.#fullAt) await this.#rotate();
        isInSegment = true;
        this.#offset += await this.#write(group);
        this.#tell(null);
        return true;
      } catch (error) {
        this.#tell(error);
        const isWhole = this.#file !== -1 && this.#cutBack();
        if (isInSegment && isWhole && isNoRoom(error)) return false;
        this.close();
      }
    }
    return false;
  }

  /** Once, however many writes fail in a row. */
  #tell(error: unknown): void {
    const { log } = this.#options;
    if (error !== null && !this.#isFailing)
      log.error({ error: describeError(error) }, 'cannot write to the outbox; what is not kept is counted');
    else if (error === null && this.#isFailing) log.info('the outbox can be written to again');
    this.#isFailing = error !== null;
  }

  /** Returns how many bytes were written. */
  async #write(frames: readonly EncodedFrame[]): Promise<number> {
    const bytes = frames.reduce((sum, frame) => sum + frame.bytes, 0);
    const buffers = frames.flatMap((frame) => frame.buffers);
    await gatherWrite(this.#file, buffers, bytes);
    // A failed sync may have dropped the pages for good, so it condemns the segment like a failed write.
    if (this.#options.sync === 'disk') await fdatasyncAsync(this.#file);
    return bytes;
  }

  /** Readers see a segment only once its first frames are in it: they remove those before it when they have read them. */
  async #rotate(): Promise<void> {
    this.close();
    this.#offset = 0;
    const name = segmentName(this.#segment + 1);
    const unfinished = join(this.#options.directory, `${UNFINISHED_PREFIX}${name}`);
    try {
      // To append: behind a cut, it goes on where the file ends.
      this.#file = openSync(unfinished, 'ax', 0o600);
      const first = this.#options.firstFrames();
      if (first.length > 0) this.#offset = await this.#write(first);
      renameSync(unfinished, join(this.#options.directory, name));
    } catch (error) {
      rmSync(unfinished, { force: true });
      throw error;
    }
    this.#segment += 1;
    // However many calls are open, most of what is written is new.
    this.#fullAt = this.#offset + Math.max(this.#options.segmentBytes, this.#offset);
  }

  /** Returns whether the segment ends in a whole frame now. */
  #cutBack(): boolean {
    try {
      ftruncateSync(this.#file, this.#offset);
      return true;
    } catch (error) {
      // The torn tail stays; a reader passes over it, because a later segment follows.
      this.#options.log.warn({ error: describeError(error) }, 'cannot cut the torn end of an outbox segment');
      return false;
    }
  }

  /** Lets go of the file. */
  close(): void {
    if (this.#file !== -1) closeSync(this.#file);
    this.#file = -1;
  }
}
