/**
 * The files of outboxes: `<root>/<outbox id>/<segment>.log`, and `owner.lock` beside them. An outbox belongs to one life of
 * one gateway process, which alone appends to it; readers only read, and remove what has been stored.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const OWNER_LOCK = 'owner.lock';
/** The prefix of an outbox or a segment that is still being made, and that readers must not see yet. */
export const UNFINISHED_PREFIX = '.new-';
/** The prefix of an outbox that is being removed. A process that dies meanwhile leaves it to the next that opens an outbox. */
export const REMOVED_PREFIX = '.gone-';

/** Returns the segment's file name: zero-padded, so that names sort as numbers. */
export function segmentName(segment: number): string {
  return `${String(segment).padStart(10, '0')}.log`;
}

/** Returns the segments of an outbox, oldest first. */
export async function listSegments(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^\d{10}\.log$/.test(name))
    .map((name) => Number(name.slice(0, 10)))
    .sort((a, b) => a - b);
}

/** Returns the outboxes below `root`, oldest first (their ids are ULIDs); none when `root` does not exist. */
export async function listOutboxes(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

/** Returns the bytes of an outbox from a position on. */
export async function bytesBehind(
  directory: string,
  position: { segment: number; offset: number },
): Promise<number> {
  let bytes = 0;
  for (const segment of await listSegments(directory)) {
    if (segment < position.segment) continue;
    const before = segment === position.segment ? position.offset : 0;
    bytes += Math.max(0, (await sizeOf(directory, segment)) - before);
  }
  return bytes;
}

/** Returns the bytes of a segment: 0 when a reader has removed it since it was listed. */
async function sizeOf(directory: string, segment: number): Promise<number> {
  const file = await stat(join(directory, segmentName(segment))).catch(() => null);
  return file?.size ?? 0;
}

/** Returns the bytes of all segments of all outboxes below `root`, which the outbox's bound limits. */
export async function bytesBelow(root: string): Promise<number> {
  let bytes = 0;
  for (const outbox of await listOutboxes(root)) {
    const directory = join(root, outbox);
    for (const segment of await listSegments(directory).catch(() => []))
      bytes += await sizeOf(directory, segment);
  }
  return bytes;
}
