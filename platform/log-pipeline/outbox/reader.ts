/**
 * The reading side of an outbox: from a position onward, in order, never past a frame that is not whole. The position
 * is kept by whoever stores the entries, in the same transaction as they are stored.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { type Lock, tryLock } from '../../process/process-lock.ts';
import { listSegments, OWNER_LOCK, segmentName } from './layout.ts';
import { type Damage, type OutboxPosition, READ_CHUNK_BYTES, scanSegment } from './scan.ts';

/** `maxBytes` counts all that is passed over, the STARTs between the entries too. */
export type ReadLimits = { maxEntries: number; maxBytes: number };

/** A finished entry and its position, which names it for good. */
export type OutboxEntry = LogEntry & { position: OutboxPosition };

export type ReadResult = {
  /** Finished entries only. */
  entries: OutboxEntry[];
  /** Where to go on reading. It may have moved although there are no entries: then there were only STARTs. */
  next: OutboxPosition;
  /**
   * Set, with no entries, when the reading begins at bytes that are no frame. `next` is then behind the segment, or
   * where it was while more may be written to it.
   */
  damage: Damage | null;
};

/** Reads up to the limits from `from` on. At least one frame, however large, when there is one. */
export async function readOutbox(
  directory: string,
  from: OutboxPosition,
  limits: ReadLimits,
): Promise<ReadResult> {
  const segments = await listSegments(directory);
  const segment = segments.find((candidate) => candidate >= from.segment);
  if (segment === undefined) return { entries: [], next: from, damage: null };
  const isSealed = segments.some((candidate) => candidate > segment);
  const nextSegment = { segment: segment + 1, offset: 0 };

  const start = segment === from.segment ? from : { segment, offset: 0 };
  const entries: OutboxEntry[] = [];
  let taken = 0;
  const chunkBytes = Math.min(READ_CHUNK_BYTES, limits.maxBytes);
  const { next, ended, damage } = await scanSegment(
    directory,
    start,
    chunkBytes,
    (frame, position, bytes) => {
      if (taken > 0 && taken + bytes > limits.maxBytes) return 'too much';
      taken += bytes;
      if (frame.kind === 'finished') entries.push({ ...frame.entry, position });
      return entries.length === limits.maxEntries ? 'last' : 'next';
    },
  );

  // Only the end of a sealed segment is an end: in the last one, more may come behind what is there now.
  if (isSealed && ended) return { entries, next: nextSegment, damage: null };
  // What lies before the damage is told first; the next reading begins at it.
  if (damage === null || taken > 0) return { entries, next, damage: null };
  return { entries, next: isSealed ? nextSegment : next, damage };
}

/** Removes the segments that lie wholly before `position`: their entries are stored. */
export async function trimOutbox(directory: string, position: OutboxPosition): Promise<void> {
  for (const segment of await listSegments(directory)) {
    if (segment < position.segment) await rm(join(directory, segmentName(segment)), { force: true });
  }
}

/** Takes the outbox of a process that is gone; null while that process lives. */
export function takeAbandonedOutbox(directory: string): Lock | null {
  return tryLock(join(directory, OWNER_LOCK));
}

/** Removes an outbox that was taken and read to its end. */
export async function removeOutbox(directory: string, lock: Lock): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  lock.release();
}
