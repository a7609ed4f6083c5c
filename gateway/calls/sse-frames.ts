/**
 * An event stream as bytes, cut at its events. Bytes in, the same bytes out: frames are never re-written, only passed
 * on, held back or left out.
 */

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);

/** The longest end of a frame: two line ends of which the second is CR LF, after the LF of the first. */
const SEAM_BYTES = 3;

/** Splits what comes in into whole frames, each with the blank line that ends it. */
export class FrameSplitter {
  /** Bytes after the last whole frame. Joined only when their frame ends, so that a huge event is copied once. */
  #rest: Buffer[] = [];

  /** Takes a chunk; returns the frames that it made whole. */
  push(chunk: Buffer): Buffer[] {
    if (this.#rest.length > 0) {
      const seam = Buffer.concat([this.#tail(), chunk.subarray(0, SEAM_BYTES)]);
      if (frameEnd(seam, 0) === -1 && frameEnd(chunk, 0) === -1) {
        this.#rest.push(chunk);
        return [];
      }
    }
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([...this.#rest, chunk]);
    const frames: Buffer[] = [];
    let start = 0;
    for (let end = frameEnd(bytes, 0); end !== -1; end = frameEnd(bytes, end)) {
      frames.push(bytes.subarray(start, end));
      start = end;
    }
    this.#rest = start === bytes.length ? [] : [bytes.subarray(start)];
    return frames;
  }

  /** What came after the last whole frame: a last event that no blank line ended, or a torn one. */
  rest(): Buffer {
    return Buffer.concat(this.#rest);
  }

  #tail(): Buffer {
    let tail = NOTHING;
    for (let index = this.#rest.length - 1; index >= 0 && tail.length < SEAM_BYTES; index -= 1) {
      tail = Buffer.concat([this.#rest[index]!.subarray(-SEAM_BYTES), tail]);
    }
    return tail.subarray(-SEAM_BYTES);
  }
}

/** Behind the first blank line that ends at or after `from`; -1 when there is none. */
function frameEnd(bytes: Buffer, from: number): number {
  for (let newline = bytes.indexOf(LF, from); newline !== -1; newline = bytes.indexOf(LF, newline + 1)) {
    if (bytes[newline + 1] === LF) return newline + 2;
    if (bytes[newline + 1] === CR && bytes[newline + 2] === LF) return newline + 3;
  }
  return -1;
}

/**
 * Whether a frame holds nothing but usage: `choices` empty and a `usage` object, as OpenAI sends it last when asked.
 * The bytes are searched first, so that ordinary frames are not parsed.
 */
export function isUsageFrame(frame: Buffer): boolean {
  const choices = frame.indexOf('"choices"');
  if (choices === -1 || !frame.includes('"usage"')) return false;
  if (!/^"choices"\s*:\s*\[\s*\]/.test(frame.toString('latin1', choices, choices + 32))) return false;
  const data = frame
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    const chunk = JSON.parse(data) as { choices?: unknown; usage?: unknown };
    return (
      Array.isArray(chunk.choices) &&
      chunk.choices.length === 0 &&
      typeof chunk.usage === 'object' &&
      chunk.usage !== null
    );
  } catch {
    return false;
  }
}
