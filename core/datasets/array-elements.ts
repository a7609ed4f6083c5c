import { byteStringEnd } from '../json/mod.ts';

const [QUOTE, COMMA] = [0x22, 0x2c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Yields the texts of the elements of an array one by one, without parsing them, with the space around them.
 * @param bytes a JSON array that is known to be valid
 */
export function* arrayElements(bytes: Buffer): Generator<Buffer, void> {
  let depth = 0;
  let from = 1;
  let isEmpty = true;
  for (let at = 1; at < bytes.length - 1; at += 1) {
    const code = bytes[at]!;
    if (code > 0x20) isEmpty = false;
    if (code === QUOTE) at = byteStringEnd(bytes, at) - 1;
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    else if (code === COMMA && depth === 0) {
      yield bytes.subarray(from, at);
      from = at + 1;
    }
  }
  if (!isEmpty) yield bytes.subarray(from, bytes.length - 1);
}
