/**
 * An event stream as bytes, cut at its events. Bytes in, the same bytes out: frames are never re-written, only passed
 * on, held back or left out.
 */
import { readFrameData } from '#core/chat/mod.ts';
import { GatheredBytes } from '#platform/http-message/mod.ts';

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);

/** The longest end of a frame: two line ends of which the second is CR LF, after the LF of the first. */
const SEAM_BYTES = 3;

/** The beginning of an event that is for the log alone, and not passed on. No provider has one of this name. */
export const NOTE_HEAD = 'event: assay.note\n';
const NOTE_HEAD_BYTES = Buffer.from(NOTE_HEAD);
/** The first letter of its name, at which nearly all other events differ. */
const NOTE_LETTER = 'event: '.length;

/** Returns whether a frame is for the log alone. */
export function isNote(frame: Buffer): boolean {
  if (frame[NOTE_LETTER] !== NOTE_HEAD_BYTES[NOTE_LETTER] || frame.length < NOTE_HEAD_BYTES.length)
    return false;
  return NOTE_HEAD_BYTES.compare(frame, 0, NOTE_HEAD_BYTES.length) === 0;
}

/** Splits a stream into whole frames, each with the blank line that ends it. */
export class SseSplitter {
  readonly #maxFrameBytes: number;
  /** Bytes after the last whole frame. Joined only when their frame ends, so that a huge event is copied once. */
  readonly #rest = new GatheredBytes();
  /** The last bytes of the rest: the end of its frame may lie across pieces. */
  #seam: Buffer = NOTHING;
  #isOverrun = false;
  /** The last byte of the stream's line ends; null until its first line has ended. */
  #lineEnd: typeof LF | typeof CR | null = null;

  /** @param maxFrameBytes how long a frame may be: it is held in memory until it ends */
  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** True when a frame was longer than any may be: it is given up, and so is all that comes behind it. */
  get isOverrun(): boolean {
    return this.#isOverrun;
  }

  /** Takes a chunk; returns the frames that it made whole. */
  push(chunk: Buffer): Buffer[] {
    if (this.#isOverrun) return [];
    this.#lineEnd ??= this.#firstLineEnd(chunk);
    const frameEnd = this.#lineEnd === CR ? frameEndAfterCr : frameEndAfterLf;
    let bytes = chunk;
    if (this.#rest.length > 0) {
      const seam = Buffer.concat([this.#seam, chunk.subarray(0, SEAM_BYTES)]);
      if (frameEnd(seam, 0) === -1 && frameEnd(chunk, 0) === -1) {
        this.#keep(chunk);
        return [];
      }
      this.#rest.push(chunk);
      bytes = this.#rest.bytes();
      this.#rest.clear();
    }
    const frames: Buffer[] = [];
    let start = 0;
    for (let end = frameEnd(bytes, 0); end !== -1; end = frameEnd(bytes, end)) {
      if (end - start > this.#maxFrameBytes) break;
      frames.push(bytes.subarray(start, end));
      start = end;
    }
    this.#seam = NOTHING;
    if (start < bytes.length) this.#keep(bytes.subarray(start));
    return frames;
  }

  /** Returns what came after the last whole frame: an event without its blank line, or a torn one; nothing of an overrun. */
  rest(): Buffer {
    return this.#rest.bytes();
  }

  /** Finds out how the first line ends: the others end alike, and one search of each chunk is enough. */
  #firstLineEnd(chunk: Buffer): typeof LF | typeof CR | null {
    if (this.#seam.at(-1) === CR && chunk.length > 0) return chunk[0] === LF ? LF : CR;
    const [lf, cr] = [chunk.indexOf(LF), chunk.indexOf(CR)];
    if (cr === -1 || (lf !== -1 && lf < cr)) return lf === -1 ? null : LF;
    if (cr === chunk.length - 1) return null;
    return chunk[cr + 1] === LF ? LF : CR;
  }

  #keep(bytes: Buffer): void {
    this.#rest.push(bytes);
    const last = bytes.length < SEAM_BYTES ? Buffer.concat([this.#seam, bytes]) : bytes;
    this.#seam = last.subarray(-SEAM_BYTES);
    if (this.#rest.length <= this.#maxFrameBytes) return;
    this.#isOverrun = true;
    this.#rest.clear();
  }
}

/** The same as `frameEndAfterLf` for a stream whose lines end in CR alone, as those of events may. */
function frameEndAfterCr(bytes: Buffer, from: number): number {
  const blankLine = bytes.indexOf('\r\r', from, 'latin1');
  return blankLine === -1 ? -1 : blankLine + 2;
}

/** Returns the place behind the first blank line that ends at or after `from`; -1 when there is none. */
function frameEndAfterLf(bytes: Buffer, from: number): number {
  for (let newline = bytes.indexOf(LF, from); newline !== -1; newline = bytes.indexOf(LF, newline + 1)) {
    if (bytes[newline + 1] === LF) return newline + 2;
    if (bytes[newline + 1] === CR && bytes[newline + 2] === LF) return newline + 3;
  }
  return -1;
}

// As bytes: a text would be encoded for each search.
const CHOICES = Buffer.from('"choices"');
const USAGE = Buffer.from('"usage"');
const EMPTY_CHOICE = Buffer.from('[{"index":0,"delta":{}}]');
const [SPACE, COLON, OPEN, CLOSE] = [0x20, 0x3a, 0x5b, 0x5d];
/** Limit of an event that is parsed to see whether it is one of usage: those have some hundred bytes, and other calls wait meanwhile. */
const LARGEST_USAGE_FRAME = 64 * 1024;

/**
 * Returns whether a frame holds nothing but usage: a `usage` object, and `choices` empty, as OpenAI sends it last when asked, or with
 * an empty choice, as LiteLLM's proxy does.
 * The bytes are searched first, so that ordinary frames are not parsed.
 */
export function isUsageFrame(frame: Buffer): boolean {
  if (frame.length > LARGEST_USAGE_FRAME) return false;
  const choices = frame.indexOf(CHOICES);
  if (choices === -1 || !areEmptyAt(frame, choices + CHOICES.length) || !frame.includes(USAGE)) return false;
  try {
    const chunk = JSON.parse(readFrameData(frame.toString('utf8')) ?? '{}') as {
      choices?: unknown;
      usage?: unknown;
    };
    return (
      Array.isArray(chunk.choices) &&
      (chunk.choices.length === 0 || JSON.stringify(chunk.choices) === EMPTY_CHOICE.toString()) &&
      typeof chunk.usage === 'object' &&
      chunk.usage !== null
    );
  } catch {
    return false;
  }
}

/** Returns whether `: []`, or the list with LiteLLM's empty choice, follows a member's name. */
function areEmptyAt(frame: Buffer, from: number): boolean {
  let at = from;
  while (frame[at] === SPACE || frame[at] === COLON) at += 1;
  if (frame[at] !== OPEN) return false;
  // Its last byte first: no other frame is compared.
  const end = at + EMPTY_CHOICE.length;
  if (frame[end - 1] === CLOSE && frame.subarray(at, end).equals(EMPTY_CHOICE)) return true;
  at += 1;
  while (frame[at] === SPACE) at += 1;
  return frame[at] === CLOSE;
}
