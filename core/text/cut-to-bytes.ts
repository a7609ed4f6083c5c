const encoder = new TextEncoder();
/** A UTF-16 code unit has at most so many bytes in UTF-8. */
const MOST_BYTES_A_UNIT = 3;

/**
 * Returns a text of at most `maxBytes` bytes of UTF-8. A longer text loses its end, never inside a character, and `mark`
 * takes the place of that end within the limit.
 */
export function cutToBytes(text: string, maxBytes: number, mark = ''): string {
  if (text.length * MOST_BYTES_A_UNIT <= maxBytes || unitsWithin(text, maxBytes) === text.length) return text;
  return text.slice(0, unitsWithin(text, maxBytes - encoder.encode(mark).length)) + mark;
}

/** Returns how many code units of a text, in whole characters, fit into so many bytes. */
function unitsWithin(text: string, bytes: number): number {
  return encoder.encodeInto(text, new Uint8Array(bytes)).read;
}
