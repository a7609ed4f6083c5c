/**
 * Reads an outbox from a position onward, in order, and never past an incomplete frame. The process that stores the entries
 * keeps the position, in the transaction that stores them.
 */
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { type Lock, tryLock } from '../../process/process-lock.ts';
import { listSegments, OWNER_LOCK, REMOVED_PREFIX, segmentName } from './layout.ts';
import { type Damage, type OutboxPosition, READ_CHUNK_BYTES, type Scan, scanSegment } from './scan.ts';

/** `maxBytes` counts all frames that are read, the STARTs between the entries too. */
export type ReadLimits = { maxEntries: number; maxBytes: number };

/** A finished entry and its position, which names it for good. */
export type OutboxEntry = LogEntry & { position: OutboxPosition };

export type ReadResult = {
  /** Finished entries only. */
  entries: OutboxEntry[];
  /** Where to go on reading. It may have moved although there are no entries: then there were STARTs only. */
  next: OutboxPosition;
  /**
   * Set, with no entries, when the bytes at the position are not a frame. `next` is then at the next whole frame; where none is
   * known, behind the segment, or the same position while more may be written to the segment.
   */
  damage: Damage | null;
  /** The limits or the end of a segment stopped the reading: more is likely to be there. */
  hasMore: boolean;
};

/** Reads from `from` up to the limits. Reads at least one frame, however large, when there is one. */
export async function readOutbox(
  directory: string,
  from: OutboxPosition,
  limits: ReadLimits,
): Promise<ReadResult> {
  for (;;) {
    const segments = await listSegments(directory);
    const segment = segments.find((candidate) => candidate >= from.segment);
    if (segment === undefined) return { entries: [], next: from, damage: null, hasMore: false };
    try {
      return await readSegment({ directory, segments, segment, from, limits });
    } catch (error) {
      // Another reader may have removed the segment since it was listed.
      const isGone = (error as { code?: unknown }).code === 'ENOENT';
      if (!isGone || (await listSegments(directory)).includes(segment)) throw error;
    }
  }
}

async function readSegment({
  directory,
  segments,
  segment,
  from,
  limits,
}: {
  directory: string;
  /** All segments of the outbox. */
  segments: readonly number[];
  /** The one to read. */
  segment: number;
  from: OutboxPosition;
  limits: ReadLimits;
}): Promise<ReadResult> {
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
      if (taken > 0 && taken + bytes > limits.maxBytes) return 'stop before';
      taken += bytes;
      if (frame.kind === 'finished') entries.push({ ...frame.entry, position });
      return entries.length === limits.maxEntries ? 'stop behind' : 'go on';
    },
  );

  // Only a sealed segment has an end: more may be written to the last one.
  if (isSealed && ended) return { entries, next: nextSegment, damage: null, hasMore: true };
  // Entries before the damage are returned first; the next reading begins at the damage.
  if (damage === null || taken > 0) return { entries, next, damage: null, hasMore: !ended };
  const behind = damage.end ?? (isSealed ? nextSegment : null);
  return { entries, next: behind ?? next, damage, hasMore: behind !== null };
}

/** Removes the segments before the one of `position`: their entries are stored. */
export async function trimOutbox(directory: string, position: OutboxPosition): Promise<void> {
  for (const segment of await listSegments(directory)) {
    if (segment < position.segment) await rm(join(directory, segmentName(segment)), { force: true });
  }
}

/** Takes the outbox of a process that is gone. Returns null while that process lives, and when the outbox was removed. */
export function takeAbandonedOutbox(directory: string): Lock | null {
  let lock: Lock | null;
  try {
    lock = tryLock(join(directory, OWNER_LOCK));
  } catch (error) {
    if (existsSync(directory)) throw error;
    return null;
  }
  if (existsSync(directory)) return lock;
  // It was removed between the opening of the lock's file and the lock.
  lock?.release();
  return null;
}

/**
 * Removes an outbox that was taken and read to its end. It is renamed first: a process that looked into it while its files
 * were removed one by one would make the lock file anew, and take what is left for an outbox.
 */
export async function removeOutbox(directory: string, lock: Lock): Promise<void> {
  const removed = join(dirname(directory), `${REMOVED_PREFIX}${basename(directory)}`);
  await rename(directory, removed);
  await rm(removed, { recursive: true, force: true });
  lock.release();
}

/** Removes what is left of outboxes below `root` whose removal was interrupted. */
export async function removeRemains(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (name.startsWith(REMOVED_PREFIX)) await rm(join(root, name), { recursive: true, force: true });
  }
}

/**
 * Returns the STARTs, in order, of the calls that did not end. Each is an entry ready to be stored: the gateway wrote it for
 * this case. Reads all segments that are left, and holds no more than the STARTs of calls that were open together.
 * @param directory of an outbox that was taken: no process writes to it
 */
export async function readInterrupted(directory: string): Promise<LogEntry[]> {
  const starts = new Map<number, LogEntry>();
  for (const segment of await listSegments(directory)) {
    // A call whose end is in a damaged stretch is reported as interrupted: no more is known of it.
    let from: OutboxPosition | null = { segment, offset: 0 };
    while (from !== null) {
      const { damage }: Scan = await scanSegment(
        directory,
        from,
        READ_CHUNK_BYTES,
        ({ kind, call, entry }) => {
          if (kind === 'begun') starts.set(call, copyOf(entry));
          else starts.delete(call);
          return 'go on';
        },
      );
      from = damage?.end ?? null;
    }
  }
  return [...starts.values()];
}

/** Copies an entry: views would keep the chunks alive that they were read with. */
function copyOf(entry: LogEntry): LogEntry {
  return {
    head: Buffer.from(entry.head),
    requestBody: Buffer.from(entry.requestBody),
    responseBody: Buffer.from(entry.responseBody),
  };
}
