/**
 * The bytes of one frame in a segment file:
 *
 *   u32  length of everything after these first 8 bytes
 *   u32  CRC-32 of the same; of kind 4, of that length, of the same without the bodies, and of samples of those
 *   u16  kind: 1 finished, 2 begun, 3 void, 4 finished with large bodies
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
/** Number of a finished frame whose bodies are too large to be checked byte for byte. */
const SAMPLED_KIND = 4;

/**
 * Above the largest entry that a gateway writes (a request body of 48 MiB and a response body of 192): the writer refuses
 * more, so to a reader a larger length can only be damage. As text, twice this fits a JavaScript string, which a dead
 * letter needs.
 */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/** Up to here a frame is made in one piece: copying its parts costs less than a checksum and a buffer for each. */
const COPIED_BYTES = 16 * 1024;

/** The least that a disk writes, or fails to write, in one piece. */
const SECTOR_BYTES = 512;
/** Bytes of each sector that are checked. */
const SAMPLE_BYTES = 8;
/** Samples on their way into a checksum. Whoever fills it reads it at once. */
const samples = Buffer.alloc(1_024 * SAMPLE_BYTES);

/**
 * Adds samples of a body to a checksum: the first bytes of each 512, and the last bytes. What a disk loses or mixes up are whole
 * sectors, so it is found, unless another sector has the same samples. A single bit that changes is found only in a body that is
 * checked whole.
 */
function sampledChecksum(body: Uint8Array, checksum: number): number {
  let found = checksum;
  let filled = 0;
  for (let from = 0; from < body.length; from += SECTOR_BYTES) {
    const to = Math.min(from + SAMPLE_BYTES, body.length);
    for (let at = from; at < to; at += 1) {
      samples[filled] = body[at]!;
      filled += 1;
    }
    if (filled > samples.length - SAMPLE_BYTES) {
      found = crc32(samples.subarray(0, filled), found);
      filled = 0;
    }
  }
  return crc32(body.subarray(-SAMPLE_BYTES), crc32(samples.subarray(0, filled), found));
}

/** Returns the checksum of a frame's length: a response that a wrong length cuts off could have the samples of the whole one. */
function lengthChecksum(frame: Buffer, offset: number): number {
  return crc32(frame.subarray(offset, offset + 4));
}

/** Adds the parts of an entry to a checksum. */
function entryChecksum(
  { head, requestBody, responseBody }: LogEntry,
  isSampled: boolean,
  checksum: number,
): number {
  let found = checksum;
  for (const part of [head, requestBody, responseBody]) {
    // zlib begins anew at an address of nothing, which an empty array may have.
    if (part.length > 0)
      found = isSampled && part !== head ? sampledChecksum(part, found) : crc32(part, found);
  }
  return found;
}

/** Encodes a frame. The parts of a large one are not copied. */
export function encodeFrame({ kind, call, entry }: Frame): EncodedFrame {
  const bytes = ENTRY_OFFSET + encodedSize(entry, 'bounded');
  const isCopied = bytes <= COPIED_BYTES;
  const isSampled = !isCopied && kind === 'finished';
  const first = Buffer.allocUnsafe(isCopied ? bytes : ENTRY_OFFSET + lengthsSize('bounded'));
  first.writeUInt32LE(bytes - PREFIX_BYTES, 0);
  first.writeUInt16LE(isSampled ? SAMPLED_KIND : KINDS.indexOf(kind) + 1, PREFIX_BYTES);
  first.writeUIntLE(call, PREFIX_BYTES + 2, 6);
  if (isCopied) writeEntry(first, ENTRY_OFFSET, entry, 'bounded');
  else writeLengths(first, ENTRY_OFFSET, entry, 'bounded');
  const own = crc32(first.subarray(PREFIX_BYTES), isSampled ? lengthChecksum(first, 0) : 0);
  first.writeUInt32LE(isCopied ? own : entryChecksum(entry, isSampled, own), 4);
  if (isCopied) return { buffers: [first], bytes };
  const parts = [entry.head, entry.requestBody, entry.responseBody].filter((part) => part.length > 0);
  return { buffers: [first, ...parts], bytes };
}

export type DecodedFrame =
  | { state: 'whole'; frame: Frame; bytes: number }
  /** The end of the frame is missing; `bytes` is what the frame needs, at least. */
  | { state: 'incomplete'; bytes: number }
  /** `bytes` is how long the frame says it is, where a frame can be so long. */
  | { state: 'damaged'; reason: string; bytes: number | null };

/** Reads the frame that starts at `offset`. The entry's parts are views into `source`. */
export function decodeFrame(source: Buffer, offset: number): DecodedFrame {
  const available = source.length - offset;
  if (available < PREFIX_BYTES) return { state: 'incomplete', bytes: PREFIX_BYTES };
  const length = source.readUInt32LE(offset);
  if (length < LEAST_LENGTH || length > MAX_FRAME_BYTES)
    return { state: 'damaged', reason: `a frame of ${length} bytes`, bytes: null };
  const bytes = PREFIX_BYTES + length;
  if (available < bytes) return { state: 'incomplete', bytes };
  const payload = source.subarray(offset + PREFIX_BYTES, offset + bytes);
  const checksum = source.readUInt32LE(offset + 4);
  const number = payload.readUInt16LE(0);
  const isSampled = number === SAMPLED_KIND;
  const damaged = (reason: string): DecodedFrame => ({ state: 'damaged', reason, bytes });
  if (!isSampled && crc32(payload) !== checksum) return damaged('checksum mismatch');
  const kind = isSampled ? 'finished' : KINDS[number - 1];
  if (kind === undefined) return damaged('a frame of an unknown kind');
  const read = readEntry(payload, FIELDS_BYTES, 'bounded');
  if (read === null) return damaged('lengths do not add up');
  const { entry } = read;
  if (isSampled) {
    const own = crc32(payload.subarray(0, LEAST_LENGTH), lengthChecksum(source, offset));
    if (entryChecksum(entry, isSampled, own) !== checksum) return damaged('checksum mismatch');
  }
  return { state: 'whole', frame: { kind, call: payload.readUIntLE(2, 6), entry }, bytes };
}
