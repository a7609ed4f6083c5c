/**
 * Holds bytes that arrive in pieces until all of them are there. A piece from a socket costs some 400 bytes beside its own,
 * and a slice of it keeps the whole piece alive, up to 64 KiB: a peer that sends a byte at a time would occupy a multiple of
 * what it sent. Small pieces are therefore copied into blocks.
 */

/** Pieces of at least this size are not copied: copying costs more than they waste. */
const KEPT_BYTES = 8 * 1024;
/** Blocks grow with the bytes that have arrived, so that a short body does not hold a large block. */
const MIN_BLOCK_BYTES = 1024;
const MAX_BLOCK_BYTES = 64 * 1024;
/** Bytes that a slice may keep alive beyond twice its own, mostly the head of its message. */
const SPARE_BYTES = 2 * 1024;
const NOTHING = Buffer.alloc(0);

export class GatheredBytes {
  #length = 0;
  #settled: Buffer[] = [];
  /** The piece that arrived last, uncopied: a body in one piece is never copied. */
  #latest: Buffer = NOTHING;
  /** The block that small pieces are copied into, without its part that is settled. */
  #block: Buffer = NOTHING;
  #filledBytes = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    if (this.#latest.length > 0) this.#settle(this.#latest);
    this.#latest = piece;
    this.#length += piece.length;
  }

  /** Returns all bytes that have arrived, in order. More may be pushed afterwards. */
  pieces(): Buffer[] {
    const isOnePiece = this.#latest.length === this.#length;
    if (isOnePiece && !wastes(this.#latest)) return [this.#latest];
    this.#settle(this.#latest);
    this.#latest = NOTHING;
    this.#closeBlock();
    return [...this.#settled];
  }

  /** Returns all bytes that have arrived, in one buffer. */
  bytes(): Buffer {
    const pieces = this.pieces();
    if (pieces.length === 1) return pieces[0]!;
    const whole = this.#joined();
    this.#settled = [whole];
    return whole;
  }

  clear(): void {
    this.#length = 0;
    this.#settled = [];
    this.#latest = NOTHING;
    this.#block = NOTHING;
    this.#filledBytes = 0;
  }

  #settle(piece: Buffer): void {
    if (piece.length >= KEPT_BYTES && !wastes(piece)) {
      this.#closeBlock();
      this.#settled.push(piece);
      return;
    }
    for (let from = 0; from < piece.length; ) {
      if (this.#filledBytes === this.#block.length) this.#openBlock(piece.length - from);
      const copied = piece.copy(this.#block, this.#filledBytes, from);
      this.#filledBytes += copied;
      from += copied;
    }
  }

  #openBlock(neededBytes: number): void {
    this.#closeBlock();
    const size = Math.max(MIN_BLOCK_BYTES, neededBytes, Math.min(MAX_BLOCK_BYTES, this.#length));
    // Not from the shared pool, a slice of which keeps 64 KiB alive.
    this.#block = Buffer.allocUnsafeSlow(size);
  }

  #closeBlock(): void {
    if (this.#filledBytes === 0) return;
    this.#settled.push(this.#block.subarray(0, this.#filledBytes));
    this.#block = this.#block.subarray(this.#filledBytes);
    this.#filledBytes = 0;
  }

  #joined(): Buffer {
    const whole = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const piece of this.#settled) at += piece.copy(whole, at);
    return whole;
  }
}

/** Returns whether `slice` keeps far more memory alive than it has bytes. */
function wastes(slice: Buffer): boolean {
  return slice.buffer.byteLength > 2 * slice.length + SPARE_BYTES;
}

/** Joins buffers. A single one is returned without a copy. */
export function joinBytes(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
