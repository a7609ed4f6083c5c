/** One connection of a client: requests are handled one after the other, each completely before the next is parsed. */

import type { Socket } from 'node:net';
import { AssayError, httpStatusOf } from '#core/contracts/errors.ts';
import { NotHttp } from '../../http-message/mod.ts';
import { IncomingBody } from './incoming-body.ts';
import { formatResponseHead, Reply } from './reply.ts';
import { ServerExchange, ServerRequest } from './request.ts';
import { parseRequestHead, type RequestHead } from './request-head.ts';
import { ResponseWriter } from './response-writer.ts';

export type ConnectionOptions = {
  /** Handles a request. */
  fetch(request: ServerRequest): Response | Promise<Response>;
  /** Returns the JSON body of an error response. */
  formatError(error: AssayError): string;
  /** Returns whether the server is stopping: the connection then closes after each response. */
  isDraining(): boolean;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** The current value of the `Date` header. */
  date(): string;
  onClosed(connection: ClientConnection): void;
};

const MAX_HEAD_BYTES = 64 * 1024;
const HEAD_TIMEOUT_MS = 10_000;
/** Time for a whole request to arrive: enough for 32 MiB on a slow line, and no socket is held for ever. */
const REQUEST_TIMEOUT_MS = 300_000;
/** A body makes room at the bound when after this time it has come more slowly than any line is. */
const SLOW_BODY_MS = 10_000;
const SLOW_BYTES_PER_MS = 1;
/** Longer than the 60 s of common load balancers, so that they, not the server, close idle connections. */
const KEPT_FOR_S = 65;
/** Time for a client to read more of a response whose bytes wait for it. */
const UNREAD_MS = KEPT_FOR_S * 1_000;
/** Time for the rest of an unwanted body to arrive. */
const DISCARD_MS = 10_000;
/** Time for the client to close its direction after the server has closed the other. */
const LINGER_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

export class ClientConnection {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  /** Bytes that arrived and belong to no request yet. */
  #pending: Buffer | null = null;
  /** Bytes of `#pending` that were searched for the end of a head; 0 while no head has begun. */
  #searchedBytes = 0;
  #exchange: ServerExchange | null = null;
  #deadline: number;
  #idleSince: number;
  /** When the body of the current request was awaited first; null: it is whole. */
  #bodySince: number | null = null;
  #isClosing = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#options = options;
    this.#socket = socket;
    this.#idleSince = options.now();
    this.#deadline = this.#idleSince + KEPT_FOR_S * 1_000;
    socket.on('data', (piece: Buffer) => this.#onData(piece));
    socket.on('drain', () => this.#onDrain());
    socket.once('end', () => this.#onDisconnect());
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#onDisconnect();
      options.onClosed(this);
    });
  }

  /** When the connection became idle; null while a request, or the beginning of one, is there. */
  get idleSince(): number | null {
    return this.#exchange === null && this.#pending === null && !this.#isClosing ? this.#idleSince : null;
  }

  /** Since when the connection is idle, or the head of a request has begun; null: a request is there. */
  get unusedSince(): number | null {
    const isHeadBegun = this.#exchange === null && this.#searchedBytes > 0 && !this.#isClosing;
    return isHeadBegun ? this.#deadline - HEAD_TIMEOUT_MS : this.idleSince;
  }

