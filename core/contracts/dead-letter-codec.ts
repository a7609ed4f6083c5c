/**
 * The entry of a dead letter as one value: u32 length of the head, u32 length of the request, head, request, response;
 * little-endian.
 */
import type { LogEntry } from './log-entry-codec.ts';

/** Size of the two lengths that an entry begins with. */
const LENGTHS_BYTES = 8;

/** Encodes an entry. */
export function encodeEntry({ head, requestBody, responseBody }: LogEntry): Buffer {
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(head.length, 0);
  lengths.writeUInt32LE(requestBody.length, 4);
  return Buffer.concat([lengths, head, requestBody, responseBody]);
}

/** Where a part lies: bytes from `start`, and before `end`. */
export type EntryRange = { start: number; end: number };
export type EntryRanges = Record<keyof LogEntry, EntryRange>;

/**
 * Returns where the parts of an encoded entry lie; null when the bytes are no entry.
 * @param beginning its first 8 bytes at least
 * @param size of the whole
 */
export function entryRanges(beginning: Buffer, size: number): EntryRanges | null {
  if (beginning.length < LENGTHS_BYTES) return null;
  const requestStart = LENGTHS_BYTES + beginning.readUInt32LE(0);
  const responseStart = requestStart + beginning.readUInt32LE(4);
  if (responseStart > size) return null;
  return {
    head: { start: LENGTHS_BYTES, end: requestStart },
    requestBody: { start: requestStart, end: responseStart },
    responseBody: { start: responseStart, end: size },
  };
}

/** Returns the parts of an encoded entry, as views into its bytes; null when the bytes are no entry. */
export function decodeEntry(bytes: Buffer): LogEntry | null {
  const ranges = entryRanges(bytes, bytes.length);
  if (ranges === null) return null;
  const part = ({ start, end }: EntryRange) => bytes.subarray(start, end);
  return {
    head: part(ranges.head),
    requestBody: part(ranges.requestBody),
    responseBody: part(ranges.responseBody),
  };
}
