/** The grammar that requests and responses share (RFC 9112): header lines (section 5) and chunked bodies (section 7.1). */
import { joinBytes } from './gathered-bytes.ts';

/** The bytes received are not HTTP/1.1. The message names the rule that they break. */
export class NotHttp extends Error {
  constructor(rule: string) {
    super(rule);
    this.name = 'NotHttp';
  }
}

const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns whether a text, a character for each byte, may be in a header (RFC 9110, section 5.5): no line breaks, no controls. */
export function isHeaderText(text: string): boolean {
  return HEADER_TEXT.test(text);
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LENGTH = /^\d{1,15}$/;
const TAB = 0x09;
const SPACE = 0x20;

/** Returns whether `text` may be the name of a header, or a method (RFC 9110, section 5.6.2). */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * Parses header lines. Returns names and values in turn, unchanged.
 * @param lines of a head; the first, which is the request or status line, is skipped
 * @throws NotHttp
 */
export function parseHeaderLines(lines: readonly string[]): string[] {
  const pairs: string[] = [];
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    const name = checkHeaderLine(line, 'header');
    pairs.push(name, withoutBlanks(line, name.length + 1));
  }
  return pairs;
}

/**
 * Checks a header or trailer line. Returns its name.
 * @throws NotHttp
 */
function checkHeaderLine(line: string, kind: 'header' | 'trailer'): string {
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  if (colon < 1 || !TOKEN.test(name)) throw new NotHttp(`a ${kind} has no valid name`);
  if (!isHeaderText(line)) throw new NotHttp(`the ${kind} ${name} has a control character`);
  return name;
}

/** Strips spaces and tabs (`OWS`, RFC 9110, section 5.6.3). `trim` would strip a no-break space too. */
function withoutBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Returns the members of a list in lower case, without empty ones (RFC 9110, section 5.6.1.2). */
export function optionsOf(value: string | undefined): string[] {
  if (value === undefined) return [];
  return value.includes(',')
    ? value.split(',').flatMap((option) => withoutBlanks(option, 0).toLowerCase() || [])
    : [value.toLowerCase()];
}

/**
 * Parses `content-length`, which may repeat one number (RFC 9110, section 8.6). Unlike in other lists, an empty member is an
 * error.
 * @throws NotHttp
 */
export function lengthOf(value: string): number {
  const [first = '', ...others] = value.includes(',')
    ? value.split(',').map((member) => withoutBlanks(member, 0))
    : [value];
  if (!LENGTH.test(first) || others.some((other) => other !== first))
    throw new NotHttp('its content-length is not one number');
  return Number(first);
}

/** Longest line between chunks. Node's server allows extensions of 16 KiB, Go's allows lines of 4 KiB. */
const MAX_LINE_BYTES = 16 * 1024;
const MAX_TRAILERS = 256;
/**
 * Bytes beside the data, above all chunk extensions, are discarded and count against no limit of the body. The rule is that
 * of Go's net/http (internal/chunked.go): each chunk may cost 16 bytes and twice its data; the excess of all chunks and
 * trailers may add up to 16 KiB. A sender of one byte a chunk, 5 bytes of overhead each, stays within it.
 */
