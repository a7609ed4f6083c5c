/** The body of a request, which is read once a handler wants it. */

import { AssayError } from '#core/contracts/errors.ts';
import { ChunkedReader, GatheredBytes } from '../../http-message/mod.ts';
import type { FairSlots, Taken } from '../../process/fair-slots.ts';
import { joinBytesInTurns } from '../../process/turns.ts';

/** Controls that a connection gives to the body of a request. */
export type BodyFlow = {
  pause(): void;
  resume(): void;
  /** Sends `100 Continue`; null: the client does not wait for it. */
  sendContinue: (() => void) | null;
};

/** Memory for large bodies, a slot for each byte. */
export type BodyRoom = {
  slots: Pick<FairSlots, 'take' | 'open' | 'mostOfOne'>;
  /** The organization whose body it is. */
  owner: string;
  /** True when the body is compressed: any of them may become as large as a body may be, and has room for that until `shrinkRoom`. */
  isPacked: boolean;
};

type Reader = {
  maxBytes: number;
  room: BodyRoom | null;
  resolve(body: Promise<Buffer>): void;
  reject(error: AssayError): void;
};

/**
 * Bytes of a body that are held until its handler reads it, and without room; the socket is paused beyond them. A connection needs
 * as much in any case.
 */
const HELD_BYTES = 64 * 1024;
/** Bytes of an unwanted body that are read and discarded, so that the client reaches the response. */
const DISCARDED_BYTES = 64 * 1024 * 1024;

/** The body of a request under way. `100 Continue` is sent only when a handler reads it. */
export class IncomingBody {
  readonly #framing: number | 'chunked';
  readonly #flow: BodyFlow;
  readonly #chunked: ChunkedReader | null;
  #bytesLeft: number;
  readonly #held = new GatheredBytes();
  #reader: Reader | null = null;
  #room: Taken | 'awaited' | null = null;
  #isDiscarded = false;
  #discardedBytes = 0;
  #isRequested: boolean;
  #isAborted = false;
  #arrivedBytes = 0;

  constructor(framing: number | 'chunked', flow: BodyFlow) {
    this.#framing = framing;
    this.#flow = flow;
    this.#bytesLeft = framing === 'chunked' ? 0 : framing;
    this.#chunked = framing === 'chunked' ? new ChunkedReader((bytes) => this.#take(bytes)) : null;
    this.#isRequested = flow.sendContinue === null;
  }

  get isWhole(): boolean {
    return this.#chunked === null ? this.#bytesLeft === 0 : this.#chunked.isWhole;
  }

  /** True when the client still waits for `100 Continue`, and so may never send the body. */
  get awaitsContinue(): boolean {
    return !this.#isRequested && !this.isWhole && this.#held.length === 0;
  }

  /** Bytes of the body that have arrived, chunks with their lengths; null: it waits for this side, not for its client. */
  get arrivedBytes(): number | null {
    return this.awaitsContinue || this.#room === 'awaited' ? null : this.#arrivedBytes;
  }

  /** True when more of the body was discarded than `DISCARDED_BYTES`. */
  get exceedsDiscardLimit(): boolean {
    return this.#discardedBytes > DISCARDED_BYTES;
  }

