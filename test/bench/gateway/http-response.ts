/**
 * The least that a load generator must understand of HTTP/1.1 answers: where the body begins, how long it is, and where
 * it ends. Much cheaper than a full client, so that the generator does not become what is measured.
 */
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = 2;
const TAIL_BYTES = 64;

export type ResponseEvents = {
  /** The first byte of the body. */
  firstByte(): void;
  /** `tail`: the last bytes of the body, at most 64. */
  end(answer: { status: number; bodyBytes: number; head: string; tail: string }): void;
};

/** Reads answers that follow one another on one connection. */
export class ResponseReader {
  readonly #events: ResponseEvents;
  #pending: Buffer | null = null;
  #head: string | null = null;
  /** Bytes to come in this body, or in this chunk. */
  #remaining = 0;
  #isChunked = false;
  #bodyBytes = 0;
  #tail = '';

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  push(received: Buffer): void {
    let bytes = this.#pending === null ? received : Buffer.concat([this.#pending, received]);
    this.#pending = null;
    while (bytes.length > 0) {
      const used = this.#head === null ? this.#readHead(bytes) : this.#readBody(bytes);
      if (used === 0) {
        this.#pending = bytes;
        return;
      }
      bytes = bytes.subarray(used);
    }
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END);
    if (end === -1) return 0;
    this.#head = bytes.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head);
    this.#isChunked = length === null;
    this.#remaining = length === null ? 0 : Number(length[1]);
    this.#bodyBytes = 0;
    this.#tail = '';
    if (length !== null && this.#remaining === 0) this.#finish();
    return end + HEAD_END.length;
  }

  #readBody(bytes: Buffer): number {
    if (this.#isChunked && this.#remaining === 0) return this.#readChunkSize(bytes);
    const taken = Math.min(bytes.length, this.#remaining);
    const ofBody = this.#isChunked ? Math.min(taken, Math.max(0, this.#remaining - LINE_END)) : taken;
    this.#remaining -= taken;
    this.#take(bytes.subarray(0, ofBody));
    if (!this.#isChunked && this.#remaining === 0) this.#finish();
    return taken;
  }

  /** The line end after a chunk counts as part of it. */
  #readChunkSize(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n');
    if (end === -1) return 0;
    const size = Number.parseInt(bytes.toString('latin1', 0, end), 16);
    if (size > 0) {
      this.#remaining = size + LINE_END;
      return end + 2;
    }
    if (bytes.length < end + 4) return 0;
    this.#finish();
    return end + 4;
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#bodyBytes === 0) this.#events.firstByte();
    this.#bodyBytes += bytes.length;
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES))).slice(
      -TAIL_BYTES,
    );
  }

  #finish(): void {
    const head = this.#head!;
    this.#head = null;
    this.#events.end({
      status: Number(head.slice(9, 12)),
      bodyBytes: this.#bodyBytes,
      head,
      tail: this.#tail,
    });
  }
}
