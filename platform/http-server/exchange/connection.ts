/** One connection of a client: requests one after the other, each answered before the next is looked at. */

import type { Socket } from 'node:net';
import { AssayError } from '#core/contracts/errors.ts';
import { NotHttp } from '../../http-message/mod.ts';
import { Answer } from './answer.ts';
import { IncomingBody, parseRequestHead, type RequestHead } from './incoming-request.ts';
import { formatAnswerHead, Reply } from './reply.ts';
import { Call, ServerRequest } from './request.ts';

export type ConnectionOptions = {
  /** Answers a request. */
  fetch(request: ServerRequest): Response | Promise<Response>;
  /** The body of an answer that tells of an error: JSON. */
  tell(error: AssayError): string;
  /** Whether this connection's answers are the last on it. */
  isDraining(): boolean;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** The moment, as `Date` has it. */
  date(): string;
  onClosed(connection: ClientConnection): void;
};

const MAX_HEAD_BYTES = 64 * 1024;
const HEAD_TIMEOUT_MS = 10_000;
/** For a whole request to arrive: 32 MiB on a slow line, yet no socket is held for ever. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the 60 s of common load balancers, so that they, not we, close idle connections. */
const KEPT_FOR_S = 65;
/** For a client to take the next piece of an answer that waits for it, or the last ones. */
const UNREAD_MS = KEPT_FOR_S * 1_000;
/** For what is left of a body that nobody wants. */
const DISCARD_MS = 10_000;
/** After we closed our direction: for the client to see it and to close its own. */
const LINGER_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

export class ClientConnection {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  /** What has come and belongs to no request yet. */
  #pending: Buffer | null = null;
  /** So much of it has been looked through for the end of a head; 0 also while no head has begun. */
  #searchedBytes = 0;
  #call: Call | null = null;
  #deadline: number;
  #restsSince: number;
  #isClosing = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#options = options;
    this.#socket = socket;
    this.#restsSince = options.now();
    this.#deadline = this.#restsSince + KEPT_FOR_S * 1_000;
    socket.on('data', (piece: Buffer) => this.#received(piece));
    socket.on('drain', () => this.#call?.answer.drained());
    socket.once('end', () => this.#left());
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#left();
      options.onClosed(this);
    });
  }

  /** Since when it has carried nothing, not even the beginning of a request; null: it carries something. */
  get restsSince(): number | null {
    return this.#call === null && this.#pending === null && !this.#isClosing ? this.#restsSince : null;
  }

  /** Gives up what has waited for too long. */
  checkDeadline(): void {
    if (this.#deadline > this.#options.now()) return;
    const isRequestLate =
      !this.#isClosing && (this.#call === null ? this.#searchedBytes > 0 : !this.#call.body.isWhole);
    if (!isRequestLate || this.#call?.answer.isOver === true) this.destroy();
    else {
      const waitedMs = this.#call === null ? HEAD_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
      this.#refuse(new AssayError('request_timeout', `The request was not whole within ${waitedMs} ms`));
    }
  }

  /** Closes our direction; what comes now is read and never run, so that its client sees an orderly end and no reset. */
  end(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#call = null;
    this.#pending = null;
    this.#linger();
    this.#socket.resume();
    this.#socket.end(() => this.#linger());
  }

  /** Closes it at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #received(piece: Buffer): void {
    if (this.#isClosing) return;
    try {
      const rest = this.#readBody(piece);
      if (rest === null) return;
      this.#pending = this.#pending === null ? rest : Buffer.concat([this.#pending, rest]);
      if (this.#call === null) this.#readHead();
      // The next request waits; so must whoever sends more of them.
      else if (this.#pending.length > MAX_HEAD_BYTES) this.#socket.pause();
    } catch (error) {
      this.#refuseMalformed(error);
    }
  }

  /** Returns what is beyond the body of the request that is being handled; null: nothing. */
  #readBody(piece: Buffer): Buffer | null {
    const call = this.#call;
    if (call === null || call.body.isWhole) return piece;
    const read = call.body.push(piece, 0);
    if (call.body.isEndless) this.destroy();
    if (!call.body.isWhole) return null;
    this.#deadline = NEVER;
    const rest = read < piece.length ? piece.subarray(read) : null;
    if (!call.answer.isOver) return rest;
    this.#pending = rest;
    this.#rest();
    return null;
  }

  #readHead(): void {
    let bytes = this.#pending!;
    let searchFrom = Math.max(0, this.#searchedBytes - END_OF_HEAD.length);
    // An empty line before a request is passed over (RFC 9112, section 2.2).
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
      this.#begin(head, bytes, from);
    } else if (isBlank(bytes)) {
      // No head has begun: the deadline of a connection at rest goes on, however many such lines come.
      this.#pending = bytes.length === 0 ? null : bytes;
      this.#searchedBytes = 0;
    } else {
      this.#pending = bytes;
      this.#searchedBytes = bytes.length;
      const lineEnd = bytes.indexOf(LINE_FEED);
      if (lineEnd >= 0 && bytes[lineEnd - 1] !== CARRIAGE_RETURN)
        throw new NotHttp('a line does not end in CR LF');
      if (isNew) this.#deadline = this.#options.now() + HEAD_TIMEOUT_MS;
    }
  }