  /**
   * Takes bytes of the body. Returns where reading ended: at the end of `piece`, or of the body within it.
   * @throws NotHttp
   */
  push(piece: Buffer, from: number): number {
    let to: number;
    if (this.#chunked === null) {
      to = Math.min(piece.length, from + this.#bytesLeft);
      this.#bytesLeft -= to - from;
      if (to > from) this.#take(piece.subarray(from, to));
    } else {
      to = this.#chunked.push(piece, from);
    }
    this.#arrivedBytes += to - from;
    if (this.isWhole) this.#finish();
    return to;
  }

  /**
   * Reads the whole body.
   * @param room where a body that is compressed, or of more than 64 KiB, waits for its room. Null: it needs none
   * @throws AssayError body_too_large as soon as more than `maxBytes` are announced or have come; bodies_busy when there is no
   *   room for it; client_closed_request when the client leaves in the middle
   */
  read(maxBytes: number, room: BodyRoom | null = null): Promise<Buffer> {
    if (this.#framing !== 'chunked' && this.#framing > maxBytes) {
      this.discard();
      return Promise.reject(tooLarge(maxBytes));
    }
    if (this.#isAborted) return Promise.reject(clientLeft());
    return new Promise((resolve, reject) => {
      this.#reader = { maxBytes, room, resolve, reject };
      this.#check(this.#reader);
      if (this.isWhole) this.#finish();
      else if (this.#reader !== null) this.#request();
    });
  }

  /** Discards the body, or the rest of it. */
  discard(): void {
    this.#isDiscarded = true;
    this.#held.clear();
    this.#flow.resume();
  }

  /** Rejects a read that is under way: the connection has ended. */
  abort(): void {
    this.#isAborted = true;
    this.#held.clear();
    this.#reader?.reject(clientLeft());
    this.#reader = null;
  }

  /** Keeps room for so many bytes only: those that a compressed body has become. */
  shrinkRoom(bytes: number): void {
    if (this.#room !== null && this.#room !== 'awaited') this.#room.shrinkTo(bytes);
  }

  /**
   * Takes room for so many bytes more, by which the body's handler makes it longer, or which its response has. Does not wait, as what was
   * read would be in memory meanwhile.
   * @throws AssayError bodies_busy
   */
  growRoom(bytes: number, { slots, owner }: Omit<BodyRoom, 'isPacked'>): void {
    if (this.#room === null && bytes <= HELD_BYTES) return;
    const room = this.#room === null || this.#room === 'awaited' ? slots.open(owner) : this.#room;
    this.#room = room;
    if (!room.growBy(bytes)) throw noRoom();
  }

  /** Gives the body's room back: its handler has ended, and so has the response. */
  release(): void {
    if (this.#room === null || this.#room === 'awaited') return;
    this.#room.release();
    this.#room = null;
  }

  #take(bytes: Buffer): void {
    if (this.#isDiscarded) {
      this.#discardedBytes += bytes.length;
      return;
    }
    this.#held.push(bytes);
    if (this.#reader !== null) this.#check(this.#reader);
    else if (this.#held.length > HELD_BYTES) this.#flow.pause();
  }

  /** Sees to it that a body is no larger than it may be, and has room. */
  #check(reader: Reader): void {
    if (this.#held.length > reader.maxBytes) this.#refuse(reader, tooLarge(reader.maxBytes));
    else if (this.#room === null && reader.room !== null) this.#takeRoom(reader, reader.room);
  }

  #takeRoom(reader: Reader, { slots, owner, isPacked }: BodyRoom): void {
    if (this.#held.length <= (isPacked ? 0 : HELD_BYTES)) return;
    const isKnown = this.#framing !== 'chunked' && !isPacked;
    const taking = slots.take(owner, isKnown ? this.#framing : reader.maxBytes);
    if (taking instanceof Promise) void this.#awaitRoom(reader, taking);
    else this.#onRoom(reader, taking);
  }

  async #awaitRoom(reader: Reader, taking: Promise<Taken | null>): Promise<void> {
    this.#room = 'awaited';
    this.#flow.pause();
    this.#onRoom(reader, await taking);
    if (this.isWhole) this.#finish();
    else if (this.#reader === reader) this.#flow.resume();
  }

  #onRoom(reader: Reader, taken: Taken | null): void {
    this.#room = taken;
    // The client may have left meanwhile.
    if (this.#reader !== reader) this.release();
    else if (taken === null) this.#refuse(reader, noRoom());
  }

  #request(): void {
    if (this.#room === 'awaited') return;
    if (!this.#isRequested && this.#held.length === 0) this.#flow.sendContinue?.();
    this.#isRequested = true;
    this.#flow.resume();
  }

  #finish(): void {
    const reader = this.#reader;
    if (reader === null || this.#room === 'awaited') return;
    this.#reader = null;
    // The length of a body in chunks is known at its end.
    if (reader.room?.isPacked === false) this.shrinkRoom(this.#held.length);
    reader.resolve(joinBytesInTurns(this.#held.pieces()));
    this.#held.clear();
  }

  #refuse(reader: Reader, error: AssayError): void {
    this.#reader = null;
    this.discard();
    reader.reject(error);
  }
}

function tooLarge(maxBytes: number): AssayError {
  return new AssayError('body_too_large', `The request body is larger than the ${maxBytes} bytes allowed`);
}

function noRoom(): AssayError {
  return new AssayError(
    'bodies_busy',
    'There was no memory for the bodies of this call: those of other calls, of your organization or of all, take as much as they may; Retry-After says when to try again',
  );
}

function clientLeft(): AssayError {
  return new AssayError('client_closed_request', 'The client left before its request was whole');
}
