/** A body in chunks (RFC 9112, section 7.1), in pieces of any size. */
import { checkHeaderLine } from './header-lines.ts';
import { joinBytes } from './join-bytes.ts';
import { NotHttp } from './not-http.ts';

/** Longest line between chunks. Node's server allows extensions of 16 KiB, Go's lines of 4 KiB. */
const MAX_LINE_BYTES = 16 * 1024;
const MAX_TRAILERS = 256;
/**
 * Bytes that are no data, extensions above all, are thrown away and count against no limit of the body. The rule is that
 * of Go's net/http (internal/chunked.go): each chunk may cost 16 bytes and twice its data; what lies beyond adds up over
 * the body to at most 16 KiB. A sender of one byte a chunk, 5 bytes of overhead each, stays within it. Trailers count too.
 */
const MAX_EXCESS_BYTES = 16 * 1024;
const FREE_BYTES_PER_CHUNK = 16;
const FREE_BYTES_PER_DATA_BYTE = 2;
const SIZE = /^[0-9a-f]{1,8}(?=[ \t;]|$)/i;
/** `chunk-ext` (RFC 9112, section 7.1.1): names, with a token or a quoted string each or without. */
const EXTENSIONS =
  /^(?:[ \t]*;[ \t]*[!#$%&'*+\-.^_`|~\w]+(?:[ \t]*=[ \t]*(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;
const LINE_FEED = 0x0a;

/** What comes next: the line that begins a chunk, bytes of it, the line break behind them, trailers, nothing. */
type Next = 'size' | 'bytes' | 'break' | 'trailer' | 'nothing';

export class ChunkedReader {
  readonly #onBytes: (bytes: Buffer) => void;
  /** Of the piece that is being read. */
  #found: Buffer[] = [];
  #next: Next = 'size';
  #bytesLeft = 0;
  #trailers = 0;
  #excessBytes = 0;
  /** The beginning of a line whose end has not come. */
  #line = '';

  /**
   * @param onBytes called once for a piece that has bytes of the body, with all of them: under load a piece has many
   *   chunks, and whoever passes each on by itself pays a system call for each
   */
  constructor(onBytes: (bytes: Buffer) => void) {
    this.#onBytes = onBytes;
  }

  get isWhole(): boolean {
    return this.#next === 'nothing';
  }

  /**
   * Reads on, and returns how far it came: to the end of `piece`, or of the body within it.
   * @throws NotHttp
   */
  push(piece: Buffer, from: number): number {
    let at = from;
    try {
      while (at < piece.length && !this.isWhole) {
        at = this.#next === 'bytes' ? this.#readBytes(piece, at) : this.#readLine(piece, at);
      }
    } finally {
      // Also before what is malformed is told.
      this.#tell();
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

  #tell(): void {
    const found = this.#found;
    if (found.length === 0) return;
    this.#found = [];
    this.#onBytes(joinBytes(found));
  }

  #readLine(piece: Buffer, from: number): number {
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
      case 'size':
        this.#takeSize(line);
        return;
      case 'break':
        if (line !== '') throw new NotHttp('a chunk is longer than its size');
        this.#next = 'size';
        return;
      default:
        this.#takeTrailer(line);
    }
  }

  #takeSize(line: string): void {
    const digits = SIZE.exec(line)?.[0];
    if (digits === undefined) throw new NotHttp('a chunk does not begin with its size');
    if (digits.length < line.length && !EXTENSIONS.test(line.slice(digits.length)))
      throw new NotHttp('the size of a chunk is followed by what is no valid extension');
    const size = Number.parseInt(digits, 16);
    this.#bytesLeft = size;
    this.#next = size === 0 ? 'trailer' : 'bytes';
    this.#addExcess(line.length - FREE_BYTES_PER_CHUNK - FREE_BYTES_PER_DATA_BYTE * size);
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
      throw new NotHttp('its chunks carry too much that is no data: extensions, trailers or both');
  }
}
