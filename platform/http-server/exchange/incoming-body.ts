/** The body of a request, on its way in. Nothing of it is asked for before its handler wants it. */
import { AssayError } from '#core/contracts/errors.ts';
import { ChunkedReader, GatheredBytes } from '../../http-message/mod.ts';
import { joinBytesInTurns } from '../../process/turns/mod.ts';

/** What its connection does for it. */
export type BodyFlow = {
  pause(): void;
  resume(): void;
  /** The client waits for a word before it sends the body. */
  sendContinue: (() => void) | null;
};

type Reader = { maxBytes: number; resolve(body: Promise<Buffer>): void; reject(error: AssayError): void };

/** Bytes of a body that are held for a handler that has not asked for them yet. */
const HELD_BYTES = 64 * 1024;
/** How much of a body that nobody wants is read and thrown away, so that the client gets to read its answer. */
const DISCARDED_BYTES = 64 * 1024 * 1024;

export class IncomingBody {
  readonly #framing: number | 'chunked';
  readonly #flow: BodyFlow;
  readonly #chunked: ChunkedReader | null;
  #bytesLeft: number;
  readonly #held = new GatheredBytes();
  #reader: Reader | null = null;
  #isDiscarded = false;
  #discardedBytes = 0;
  #wasAskedFor: boolean;
  #hasBroken = false;

  constructor(framing: number | 'chunked', flow: BodyFlow) {
    this.#framing = framing;
    this.#flow = flow;
    this.#bytesLeft = framing === 'chunked' ? 0 : framing;
    this.#chunked = framing === 'chunked' ? new ChunkedReader((bytes) => this.#take(bytes)) : null;
    this.#wasAskedFor = flow.sendContinue === null;
  }

  get isWhole(): boolean {
    return this.#chunked === null ? this.#bytesLeft === 0 : this.#chunked.isWhole;
  }

  /** Whether its client still waits to be told to send it, and so may never do it. */
  get isAwaited(): boolean {
    return !this.#wasAskedFor && !this.isWhole && this.#held.length === 0;
  }

  /** More than anybody waits for was thrown away. */
  get isEndless(): boolean {
    return this.#discardedBytes > DISCARDED_BYTES;
  }

  /**
   * Reads on, and returns how far it came: to the end of `piece`, or of the body within it.
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
    if (this.isWhole) this.#finish();
    return to;
  }

  /**
   * All of it.
   * @throws AssayError body_too_large as soon as more than `maxBytes` are announced or have come;
   *   client_closed_request when the client leaves in the middle
   */
  read(maxBytes: number): Promise<Buffer> {
    if (this.#framing !== 'chunked' && this.#framing > maxBytes) {
      this.discard();
      return Promise.reject(tooLarge(maxBytes));
    }
    if (this.#hasBroken) return Promise.reject(brokenOff());
    return new Promise((resolve, reject) => {
      this.#reader = { maxBytes, resolve, reject };
      if (this.#held.length > maxBytes) this.#refuse(this.#reader);
      else if (this.isWhole) this.#finish();
      else this.#ask();
    });
  }

  /** Nobody wants it, or what is left of it. */
  discard(): void {
    this.#isDiscarded = true;
    this.#held.clear();
    this.#flow.resume();
  }

  /** Its connection has ended. */
  breakOff(): void {
    this.#hasBroken = true;
    this.#held.clear();
    this.#reader?.reject(brokenOff());
    this.#reader = null;
  }

  #take(bytes: Buffer): void {
    if (this.#isDiscarded) {
      this.#discardedBytes += bytes.length;
      return;
    }
    this.#held.push(bytes);
    if (this.#reader === null) {
      if (this.#held.length > HELD_BYTES) this.#flow.pause();
    } else if (this.#held.length > this.#reader.maxBytes) this.#refuse(this.#reader);
  }

  #ask(): void {
    if (!this.#wasAskedFor && this.#held.length === 0) this.#flow.sendContinue?.();
    this.#wasAskedFor = true;
    this.#flow.resume();
  }

  #finish(): void {
    const reader = this.#reader;
    if (reader === null) return;
    this.#reader = null;
    reader.resolve(joinBytesInTurns(this.#held.pieces()));
    this.#held.clear();
  }

  #refuse(reader: Reader): void {
    this.#reader = null;
    this.discard();
    reader.reject(tooLarge(reader.maxBytes));
  }
}

function tooLarge(maxBytes: number): AssayError {
  return new AssayError('body_too_large', `The request body is larger than the ${maxBytes} bytes allowed`);
}

function brokenOff(): AssayError {
  return new AssayError('client_closed_request', 'The client left before its request was whole');
}
