/** One pass over the frames of a segment file, a chunk of it in memory at a time. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeFrame, type Frame } from './frame.ts';
import { segmentName } from './layout.ts';

/** A place between two frames. `{segment: 0, offset: 0}` is the beginning. */
export type OutboxPosition = { segment: number; offset: number };

/** Bytes that are no frame: never seen unless a disk or a hand damaged the file. */
export type Damage = { position: OutboxPosition; reason: string; bytes: Buffer };

/** Whether to go on behind a frame, to stop behind it, or to stop before it. */
export type Verdict = 'next' | 'last' | 'too much';

/** Is shown each frame and where it begins. The entry's parts are valid for longer than the call, but share memory. */
export type Visit = (frame: Frame, position: OutboxPosition, bytes: number) => Verdict;

export type Scan = {
  /** Where to go on. */
  next: OutboxPosition;
  /** Nothing is behind `next` but, perhaps, the beginning of a frame that is not whole. */
  ended: boolean;
  /** What made the scan stop at `next`. */
  damage: Damage | null;
};

export const READ_CHUNK_BYTES = 1024 * 1024;
/** How much of a damaged stretch is kept for whoever looks into it. */
const KEPT_DAMAGE_BYTES = 1024 * 1024;

/** Shows the frames from `start` on to `visit`, until it has enough or there are no more. */
export async function scanSegment(
  directory: string,
  start: OutboxPosition,
  chunkBytes: number,
  visit: Visit,
): Promise<Scan> {
  const { segment } = start;
  const file = await open(join(directory, segmentName(segment)), 'r');
  try {
    const { size } = await file.stat();
    let { offset } = start;
    let wanted = chunkBytes;
    while (offset < size) {
      const chunk = await readExactly(file, offset, Math.min(wanted, size - offset));
      let used = 0;
      for (;;) {
        const decoded = decodeFrame(chunk, used);
        const position = { segment, offset: offset + used };
        if (decoded.state === 'damaged') {
          // Its writer may have cut a torn end and gone on there while this was read.
          const again = await readExactly(file, position.offset, chunk.length - used);
          if (decodeFrame(again, 0).state !== 'damaged') break;
          const bytes = await readExactly(
            file,
            position.offset,
            Math.min(KEPT_DAMAGE_BYTES, size - position.offset),
          );
          return { next: position, ended: false, damage: { position, reason: decoded.reason, bytes } };
        }
        if (decoded.state === 'incomplete') {
          wanted = Math.max(decoded.bytes, READ_CHUNK_BYTES);
          // The end of the file cuts this frame: it is still being written, or never will be.
          if (position.offset + decoded.bytes > size) return { next: position, ended: true, damage: null };
          break;
        }
        const verdict = visit(decoded.frame, position, decoded.bytes);
        if (verdict === 'too much') return { next: position, ended: false, damage: null };
        used += decoded.bytes;
        if (verdict === 'last') {
          return { next: { segment, offset: offset + used }, ended: false, damage: null };
        }
      }
      offset += used;
    }
    return { next: { segment, offset }, ended: true, damage: null };
  } finally {
    await file.close();
  }
}

async function readExactly(
  file: Awaited<ReturnType<typeof open>>,
  position: number,
  length: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) return buffer.subarray(0, filled);
    filled += bytesRead;
  }
  return buffer;
}
