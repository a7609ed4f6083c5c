/** A connection whose TLS handshake is under way: it carries no HTTP yet. */
import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';

export type HandshakeOptions = {
  secureContext: SecureContext;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** The handshake is done; what is read and written from now on is HTTP. */
  onSecure(socket: Socket, handshake: Handshake): void;
  /** It was given up, or failed. */
  onClosed(handshake: Handshake): void;
};

/** As long as a request's head may take. A handshake is two round trips, on the slowest line a few seconds. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

export class Handshake {
  readonly #socket: TLSSocket;
  readonly #now: () => number;
  /** When it began: to a drain it is a connection that carries no call. */
  readonly idleSince: number;

  constructor(raw: Socket, { secureContext, now, onSecure, onClosed }: HandshakeOptions) {
    this.#now = now;
    this.idleSince = now();
    this.#socket = new TLSSocket(raw, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    const close = () => onClosed(this);
    // What fails closes the socket.
    this.#socket.on('error', () => {});
    this.#socket.once('close', close);
    this.#socket.once('secure', () => {
      this.#socket.off('close', close);
      onSecure(this.#socket, this);
    });
  }

  checkDeadline(): void {
    if (this.#now() >= this.idleSince + HANDSHAKE_TIMEOUT_MS) this.destroy();
  }

  /** There is no answer that could be lost. */
  end(): void {
    this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
