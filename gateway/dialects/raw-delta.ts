/**
 * Deltas, the bulk of every stream, found in their bytes without parsing: a text between known bytes. The text is copied
 * unchanged from one dialect's event into the other's.
 */
import { byteStringEnd } from '#core/json/mod.ts';

/** A delta whose text, a JSON string with its quotes, is in the frame from `start` to before `end`. */
export type RawDelta = { type: 'text' | 'tool_arguments'; call: number; start: number; end: number };

const QUOTE = 0x22;

/** Up to this length, comparing and copying bytes one by one is faster than a call out of JavaScript. */
const FEW_BYTES = 64;

/** Limit of a raw delta's text: usually some words. The few longer ones are parsed. */
const DELTA_BYTES = 4_096;

/** Returns whether `bytes` holds `expected` at `from`. */
export function holdsAt(bytes: Buffer, expected: Buffer, from: number): boolean {
  const { length } = expected;
  if (bytes.length < from + length) return false;
  if (length > FEW_BYTES) return expected.compare(bytes, from, from + length) === 0;
  for (let at = 0; at < length; at += 1) if (bytes[from + at] !== expected[at]) return false;
  return true;
}

/** Returns the position after the JSON string whose quote is at `from`; -1 when there is none, or an empty one. */
export function stringEnd(bytes: Buffer, from: number): number {
  return bytes[from] === QUOTE && bytes[from + 1] !== QUOTE ? byteStringEnd(bytes, from, DELTA_BYTES) : -1;
}

/** Returns `head`, the delta's text and `tail` as one buffer. */
export function writeRawDelta(head: Buffer, frame: Buffer, { start, end }: RawDelta, tail: Buffer): Buffer {
  const tailAt = head.length + end - start;
  const out = Buffer.allocUnsafe(tailAt + tail.length);
  out.set(head, 0);
  if (end - start > FEW_BYTES) out.set(frame.subarray(start, end), head.length);
  else for (let at = start; at < end; at += 1) out[head.length + at - start] = frame[at]!;
  out.set(tail, tailAt);
  return out;
}
