/** Reads the text of a JSON string, as UTF-8, in turns. */
import { inTurns, joinBytesInTurns } from '#platform/process/turns.ts';

const [BACKSLASH, LETTER_U] = [0x5c, 0x75];
/** Unescaping takes 3 ms for each megabyte at most. */
const SLICE_BYTES = 512 * 1024;
const BYTES_OF_ESCAPE = 6;
const HIGH_HALF = /^d[89ab]/i;

/**
 * Reads a string of any length without holding up the event loop.
 * @param written JSON that is known to be valid, with its quotes
 */
export async function readText(written: Buffer): Promise<Buffer> {
  const content = written.subarray(1, -1);
  if (content.indexOf(BACKSLASH) === -1) return content;
  const pieces: Buffer[] = [];
  let at = 0;
  await inTurns(() => {
    const end = sliceEnd(content, at);
    pieces.push(Buffer.from(JSON.parse(`"${content.toString('utf8', at, end)}"`) as string));
    at = end;
    return at === content.length;
  });
  return joinBytesInTurns(pieces);
}

/** Finds the end of a slice that starts at `from`: in no escape, in no character, and between no surrogate pair's halves. */
function sliceEnd(content: Buffer, from: number): number {
  const limit = from + SLICE_BYTES;
  let at = from;
  let isHighHalf = false;
  while (at < content.length && (at < limit || isHighHalf)) {
    isHighHalf = false;
    if (content[at] !== BACKSLASH) at += 1;
    else if (content[at + 1] !== LETTER_U) at += 2;
    else {
      isHighHalf =
        at + BYTES_OF_ESCAPE >= limit && HIGH_HALF.test(content.toString('latin1', at + 2, at + 4));
      at += BYTES_OF_ESCAPE;
    }
  }
  while (at < content.length && (content[at]! & 0xc0) === 0x80) at += 1;
  return at;
}
