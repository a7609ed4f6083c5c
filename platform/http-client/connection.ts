/** One connection to a provider, which carries one request after the other. */
import type { Socket } from 'node:net';
import type { AssayError } from '#core/contracts/errors.ts';
import { NotHttp } from '../http-message/mod.ts';
import type { Opening } from '../proxy/mod.ts';
import type { Connector } from './connect.ts';
import type { Exchange, ProviderTimeouts } from './exchange.ts';
import {
  closedEarly,
  failedHere,
  fellSilent,
  notAccepted,
  notAnswered,
  notHttp,
  notReached,
} from './failures.ts';
import type { Share } from './fair-queue.ts';
import type { ResponseHead } from './response-reader.ts';
import { ResponseReader } from './response-reader.ts';

/** Providers' load balancers keep idle connections for a minute or longer; a new TLS connection costs 50 ms. */
const KEEP_ALIVE_MS = 20_000;
/** A connection that the provider is about to close is not used: a request could cross with the close and be lost. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

const NEVER = Number.POSITIVE_INFINITY;

export type ConnectionOptions = {
  connector: Connector;
  timeouts: ProviderTimeouts;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Called when the connection can carry another request. */
  onFree(connection: Connection): void;
  /** Called once when the connection has ended, for any reason. */
  onClosed(connection: Connection): void;
};

/** The state of a connection; each has a deadline of its own. */
type Phase = 'connecting' | 'sent' | 'responding' | 'free';

export class Connection {
  /** Set by the pool: the share of the organization whose call the connection carries; null: it carries none. */
  heldBy: Share<Exchange> | null = null;
  readonly #options: ConnectionOptions;
  readonly #opening: Opening;
  /** Null until the connection is open. */
  #socket: Socket | null = null;
  #phase: Phase = 'connecting';
  #deadline: number;
  #exchange: Exchange | null = null;
  #reader: ResponseReader | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#deadline = options.now() + options.timeouts.connectMs;
    this.#opening = options.connector.open(
      { onOpen: (socket) => this.#onOpen(socket), onClosed: (error) => this.#onClose(error) },
      (piece) => this.#onData(piece),
    );
  }

  /** True when a request may be sent now. */
  get isFree(): boolean {
    return (
      this.#phase === 'free' &&
      this.#deadline > this.#options.now() &&
      this.#socket!.readable &&
      this.#socket!.writable
    );
  }

  /** Sends a request; on a new connection as soon as it is open. */
  send(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.onStop(() => {
      if (this.#exchange === exchange) this.destroy();
    });
    this.#reader = new ResponseReader({
      onHead: (head) => this.#onHead(exchange, head),
      onBytes: (piece) => exchange.data(piece),
    });
    if (this.#socket !== null) this.#write(this.#socket, exchange);
  }

  /** Closes the connection and fails its exchange when its deadline has passed. */
  checkDeadline(): void {
    if (this.#deadline > this.#options.now()) return;
    const exchange = this.#exchange;
    this.destroy();
    if (exchange === null) return;
    const { label } = exchange.request;
    const { connectMs, firstByteMs, idleMs } = this.#options.timeouts;
    if (this.#phase === 'connecting')
      exchange.fail(notAccepted(label, connectMs, this.#options.connector.isProxied));
    else if (this.#phase === 'sent') exchange.fail(notAnswered(label, firstByteMs));
    else exchange.fail(fellSilent(label, idleMs));
  }

  /** Closes the connection at once, without failing its exchange. */
  destroy(): void {
    this.#exchange = null;
    this.#reader = null;
    this.#deadline = NEVER;
    (this.#socket ?? this.#opening).destroy();
  }

  #onOpen(socket: Socket): void {
    this.#socket = socket;
    let error: Error | null = null;
    socket.once('end', () => this.#onEnd());
    socket.once('error', (cause) => {
      error = cause;
    });
    socket.once('close', () => this.#onClose(error));
    const exchange = this.#exchange;
    // The call was aborted while the connection was opening.
    if (exchange === null) socket.destroy();
    else this.#write(socket, exchange);
  }

  #write(socket: Socket, { bytes: [head, body] }: Exchange): void {
    this.#phase = 'sent';
    this.#deadline = this.#options.now() + this.#options.timeouts.firstByteMs;
    if (body === null) {
      socket.write(head);
      return;
    }
    socket.cork();
    socket.write(head);
    socket.write(body);
    socket.uncork();
  }

  #onHead(exchange: Exchange, head: ResponseHead): void {
    this.#phase = 'responding';
    exchange.start(head, {
      pause: () => {
        if (this.#exchange !== exchange) return;
        this.#deadline = NEVER;
        this.#socket!.pause();
      },
      resume: () => {
        if (this.#exchange !== exchange) return;
        this.#deadline = this.#options.now() + this.#options.timeouts.idleMs;
        this.#socket!.resume();
      },
    });
  }

  #onData(piece: Buffer): void {
    const reader = this.#reader;
    // Bytes without a request: there is nothing that they could respond to.
    if (reader === null) {
      this.destroy();
      return;
    }
    try {
      const read = reader.push(piece);
      // The handler may have aborted the exchange meanwhile.
      if (this.#reader !== reader) return;
      if (reader.isWhole) this.#finish(reader.head!, read < piece.length);
      else if (reader.head !== null && !this.#socket!.isPaused())
        this.#deadline = this.#options.now() + this.#options.timeouts.idleMs;
    } catch (error) {
      this.#fail((label) => (error instanceof NotHttp ? notHttp(label, error) : failedHere(error)));
    }
  }

  #finish({ isKept, keptForMs }: ResponseHead, hasMore: boolean): void {
    const exchange = this.#exchange!;
    this.#exchange = null;
    this.#reader = null;
    const keptMs = Math.min(KEEP_ALIVE_MS, (keptForMs ?? NEVER) - KEEP_ALIVE_MARGIN_MS);
    // A provider that responds before it has read the whole request may never read the rest.
    if (isKept && !hasMore && keptMs > 0 && this.#socket!.writableLength === 0) {
      this.#phase = 'free';
      this.#deadline = this.#options.now() + keptMs;
      if (this.#socket!.isPaused()) this.#socket!.resume();
      this.#options.onFree(this);
    } else this.destroy();
    exchange.end();
  }

  /** Handles the end of the provider's direction. */
  #onEnd(): void {
    const reader = this.#reader;
    if (this.#exchange !== null && reader?.close() === true) this.#finish(reader.head!, false);
    else this.#fail((label) => closedEarly(label, null));
  }

  #onClose(error: Error | null): void {
    this.#fail((label) => (this.#socket !== null ? closedEarly(label, error) : notReached(label, error)));
    this.#options.onClosed(this);
  }

  #fail(failure: (label: string) => AssayError): void {
    const exchange = this.#exchange;
    this.destroy();
    exchange?.fail(failure(exchange.request.label));
  }
}