  /** Since when a body has been coming that is slow; null: none is. */
  get slowSince(): number | null {
    const arrivedBytes = this.#exchange?.body.arrivedBytes ?? null;
    if (this.#bodySince === null || arrivedBytes === null || this.#exchange!.answer.hasBegun) return null;
    const ms = this.#options.now() - this.#bodySince;
    return ms >= SLOW_BODY_MS && arrivedBytes < ms * SLOW_BYTES_PER_MS ? this.#bodySince : null;
  }

  /** Refuses the request whose body is slow, for others that find no connection free. */
  giveWay(): void {
    const message = `The request came too slowly, at less than ${SLOW_BYTES_PER_MS} kB a second, while all connections were in use`;
    this.#refuse(new AssayError('request_timeout', message));
  }

  /** Closes the connection, or refuses its request, when its deadline has passed. */
  checkDeadline(): void {
    if (this.#deadline > this.#options.now()) return;
    const isRequestLate =
      !this.#isClosing && (this.#exchange === null ? this.#searchedBytes > 0 : !this.#exchange.body.isWhole);
    if (!isRequestLate || this.#exchange?.answer.isOver === true) this.destroy();
    else {
      const waitedMs = this.#exchange === null ? HEAD_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
      this.#refuse(new AssayError('request_timeout', `The request was not whole within ${waitedMs} ms`));
    }
  }

  /** Closes the server's direction. Bytes that arrive now are read and ignored, so that the client sees no reset. */
  end(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#exchange = null;
    this.#pending = null;
    this.#linger();
    this.#socket.resume();
    this.#socket.end(() => this.#linger());
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #onData(piece: Buffer): void {
    if (this.#isClosing) return;
    try {
      const rest = this.#readBody(piece);
      if (rest === null) return;
      this.#pending = this.#pending === null ? rest : Buffer.concat([this.#pending, rest]);
      if (this.#isReady) this.#readHead();
      // The next request waits, so a client that pipelines more of them must wait too.
      if (this.#pending !== null && this.#pending.length > MAX_HEAD_BYTES) this.#socket.pause();
    } catch (error) {
      this.#refuseMalformed(error);
    }
  }

  /** True when the next request may begin: the responses to a client that pipelines requests and reads none must not pile up. */
  get #isReady(): boolean {
    return this.#exchange === null && !this.#socket.writableNeedDrain;
  }

  #onDrain(): void {
    if (this.#exchange !== null) this.#exchange.answer.drained();
    else this.#readNext();
  }

  /** Passes bytes to the body of the current request. Returns the bytes behind it; null: there are none. */
  #readBody(piece: Buffer): Buffer | null {
    const exchange = this.#exchange;
    if (exchange === null || exchange.body.isWhole) return piece;
    const read = exchange.body.push(piece, 0);
    if (exchange.body.exceedsDiscardLimit) this.destroy();
    if (!exchange.body.isWhole) return null;
    this.#deadline = NEVER;
    this.#bodySince = null;
    const rest = read < piece.length ? piece.subarray(read) : null;
    if (!exchange.answer.isOver) return rest;
    this.#pending = rest;
    this.#becomeIdle();
    return null;
  }

  #readHead(): void {
    let bytes = this.#pending!;
    let searchFrom = Math.max(0, this.#searchedBytes - END_OF_HEAD.length);
    // Empty lines before a request are skipped (RFC 9112, section 2.2).
    while (bytes.length >= 2 && bytes[0] === CARRIAGE_RETURN && bytes[1] === LINE_FEED) {
      bytes = bytes.subarray(2);
      searchFrom = 0;
    }
    const isNew = this.#searchedBytes === 0;
    const end = bytes.indexOf(END_OF_HEAD, searchFrom);
    if ((end < 0 ? bytes.length : end) > MAX_HEAD_BYTES) {
      const message = `The request's headers are larger than the ${MAX_HEAD_BYTES} bytes allowed`;
      this.#refuse(new AssayError('headers_too_large', message));
    } else if (end >= 0) {
      const head = parseRequestHead(bytes.toString('latin1', 0, end));
      const from = end + END_OF_HEAD.length;
      this.#pending = null;
      this.#searchedBytes = 0;
      this.#startExchange(head, bytes, from);
    } else if (isBlank(bytes)) {
      // No head has begun: empty lines do not extend the deadline of an idle connection.
      this.#pending = bytes.length === 0 ? null : bytes;
      this.#searchedBytes = 0;
      this.#readOn();
    } else {
      this.#pending = bytes;
      this.#searchedBytes = bytes.length;
      const lineEnd = bytes.indexOf(LINE_FEED);
      if (lineEnd >= 0 && bytes[lineEnd - 1] !== CARRIAGE_RETURN)
        throw new NotHttp('a line does not end in CR LF');
      if (isNew) this.#deadline = this.#options.now() + HEAD_TIMEOUT_MS;
      this.#readOn();
    }
  }

  /** Reads from the socket again, if it was paused. */
  #readOn(): void {
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  #startExchange(head: RequestHead, bytes: Buffer, from: number): void {
    const { now, date, fetch, isDraining } = this.#options;
    const socket = this.#socket;
    const body = new IncomingBody(head.framing, {
      pause: () => socket.pause(),
      resume: () => this.#readOn(),
      sendContinue: head.awaitsContinue ? () => socket.write(CONTINUE) : null,
    });
    const answer = new ResponseWriter({
      socket,
      request: head,
      keptForS: () => (isDraining() || body.awaitsContinue ? null : KEPT_FOR_S),
      date,
      onWait: () => {
        this.#deadline = now() + UNREAD_MS;
      },
      onResume: () => this.#awaitBody(body),
      onEnd: () => this.#onResponseEnd(exchange),
    });
    const exchange = new ServerExchange(body, answer, socket);
    this.#exchange = exchange;
    const read = body.isWhole ? from : body.push(bytes, from);
    if (read < bytes.length) this.#pending = bytes.subarray(read);
    // A socket that was paused stays so while more requests wait: each of them would let in a piece with hundreds.
    if (body.isWhole && bytes.length - read <= MAX_HEAD_BYTES) this.#readOn();
    this.#bodySince = body.isWhole ? null : now();
    this.#awaitBody(body);
    const request = new ServerRequest(head, body, exchange);
    try {
      Promise.resolve(fetch(request)).then(
        (response) => this.#send(exchange, response),
        () => this.#send(exchange, this.#failure()),
      );
    } catch {
      this.#send(exchange, this.#failure());
    }
  }

  /** Sets the deadline of the body. The response has none here: the provider has its own. */
  #awaitBody(body: IncomingBody): void {
    this.#deadline = body.isWhole ? NEVER : this.#options.now() + REQUEST_TIMEOUT_MS;
  }

  #send(exchange: ServerExchange, response: Response): void {
    exchange.handled();
    try {
      exchange.answer.send(response);
    } catch {
      exchange.answer.send(this.#failure());
    }
  }

  #failure(): Response {
    const error = new AssayError('internal_error', 'The request could not be handled');
    const headers = { 'content-type': 'application/json' };
    return new Reply(this.#options.formatError(error), { status: httpStatusOf(error), headers });
  }

  #onResponseEnd(exchange: ServerExchange): void {
    exchange.body.release();
    if (this.#exchange !== exchange) return;
    if (exchange.answer.endsConnection) {
      this.end();
    } else if (exchange.body.isWhole) {
      this.#becomeIdle();
    } else {
      this.#deadline = this.#options.now() + DISCARD_MS;
      exchange.body.discard();
    }
  }

  /** Makes the connection idle, and goes on with the next request if it has arrived. */
  #becomeIdle(): void {
    this.#exchange = null;
    this.#idleSince = this.#options.now();
    this.#deadline = this.#idleSince + KEPT_FOR_S * 1_000;
    // In a later turn of the event loop, not inside the end of the previous response.
    if (this.#pending !== null) setImmediate(() => this.#readNext());
    else this.#readOn();
  }

  #readNext(): void {
    if (!this.#isReady || this.#pending === null || this.#isClosing) return;
    try {
      this.#readHead();
    } catch (error) {
      this.#refuseMalformed(error);
    }
  }

  #refuseMalformed(error: unknown): void {
    if (!(error instanceof NotHttp)) throw error;
    this.#refuse(new AssayError('invalid_http', `The request is not valid HTTP/1.1: ${error.message}`));
  }

  /** Responds with an error and ends the connection, because the beginning of the next request is not known. */
  #refuse(error: AssayError): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    const hasBegun = exchange?.answer.hasBegun === true;
    exchange?.leave();
    if (hasBegun) {
      this.destroy();
      return;
    }
    const body = this.#options.formatError(error);
    const head = formatResponseHead({
      status: httpStatusOf(error),
      pairs: [['content-type', 'application/json']],
      framing: Buffer.byteLength(body),
      keptForS: null,
      date: this.#options.date(),
    });
    this.#socket.write(head + body);
    this.end();
  }

  #onDisconnect(): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#pending = null;
    this.#isClosing = true;
    exchange?.leave();
    this.#linger();
  }

  #linger(): void {
    this.#deadline = this.#options.now() + (this.#socket.writableLength > 0 ? UNREAD_MS : LINGER_MS);
  }
}

/** Returns whether `bytes` are empty lines, or the beginning of one, before a request. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length === 1 && bytes[0] === CARRIAGE_RETURN);
}
