/**
 * Where things lie: `<root>/<outbox id>/<segment>.log` and `owner.lock` beside them. One outbox is one life of one
 * gateway process, which alone appends to it; readers only read, and remove what has been stored.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export const OWNER_LOCK = 'owner.lock';
/** An outbox, or a segment, that is still being made is not one yet. */
export const UNFINISHED_PREFIX = '.new-';

/** The segment's file name: zero-padded, so that names sort as numbers. */
export function segmentName(segment: number): string {
  return `${String(segment).padStart(10, '0')}.log`;
}

/** The segments of an outbox, oldest first. */
export async function listSegments(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^\d{10}\.log$/.test(name))
    .map((name) => Number(name.slice(0, 10)))
    .sort((a, b) => a - b);
}

/** The outboxes below `root`, oldest first (their ids are ULIDs). None when `root` does not exist. */
export async function listOutboxes(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('#core/outbox'))
    .map((entry) => entry.name)
    .sort();
}

/** Bytes of all segments of all outboxes below `root`: what the bound is held against. */
export async function bytesBelow(root: string): Promise<number> {
  let bytes = 0;
  for (const outbox of await listOutboxes(root)) {
    const directory = join(root, outbox);
    for (const segment of await listSegments(directory).catch(() => [])) {
      // A reader may remove the file between listing and asking: then it no longer counts.
      const file = await stat(join(directory, segmentName(segment))).catch(() => null);
      bytes += file?.size ?? 0;
    }
  }
  return bytes;
}
