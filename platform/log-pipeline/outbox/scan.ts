/** Reads the frames of a segment file in one pass, with a chunk of it in memory at a time. */
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeFrame, type Frame } from './frame.ts';
import { segmentName } from './layout.ts';

/** A position between two frames. `{segment: 0, offset: 0}` is the beginning. */
export type OutboxPosition = { segment: number; offset: number };

/** Returns whether two positions are the same; null is none. */
export function isSamePosition(a: OutboxPosition, b: OutboxPosition | null): boolean {
  return a.segment === b?.segment && a.offset === b.offset;
}

/** Bytes that are not a frame: only a failing disk or an edited file has them. */
export type Damage = {
  position: OutboxPosition;
  reason: string;
  bytes: Buffer;
  /** Where the next whole frame begins; null: none is known, so nothing behind the damage can be read. */
  end: OutboxPosition | null;
};

/** The next step of a scan: to go on behind a frame, to stop behind it, or to stop before it. */
export type Continuation = 'go on' | 'stop behind' | 'stop before';

/** Gets each frame and its position. The entry's parts may be kept, but share memory with the chunk they are in. */
export type Visit = (frame: Frame, position: OutboxPosition, bytes: number) => Continuation;

export type Scan = {
  /** Where the next scan begins. */
  next: OutboxPosition;
  /** Nothing is behind `next`, or only the beginning of a frame. */
  ended: boolean;
  /** The damage that stopped the scan at `next`. */
  damage: Damage | null;
};

export const READ_CHUNK_BYTES = 1024 * 1024;
/** Bytes of a damaged stretch that are kept for the operator. */
const KEPT_DAMAGE_BYTES = 1024 * 1024;
/** Holds most frames whole. */
const LEAST_CHUNK_BYTES = 64 * 1024;

/** Passes the frames from `start` on to `visit`, until it stops the scan or there are no more. */
export async function scanSegment(
  directory: string,
  start: OutboxPosition,
  chunkBytes: number,
  visit: Visit,
): Promise<Scan> {
  const { segment } = start;
  const file = await open(join(directory, segmentName(segment)), 'r');
  try {
    let { size } = await file.stat();
    let { offset } = start;
    let wanted = chunkBytes;
    while (offset < size) {
      const length = Math.min(wanted, size - offset);
      const chunk = await readExactly(file, offset, length);
      // Its writer has cut a torn end off meanwhile.
      if (chunk.length < length) size = offset + chunk.length;
      let used = 0;
      for (;;) {
        const decoded = decodeFrame(chunk, used);
        const position = { segment, offset: offset + used };
        if (decoded.state === 'damaged') {
          // Its writer may have cut a torn end and gone on there while this was read: damage is what stays the same.
          const again = await readExactly(file, position.offset, chunk.length - used);
          if (!again.equals(chunk.subarray(used))) break;
          const behind = await wholeFrameBehind(file, position.offset, decoded.bytes, size);
          const length = (behind ?? size) - position.offset;
          const bytes = await readExactly(file, position.offset, Math.min(KEPT_DAMAGE_BYTES, length));
          const end = behind === null ? null : { segment, offset: behind };
          return { next: position, ended: false, damage: { position, reason: decoded.reason, bytes, end } };
        }
        if (decoded.state === 'incomplete') {
          wanted = Math.max(decoded.bytes, READ_CHUNK_BYTES);
          // The end of the file cuts this frame: it is still being written, or never will be.
          if (position.offset + decoded.bytes > size) return { next: position, ended: true, damage: null };
          break;
        }
        const continuation = visit(decoded.frame, position, decoded.bytes);
        if (continuation === 'stop before') return { next: position, ended: false, damage: null };
        used += decoded.bytes;
        if (continuation === 'stop behind') {
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

/**
 * Returns where the next whole frame begins, by the lengths of the damaged frame and of those that follow; null when they lead
 * to none. Frames are not looked for anywhere else: the body of a call can hold the bytes of a frame that its client made up.
 */
async function wholeFrameBehind(
  file: FileHandle,
  offset: number,
  bytes: number | null,
  size: number,
): Promise<number | null> {
  let at = offset;
  let length = bytes;
  while (length !== null) {
    at += length;
    const prefix = decodeFrame(await readExactly(file, at, Math.min(LEAST_CHUNK_BYTES, size - at)), 0);
    const decoded =
      prefix.state === 'incomplete' && at + prefix.bytes <= size
        ? decodeFrame(await readExactly(file, at, prefix.bytes), 0)
        : prefix;
    if (decoded.state === 'whole') return at;
    length = decoded.state === 'damaged' ? decoded.bytes : null;
  }
  return null;
}

async function readExactly(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) return buffer.subarray(0, filled);
    filled += bytesRead;
  }
  return buffer;
}
