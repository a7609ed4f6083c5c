/**
 * Returns a text of at most `maxBytes` bytes of UTF-8. A longer text loses its end, never inside a character, and `mark`
 * takes the place of that end within the limit.
 */
export function cutToBytes(text: string, maxBytes: number, mark = ''): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const kept = new Uint8Array(maxBytes - Buffer.byteLength(mark));
  const { read } = new TextEncoder().encodeInto(text, kept);
  return text.slice(0, read) + mark;
}
