/**
 * The bytes of one frame in a segment file:
 *
 *   u32  length of everything after these first 8 bytes
 *   u32  CRC-32 of the same
 *   u16  kind: 1 finished, 2 begun, 3 void
 *   u48  number of the call, counted by the writer of this outbox; 0 of one that was never begun
 *   u32  length of the head
 *   u32  length of the request body
 *   head (JSON), request body, response body
 *
 * Little-endian. Written by one process, only ever appended; a reader that meets an incomplete frame has met the end.
 */
import { crc32 } from 'node:zlib';

/**
 * A log entry before its head is parsed: the head as JSON (core/contracts/log-entry.ts), the request body as the client
 * sent it, the answer as the provider sent it (an event stream as its raw text), possibly compressed.
 */
export type RawEntry = { head: Uint8Array; requestBody: Uint8Array; responseBody: Uint8Array };

/**
 * `finished`: an entry to be stored. `begun` (START): the entry to be stored of a call of which nothing follows. `void`:
 * the call of this number ended, and has no entry.
 */
export type Frame = { kind: (typeof KINDS)[number]; call: number; entry: RawEntry };

/** A frame as buffers for one gathering write. */
export type EncodedFrame = { buffers: Uint8Array[]; bytes: number };

const PREFIX_BYTES = 8;
/** Kind, number and lengths: what the checksum covers beside the entry. */
const FIELDS_BYTES = 16;
const HEADER_BYTES = PREFIX_BYTES + FIELDS_BYTES;

/** A kind is written as its place in this list, counted from 1. */
const KINDS = ['finished', 'begun', 'void'] as const;

const NOTHING = new Uint8Array(0);
export const NO_ENTRY: RawEntry = { head: NOTHING, requestBody: NOTHING, responseBody: NOTHING };

/**
 * Above what a gateway has to write (a body of 48 MiB and an answer of 192): the writer refuses more, so to a reader a
 * larger length can only be damage. As text, twice this fits a JavaScript string, which a dead letter needs.
 */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/** Up to here a frame is made in one piece: to copy its parts costs less than to sum and write them one by one. */
const COPIED_BYTES = 16 * 1024;

/** Encodes a frame. Parts of a large one are not copied. */
export function encodeFrame({ kind, call, entry }: Frame): EncodedFrame {
  const { head, requestBody, responseBody } = entry;
  const bytes = HEADER_BYTES + head.length + requestBody.length + responseBody.length;
  const isCopied = bytes <= COPIED_BYTES;
  const first = Buffer.allocUnsafe(isCopied ? bytes : HEADER_BYTES);
  first.writeUInt32LE(bytes - PREFIX_BYTES, 0);
  first.writeUInt16LE(KINDS.indexOf(kind) + 1, 8);
  first.writeUIntLE(call, 10, 6);
  first.writeUInt32LE(head.length, 16);
  first.writeUInt32LE(requestBody.length, 20);
  const parts = [head, requestBody, responseBody];
  if (isCopied) {
    let at = HEADER_BYTES;
    for (const part of parts) {
      first.set(part, at);
      at += part.length;
    }
  }
  let checksum = crc32(first.subarray(PREFIX_BYTES));
  const buffers: Uint8Array[] = [first];
  if (!isCopied) {
    for (const part of parts) {
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
  /** Not all of the frame is there; `bytes` is what it needs, at least. */
  | { state: 'incomplete'; bytes: number }
  | { state: 'damaged'; reason: string };

/** Reads the frame that starts at `offset`. The entry's parts are views into `source`. */
export function decodeFrame(source: Buffer, offset: number): DecodedFrame {
  const available = source.length - offset;
  if (available < PREFIX_BYTES) return { state: 'incomplete', bytes: PREFIX_BYTES };
  const length = source.readUInt32LE(offset);
  if (length < FIELDS_BYTES || length > MAX_FRAME_BYTES)
    return { state: 'damaged', reason: `a frame of ${length} bytes` };
  const bytes = PREFIX_BYTES + length;
  if (available < bytes) return { state: 'incomplete', bytes };
  const payload = source.subarray(offset + PREFIX_BYTES, offset + bytes);
  if (crc32(payload) !== source.readUInt32LE(offset + 4))
    return { state: 'damaged', reason: 'checksum mismatch' };
  const kind = KINDS[payload.readUInt16LE(0) - 1];
  if (kind === undefined) return { state: 'damaged', reason: 'a frame of an unknown kind' };
  const headEnd = FIELDS_BYTES + payload.readUInt32LE(8);
  const requestEnd = headEnd + payload.readUInt32LE(12);
  if (requestEnd > length) return { state: 'damaged', reason: 'lengths do not add up' };
  const entry = {
    head: payload.subarray(FIELDS_BYTES, headEnd),
    requestBody: payload.subarray(headEnd, requestEnd),
    responseBody: payload.subarray(requestEnd),
  };
  return { state: 'whole', frame: { kind, call: payload.readUIntLE(2, 6), entry }, bytes };
}
