/**
 * The bytes of one frame in a segment file:
 *
 *   u32  length of everything after these first 8 bytes
 *   u32  CRC-32 of the same
 *   u16  kind: 1 finished, 2 begun, 3 void
 *   u48  number of the call, counted by the writer of this outbox; 0 for a call that was never begun
 *   log entry, bounded by the frame's length (core/contracts/log-entry-codec.ts)
 *
 * Little-endian. One process writes, and only appends; a reader that meets an incomplete frame has met the end. A frame
 * with another layout must have another kind: a reader that does not know the kind reports damage and never misreads it.
 */
import { crc32 } from 'node:zlib';
import {
  encodedSize,
  type LogEntry,
  lengthsSize,
  readEntry,
  writeEntry,
  writeLengths,
} from '#core/contracts/log-entry-codec.ts';

/**
 * `finished`: an entry to be stored. `begun` (START): the entry to be stored if nothing follows for the call. `void`: the
 * call of this number ended and has no entry.
 */
export type Frame = { kind: (typeof KINDS)[number]; call: number; entry: LogEntry };

/** A frame as buffers for one gathering write. */
export type EncodedFrame = { buffers: Uint8Array[]; bytes: number };

const PREFIX_BYTES = 8;
/** Kind and number of the call: what the checksum covers beside the entry. */
const FIELDS_BYTES = 8;
const ENTRY_OFFSET = PREFIX_BYTES + FIELDS_BYTES;
/** A frame whose entry is empty. */
const LEAST_LENGTH = FIELDS_BYTES + lengthsSize('bounded');

/** A kind is written as its place in this list, counted from 1. */
const KINDS = ['finished', 'begun', 'void'] as const;

/**
 * Above the largest entry that a gateway writes (a request body of 48 MiB and a response body of 192): the writer refuses
 * more, so to a reader a larger length can only be damage. As text, twice this fits a JavaScript string, which a dead
 * letter needs.
 */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/** Up to here a frame is made in one piece: copying its parts costs less than a checksum and a buffer for each. */
const COPIED_BYTES = 16 * 1024;

/** Encodes a frame. The parts of a large one are not copied. */
export function encodeFrame({ kind, call, entry }: Frame): EncodedFrame {
  const bytes = ENTRY_OFFSET + encodedSize(entry, 'bounded');
  const isCopied = bytes <= COPIED_BYTES;
  const first = Buffer.allocUnsafe(isCopied ? bytes : PREFIX_BYTES + LEAST_LENGTH);
  first.writeUInt32LE(bytes - PREFIX_BYTES, 0);
  first.writeUInt16LE(KINDS.indexOf(kind) + 1, PREFIX_BYTES);
  first.writeUIntLE(call, PREFIX_BYTES + 2, 6);
  const buffers: Uint8Array[] = [first];
  let checksum: number;
  if (isCopied) {
    writeEntry(first, ENTRY_OFFSET, entry, 'bounded');
    checksum = crc32(first.subarray(PREFIX_BYTES));
  } else {
    writeLengths(first, ENTRY_OFFSET, entry, 'bounded');
    checksum = crc32(first.subarray(PREFIX_BYTES));
    for (const part of [entry.head, entry.requestBody, entry.responseBody]) {
      if (part.length === 0) continue;
      checksum = crc32(part, checksum);
      buffers.push(part);
    }
  }
  first.writeUInt32LE(checksum, 4);
  return { buffers, bytes };
}

export type DecodedFrame =
  | { state: 'whole'; frame: Frame; bytes: number }
  /** The end of the frame is missing; `bytes` is what the frame needs, at least. */
  | { state: 'incomplete'; bytes: number }
  | { state: 'damaged'; reason: string };

/** Reads the frame that starts at `offset`. The entry's parts are views into `source`. */
export function decodeFrame(source: Buffer, offset: number): DecodedFrame {
  const available = source.length - offset;
  if (available < PREFIX_BYTES) return { state: 'incomplete', bytes: PREFIX_BYTES };
  const length = source.readUInt32LE(offset);
  if (length < LEAST_LENGTH || length > MAX_FRAME_BYTES)
    return { state: 'damaged', reason: `a frame of ${length} bytes` };
  const bytes = PREFIX_BYTES + length;
  if (available < bytes) return { state: 'incomplete', bytes };
  const payload = source.subarray(offset + PREFIX_BYTES, offset + bytes);
  if (crc32(payload) !== source.readUInt32LE(offset + 4))
    return { state: 'damaged', reason: 'checksum mismatch' };
  const kind = KINDS[payload.readUInt16LE(0) - 1];
  if (kind === undefined) return { state: 'damaged', reason: 'a frame of an unknown kind' };
  const read = readEntry(payload, FIELDS_BYTES, 'bounded');
  if (read === null) return { state: 'damaged', reason: 'lengths do not add up' };
  return { state: 'whole', frame: { kind, call: payload.readUIntLE(2, 6), entry: read.entry }, bytes };
}
