/** Writes the response to one request. */
import type { Socket } from 'node:net';
import { lengthOf } from '../../http-message/mod.ts';
import { type BodyWriter, formatResponseHead, type ReplyBody, type Sendable, sendableOf } from './reply.ts';
import type { RequestHead } from './request-head.ts';

/** Up to this size, head and body are copied into one buffer, which is cheaper than a second write. */
const ONE_WRITE_BYTES = 16 * 1024;
/** A large response goes to the socket in pieces of this size, so that a client that does not read is noticed. */
const PIECE_BYTES = 256 * 1024;
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const LINE_BREAK = Buffer.from('\r\n');
/** Follows the bytes of the last chunk. */
const END_OF_CHUNKS = Buffer.concat([LINE_BREAK, LAST_CHUNK]);
const NOTHING = new Uint8Array(0);

export type ResponseWriterOptions = {
  socket: Socket;
  request: Pick<RequestHead, 'method' | 'isCurrent' | 'isKept'>;
  /** Seconds that the connection stays open after this response; null: it is closed. Called when the head is written. */
  keptForS(): number | null;
  /** The current value of the `Date` header. */
  date(): string;
  /** The client is slow: the socket's buffer is full. */
  onWait(): void;
  /** The socket has room again. */
  onResume(): void;
  /** The whole response was handed to the socket. */
  onEnd(): void;
};

export class ResponseWriter implements BodyWriter {
  readonly #options: ResponseWriterOptions;
  #head: string | null = null;
  #hasBegun = false;
  #isOver = false;
  #endsConnection = false;
  #isChunked = false;
  #isWaiting = false;
  #drainListener: (() => void) | null = null;
  #closeListeners: (() => void)[] = [];

  constructor(options: ResponseWriterOptions) {
    this.#options = options;
  }

  /** True when a part of the response was sent. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** True when the whole response was sent, or no more of it will be. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when the connection closes after this response. */
  get endsConnection(): boolean {
    return this.#endsConnection;
  }

  /**
   * Sends a response, or its beginning when the body is still being produced.
   * @throws Error for invalid headers; then nothing was sent
   */
  send(response: Response): void {
    const sendable = sendableOf(response);
    if (this.#isOver) {
      if (sendable.body instanceof ReadableStream) void sendable.body.cancel();
      return;
    }
    const bytes = bytesOf(sendable.body);
    if (bytes === null) this.#begin(sendable);
    else this.#sendWhole(sendable, bytes);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isOver || bytes.length === 0) return true;
    return this.#noteRoom(this.#writeOut(bytes, this.#isChunked ? LINE_BREAK : NOTHING));
  }

  end(last: Uint8Array = NOTHING): void {
    if (this.#isOver) return;
    const closing = last.length === 0 ? LAST_CHUNK : END_OF_CHUNKS;
    this.#writeOut(last, this.#isChunked ? closing : NOTHING);
    this.#finish();
  }

  /** Returns whether the socket has room for more. */
  #writeOut(bytes: Uint8Array, closing: Uint8Array): boolean {
    const { socket } = this.#options;
    const head = this.#takeHead();
    const opening = this.#isChunked && bytes.length > 0 ? `${head}${bytes.length.toString(16)}\r\n` : head;
    const size = opening.length + bytes.length + closing.length;
    if (size === 0) return true;
    if (size <= ONE_WRITE_BYTES) {
      const whole = Buffer.allocUnsafe(size);
      whole.write(opening, 'latin1');
      whole.set(bytes, opening.length);
      whole.set(closing, size - closing.length);
      return socket.write(whole);
    }
    socket.cork();
    if (opening !== '') socket.write(opening, 'latin1');
    const hasRoom = socket.write(bytes);
    if (closing.length > 0) socket.write(closing);
    socket.uncork();
    return hasRoom;
  }

