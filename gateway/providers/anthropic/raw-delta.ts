/**
 * The events that streams are made of, found in their bytes without being parsed: a text between bytes that are known.
 * It is copied from one dialect's event into the other's as it is.
 */
import { byteStringEnd } from '#core/json/mod.ts';

/** A delta whose text, a JSON string with its quotes, stands in the frame from `start` to before `end`. */
export type RawDelta = { type: 'text' | 'tool_arguments'; call: number; start: number; end: number };

const QUOTE = 0x22;

/** Up to here bytes are compared and copied sooner one by one than by a call out of JavaScript. */
const FEW_BYTES = 64;

/** The text of a delta is some words; a few providers send whole pages. */
const DELTA_BYTES = 4_096;

/** Whether `bytes` holds `expected` at `from`. */
export function holdsAt(bytes: Buffer, expected: Buffer, from: number): boolean {
  const { length } = expected;
  if (bytes.length < from + length) return false;
  if (length > FEW_BYTES) return expected.compare(bytes, from, from + length) === 0;
  for (let at = 0; at < length; at += 1) if (bytes[from + at] !== expected[at]) return false;
  return true;
}

/** Behind the JSON string that starts with its quote at `from`; -1 when there is none, or an empty one. */
export function stringEnd(bytes: Buffer, from: number): number {
  return bytes[from] === QUOTE && bytes[from + 1] !== QUOTE ? byteStringEnd(bytes, from, DELTA_BYTES) : -1;
}

/** `head`, the delta's text and `tail`. */
export function writeRawDelta(head: Buffer, frame: Buffer, { start, end }: RawDelta, tail: Buffer): Buffer {
  const tailAt = head.length + end - start;
  const out = Buffer.allocUnsafe(tailAt + tail.length);
  out.set(head, 0);
  if (end - start > FEW_BYTES) out.set(frame.subarray(start, end), head.length);
  else for (let at = start; at < end; at += 1) out[head.length + at - start] = frame[at]!;
  out.set(tail, tailAt);
  return out;
}
