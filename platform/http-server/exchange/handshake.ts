/** A connection whose TLS handshake is under way, before any HTTP. */
import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';

export type HandshakeOptions = {
  secureContext: SecureContext;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** The handshake is done; the socket carries HTTP from now on. */
  onSecure(socket: Socket, handshake: Handshake): void;
  /** The handshake failed or timed out. */
  onClosed(handshake: Handshake): void;
};

/** As long as a request's head may take. A handshake takes two round trips: a few seconds on the slowest line. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

export class Handshake {
  readonly #socket: TLSSocket;
  readonly #now: () => number;
  /** When the handshake began: a drain treats it as an idle connection. */
  readonly idleSince: number;

  constructor(raw: Socket, { secureContext, now, onSecure, onClosed }: HandshakeOptions) {
    this.#now = now;
    this.idleSince = now();
    this.#socket = new TLSSocket(raw, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
    const close = () => onClosed(this);
    // A failure closes the socket, which the `close` listener handles.
    this.#socket.on('error', () => {});
    this.#socket.once('close', close);
    this.#socket.once('secure', () => {
      this.#socket.off('close', close);
      onSecure(this.#socket, this);
    });
  }

  get unusedSince(): number {
    return this.idleSince;
  }

  get slowSince(): null {
    return null;
  }

  giveWay(): void {
    this.destroy();
  }

  checkDeadline(): void {
    if (this.#now() >= this.idleSince + HANDSHAKE_TIMEOUT_MS) this.destroy();
  }

  /** Closes at once: no response can be lost. */
  end(): void {
    this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
