/**
 * The events that streams are made of, found in their bytes without being parsed: a text between bytes that are known.
 * It is copied from one dialect's event into the other's as it is.
 */

/** A delta whose text, a JSON string with its quotes, stands in the frame from `start` to before `end`. */
export type RawDelta = { type: 'text' | 'tool_arguments'; call: number; start: number; end: number };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether `bytes` holds `expected` at `from`. */
export function holdsAt(bytes: Buffer, expected: Buffer, from: number): boolean {
  const end = from + expected.length;
  return bytes.length >= end && expected.compare(bytes, from, end) === 0;
}

/** Behind the JSON string that starts with its quote at `from`; -1 when there is none, or an empty one. */
export function stringEnd(bytes: Buffer, from: number): number {
  if (bytes[from] !== QUOTE) return -1;
  for (let at = from + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at === from + 1 ? -1 : at + 1;
  }
  return -1;
}

/** `head`, the delta's text and `tail`. */
export function writeRawDelta(head: Buffer, frame: Buffer, { start, end }: RawDelta, tail: Buffer): Buffer {
  const out = Buffer.allocUnsafe(head.length + end - start + tail.length);
  out.set(head, 0);
  out.set(frame.subarray(start, end), head.length);
  out.set(tail, head.length + end - start);
  return out;
}