  flushHeaders(): void {
    if (this.#isOver) return;
    const head = this.#takeHead();
    if (head !== '') this.#options.socket.write(head, 'latin1');
  }

  onDrain(listener: () => void): void {
    this.#drainListener = listener;
  }

  onClose(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  /** Called when the socket has room again. */
  drained(): void {
    if (this.#isOver) return;
    if (this.#isWaiting) this.#options.onResume();
    this.#isWaiting = false;
    this.#drainListener?.();
  }

  /** Ends the response without writing more: the connection has ended. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#close();
  }

  #sendWhole({ status, pairs }: Sendable, bytes: Uint8Array): void {
    const { socket, request } = this.#options;
    const isHead = request.method === 'HEAD';
    const length = isHead && bytes.length === 0 ? declaredLength(pairs) : bytes.length;
    const head = this.#formatHead(status, pairs, hasNoBody(status) ? null : length);
    this.#hasBegun = true;
    if (isHead || hasNoBody(status) || bytes.length === 0) socket.write(head, 'latin1');
    else if (head.length + bytes.length <= ONE_WRITE_BYTES) {
      const whole = Buffer.allocUnsafe(head.length + bytes.length);
      whole.write(head, 'latin1');
      whole.set(bytes, head.length);
      socket.write(whole);
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      this.#sendPieces(bytes, 0);
      socket.uncork();
      return;
    }
    this.#finish();
  }

  #sendPieces(bytes: Uint8Array, from: number): void {
    const { socket } = this.#options;
    for (let at = from; at < bytes.length && !this.#isOver; ) {
      const hasRoom = this.#noteRoom(socket.write(bytes.subarray(at, at + PIECE_BYTES)));
      at += PIECE_BYTES;
      if (hasRoom || at >= bytes.length) continue;
      this.onDrain(() => this.#sendPieces(bytes, at));
      return;
    }
    if (!this.#isOver) this.#finish();
  }

  /** Reports a full socket, once. Returns `hasRoom` unchanged. */
  #noteRoom(hasRoom: boolean): boolean {
    if (!hasRoom && !this.#isWaiting) {
      this.#isWaiting = true;
      this.#options.onWait();
    }
    return hasRoom;
  }

  #begin({ status, pairs, body }: Sendable): void {
    const { request } = this.#options;
    const isHeadAlone = request.method === 'HEAD' || hasNoBody(status);
    this.#isChunked = request.isCurrent && !isHeadAlone;
    this.#head = this.#formatHead(status, pairs, this.#isChunked ? 'chunked' : null);
    if (isHeadAlone) {
      this.end();
      if (body instanceof ReadableStream) void body.cancel();
    } else if (body instanceof ReadableStream) void this.#copy(body);
    else (body as Exclude<ReplyBody, null | string | Uint8Array | ReadableStream>).pipe(this);
  }

  #formatHead(status: number, pairs: Sendable['pairs'], framing: number | 'chunked' | null): string {
    const { keptForS, date, request } = this.#options;
    // HTTP/1.0 has no chunks: the end of the connection is the end of the body.
    const endsItself = framing === null && request.method !== 'HEAD' && !hasNoBody(status);
    const seconds = request.isKept && !endsItself ? keptForS() : null;
    this.#endsConnection = seconds === null;
    return formatResponseHead({ status, pairs, framing, keptForS: seconds, date: date() });
  }

  #takeHead(): string {
    const head = this.#head;
    if (head === null) return '';
    this.#head = null;
    this.#hasBegun = true;
    return head;
  }

  /**
   * Writes a stream as fast as the client reads. A stream that fails closes the connection, so that the client does not take
   * the truncated body for a whole one.
   */
  async #copy(stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.getReader();
    let wake = (): void => {};
    this.onDrain(() => wake());
    this.onClose(() => {
      wake();
      void reader.cancel().catch(() => {});
    });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (this.#isOver) return;
        if (done) break;
        if (this.write(value)) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      this.end();
    } catch {
      this.#options.socket.destroy();
    }
  }

  #finish(): void {
    this.#isOver = true;
    this.#close();
    this.#options.onEnd();
  }

  #close(): void {
    for (const listener of this.#closeListeners.splice(0)) listener();
  }
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}

/** Returns the `content-length` that a handler gave for the body which a response to HEAD leaves out; 0 without one. */
function declaredLength(pairs: Sendable['pairs']): number {
  for (const [name, value] of pairs) if (name.toLowerCase() === 'content-length') return lengthOf(value);
  return 0;
}

/** Returns a body that exists already; null: it is still being produced. */
function bytesOf(body: ReplyBody): Uint8Array | null {
  if (body === null) return NOTHING;
  if (typeof body === 'string') return Buffer.from(body);
  return body instanceof Uint8Array ? body : null;
}