const MAX_EXCESS_BYTES = 16 * 1024;
const FREE_BYTES_PER_CHUNK = 16;
const FREE_BYTES_PER_DATA_BYTE = 2;
/** Leading zeros included: 4 GiB a chunk. */
const MAX_SIZE_DIGITS = 8;
const HEXADECIMAL = 16;
/** The value of each byte as a digit of a size; -1: it is none. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => {
  const letter = String.fromCharCode(byte);
  return /[0-9a-f]/i.test(letter) ? Number.parseInt(letter, HEXADECIMAL) : -1;
});
/** `chunk-ext` (RFC 9112, section 7.1.1): names, with a token or a quoted string each or without. */
const EXTENSIONS =
  /^(?:[ \t]*;[ \t]*[!#$%&'*+\-.^_`|~\w]+(?:[ \t]*=[ \t]*(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The next part of a chunked body: a chunk's size, the rest of that line, its bytes, the line break after them, trailers, nothing. */
type Next = 'size' | 'extensions' | 'bytes' | 'break' | 'trailer' | 'nothing';

/** Reads a chunked body (RFC 9112, section 7.1) that arrives in pieces of any size. */
export class ChunkedReader {
  readonly #onBytes: (bytes: Buffer) => void;
  /** Data in the piece that is being read. */
  #found: Buffer[] = [];
  #next: Next = 'size';
  #sizeDigits = 0;
  /** Bytes that the chunk has left; while its size is read, as many as its digits say so far. */
  #bytesLeft = 0;
  #trailers = 0;
  #excessBytes = 0;
  /** The beginning of a line whose end has not arrived. */
  #line = '';

  /**
   * @param onBytes called once for each piece that has data, with all of it: under load a piece holds many chunks, and
   *   passing them on one by one would cost a system call each
   */
  constructor(onBytes: (bytes: Buffer) => void) {
    this.#onBytes = onBytes;
  }

  get isWhole(): boolean {
    return this.#next === 'nothing';
  }

  /**
   * Takes bytes of the body. Returns where reading ended: at the end of `piece`, or of the body within it.
   * @throws NotHttp
   */
  push(piece: Buffer, from: number): number {
    let at = from;
    try {
      while (at < piece.length && !this.isWhole) {
        if (this.#next === 'bytes') at = this.#readBytes(piece, at);
        else if (this.#next === 'size') at = this.#readSize(piece, at);
        else at = this.#readLine(piece, at);
      }
    } finally {
      // Data before a malformed line is passed on too.
      this.#emit();
    }
    return at;
  }

  #readBytes(piece: Buffer, from: number): number {
    const to = Math.min(piece.length, from + this.#bytesLeft);
    this.#bytesLeft -= to - from;
    if (this.#bytesLeft === 0) this.#next = 'break';
    this.#found.push(piece.subarray(from, to));
    return to;
  }

  #readSize(piece: Buffer, from: number): number {
    let at = from;
    for (; at < piece.length; at += 1) {
      const digit = DIGITS[piece[at]!]!;
      if (digit < 0) break;
      this.#sizeDigits += 1;
      if (this.#sizeDigits > MAX_SIZE_DIGITS) throw new NotHttp('the size of a chunk has too many digits');
      this.#bytesLeft = HEXADECIMAL * this.#bytesLeft + digit;
    }
    if (this.#sizeDigits === 0) throw new NotHttp('a chunk does not begin with its size');
    if (at < piece.length) this.#next = 'extensions';
    return at;
  }

  #emit(): void {
    const found = this.#found;
    if (found.length === 0) return;
    this.#found = [];
    this.#onBytes(joinBytes(found));
  }

  #readLine(piece: Buffer, from: number): number {
    // Nearly all lines are empty: no extension follows a size, and nothing a chunk's bytes.
    if (piece[from] === CARRIAGE_RETURN && piece[from + 1] === LINE_FEED && this.#line === '') {
      this.#takeLine('');
      return from + 2;
    }
    const feed = piece.indexOf(LINE_FEED, from);
    const to = feed < 0 ? piece.length : feed;
    if (this.#line.length + to - from > MAX_LINE_BYTES)
      throw new NotHttp('a line between its chunks is too long');
    const line = this.#line + piece.toString('latin1', from, to);
    if (feed < 0) {
      this.#line = line;
      return to;
    }
    this.#line = '';
    if (!line.endsWith('\r')) throw new NotHttp('a line between its chunks does not end in CR LF');
    this.#takeLine(line.slice(0, -1));
    return feed + 1;
  }

  #takeLine(line: string): void {
    switch (this.#next) {
      case 'extensions':
        this.#takeExtensions(line);
        return;
      case 'break':
        if (line !== '') throw new NotHttp('a chunk is longer than its size');
        this.#next = 'size';
        return;
      default:
        this.#takeTrailer(line);
    }
  }

  /** Takes the rest of the line with a chunk's size, and with it the size. */
  #takeExtensions(line: string): void {
    if (line !== '' && !EXTENSIONS.test(line))
      throw new NotHttp('the size of a chunk is followed by an invalid extension');
    const overhead = this.#sizeDigits + line.length;
    this.#sizeDigits = 0;
    this.#next = this.#bytesLeft === 0 ? 'trailer' : 'bytes';
    this.#addExcess(overhead - FREE_BYTES_PER_CHUNK - FREE_BYTES_PER_DATA_BYTE * this.#bytesLeft);
  }

  #takeTrailer(line: string): void {
    if (line === '') {
      this.#next = 'nothing';
      return;
    }
    this.#trailers += 1;
    if (this.#trailers > MAX_TRAILERS) throw new NotHttp(`it has more than ${MAX_TRAILERS} trailers`);
    checkHeaderLine(line, 'trailer');
    this.#addExcess(line.length);
  }

  #addExcess(bytes: number): void {
    this.#excessBytes = Math.max(0, this.#excessBytes + bytes);
    if (this.#excessBytes > MAX_EXCESS_BYTES)
      throw new NotHttp('its chunks carry too many bytes beside their data: extensions, trailers or both');
  }
}