  #begin(head: RequestHead, bytes: Buffer, from: number): void {
    const { now, date, fetch, isDraining } = this.#options;
    const socket = this.#socket;
    const body = new IncomingBody(head.framing, {
      pause: () => socket.pause(),
      resume: () => {
        if (socket.isPaused()) socket.resume();
      },
      sendContinue: head.awaitsContinue ? () => socket.write(CONTINUE) : null,
    });
    const answer = new Answer({
      socket,
      request: head,
      keptForS: () => (isDraining() || body.isAwaited ? null : KEPT_FOR_S),
      date,
      onWait: () => {
        this.#deadline = now() + UNREAD_MS;
      },
      onGoOn: () => this.#awaitBody(body),
      onEnd: () => this.#answered(call),
    });
    const call = new Call(body, answer);
    this.#call = call;
    const read = body.isWhole ? from : body.push(bytes, from);
    if (read < bytes.length) this.#pending = bytes.subarray(read);
    this.#awaitBody(body);
    const request = new ServerRequest(head, body, call);
    try {
      Promise.resolve(fetch(request)).then(
        (response) => this.#send(call, response),
        () => this.#send(call, this.#failure()),
      );
    } catch {
      this.#send(call, this.#failure());
    }
  }

  /** For an answer there is no deadline of ours: its provider has its own. */
  #awaitBody(body: IncomingBody): void {
    this.#deadline = body.isWhole ? NEVER : this.#options.now() + REQUEST_TIMEOUT_MS;
  }

  #send(call: Call, response: Response): void {
    try {
      call.answer.send(response);
    } catch {
      call.answer.send(this.#failure());
    }
  }

  #failure(): Response {
    const error = new AssayError('internal_error', 'The request could not be handled');
    const headers = { 'content-type': 'application/json' };
    return new Reply(this.#options.tell(error), { status: error.status, headers });
  }

  #answered(call: Call): void {
    if (this.#call !== call) return;
    if (call.answer.endsConnection) {
      this.end();
    } else if (call.body.isWhole) {
      this.#rest();
    } else {
      this.#deadline = this.#options.now() + DISCARD_MS;
      call.body.discard();
    }
  }

  /** Nothing is under way any more; the next request may have come already. */
  #rest(): void {
    this.#call = null;
    this.#restsSince = this.#options.now();
    this.#deadline = this.#restsSince + KEPT_FOR_S * 1_000;
    if (this.#socket.isPaused()) this.#socket.resume();
    // Not from within the answer before it.
    if (this.#pending !== null) setImmediate(() => this.#goOn());
  }

  #goOn(): void {
    if (this.#call !== null || this.#pending === null || this.#isClosing) return;
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

  /** Tells what is wrong with what came, and ends the connection: where the next request begins is not known. */
  #refuse(error: AssayError): void {
    const call = this.#call;
    this.#call = null;
    const hasBegun = call?.answer.hasBegun === true;
    call?.leave();
    if (hasBegun) {
      this.destroy();
      return;
    }
    const body = this.#options.tell(error);
    const head = formatAnswerHead({
      status: error.status,
      pairs: [['content-type', 'application/json']],
      framing: Buffer.byteLength(body),
      keptForS: null,
      date: this.#options.date(),
    });
    this.#socket.write(head + body);
    this.end();
  }

  #left(): void {
    const call = this.#call;
    this.#call = null;
    this.#pending = null;
    this.#isClosing = true;
    call?.leave();
    this.#linger();
  }

  #linger(): void {
    this.#deadline = this.#options.now() + (this.#socket.writableLength > 0 ? UNREAD_MS : LINGER_MS);
  }
}

/** Whether this is nothing yet but the empty lines that may come before a request. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length === 1 && bytes[0] === CARRIAGE_RETURN);
}
