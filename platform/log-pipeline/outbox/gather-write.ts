/** Writes many buffers one behind the other, whole. */
import { writev, writevSync } from 'node:fs';

/** Up to this size the event loop writes by itself, which is faster than a round trip to a thread; more would stall calls. */
const LARGEST_SYNC_WRITE = 512 * 1024;
/** The most buffers that writev takes (IOV_MAX). */
const MAX_BUFFERS = 1_024;

/**
 * Writes all of `buffers`, together `bytes` long, at the file's position.
 * @throws Error when the disk takes no more; part of it may have been written
 */
export async function gatherWrite(
  file: number,
  buffers: readonly Uint8Array[],
  bytes: number,
): Promise<void> {
  const isSmall = bytes <= LARGEST_SYNC_WRITE;
  let rest = buffers;
  while (rest.length > 0) {
    const next = rest.length > MAX_BUFFERS ? rest.slice(0, MAX_BUFFERS) : rest;
    const written = isSmall ? writevSync(file, next) : await writevInThread(file, next);
    if (!(written > 0)) throw new Error('the disk takes no more bytes');
    rest = afterBytes(rest, written);
  }
}

/** Calls writev in a thread. Without `promisify`, whose result differs between Node and Deno. */
function writevInThread(file: number, buffers: readonly Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(file, buffers, (error, written) => (error ? reject(error) : resolve(written)));
  });
}

/** Returns what is left of `buffers` behind the first `written` bytes. */
function afterBytes(buffers: readonly Uint8Array[], written: number): readonly Uint8Array[] {
  let skip = written;
  let first = 0;
  while (first < buffers.length && skip >= buffers[first]!.length) {
    skip -= buffers[first]!.length;
    first += 1;
  }
  if (first === buffers.length) return [];
  return [buffers[first]!.subarray(skip), ...buffers.slice(first + 1)];
}
