/**
 * The connections of a server. When as many are open as it may have, those that are open go on undisturbed. A new one is still
 * accepted, as Node can not leave it in the kernel's queue: its first request gets a 503 that closes it, so that its client
 * learns what is the matter, but for health and metrics, as a process under load must not be taken for a dead one. Beyond a
 * few of those it is closed at once. What is held back of the process's descriptors is for all that calls need besides.
 */
import type { Socket } from 'node:net';
import { AssayError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { KeptCertificate } from '../tls/mod.ts';
import type { OpenConnection } from './drain.ts';
import {
  ClientConnection,
  type ConnectionOptions,
  Handshake,
  Reply,
  type ServerRequest,
} from './exchange/mod.ts';

export type ConnectionBound = {
  max: number;
  /** Called once, when the first connection is turned away. */
  onReached(): void;
};

/** Where nobody but the operator connects. */
export const UNBOUNDED: ConnectionBound = { max: Number.POSITIVE_INFINITY, onReached: () => {} };

export type ConnectionCounts = {
  /** Open now, those with a handshake under way included. */
  readonly count: number;
  /** Turned away so far. */
  readonly refused: number;
};

export type ConnectionsOptions = Omit<ConnectionOptions, 'onClosed'> & {
  certificate: Pick<KeptCertificate, 'context'> | null;
  bound: ConnectionBound;
};

/**
 * Connections beyond the bound that are told so, at a time. More, and a flood of them uses up what is held back.
 * @internal Exported so that tests reach the bound.
 */
export const MAX_REFUSING = 64;
/** How long such a connection may take to send a request. */
const REFUSING_MS = 2_000;
const ALWAYS_ANSWERED = new Set(['/healthz', '/readyz', '/metrics']);

export class Connections implements ConnectionCounts {
  readonly #options: ConnectionsOptions;
  readonly #served: ConnectionOptions;
  readonly #turnedAway: ConnectionOptions;
  readonly #open = new Set<OpenConnection>();
  /** Of those that are open, the ones that are turned away. */
  readonly #refusing = new Set<OpenConnection>();
  #accepted = 0;
  #refused = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#served = { ...options, onClosed: (connection) => this.#remove(connection) };
    const fetch = (request: ServerRequest) => this.#refuse(request);
    this.#turnedAway = { ...this.#served, fetch, isDraining: () => true };
  }

  get open(): ReadonlySet<OpenConnection> {
    return this.#open;
  }

  get count(): number {
    return this.#open.size;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get refused(): number {
    return this.#refused;
  }

  accept(socket: Socket): void {
    this.#accepted += 1;
    const { bound } = this.#options;
    if (this.#open.size - this.#refusing.size < bound.max) {
      this.#begin(socket, false);
      return;
    }
    this.#refused += 1;
    if (this.#refused === 1) bound.onReached();
    if (this.#refusing.size < MAX_REFUSING) this.#begin(socket, true);
    else socket.destroy();
  }

  checkDeadlines(): void {
    const nowMs = this.#options.now();
    for (const connection of this.#open) connection.checkDeadline();
    for (const connection of this.#refusing) {
      const { idleSince } = connection;
      if (idleSince !== null && nowMs >= idleSince + REFUSING_MS) connection.end();
    }
  }

  #begin(socket: Socket, isRefused: boolean): void {
    const { certificate, now } = this.#options;
    if (certificate === null) {
      this.#carry(socket, isRefused);
      return;
    }
    const handshake = new Handshake(socket, {
      secureContext: certificate.context,
      now,
      onSecure: (secure) => {
        this.#remove(handshake);
        this.#carry(secure, isRefused);
      },
      onClosed: () => this.#remove(handshake),
    });
    this.#add(handshake, isRefused);
  }

  #carry(socket: Socket, isRefused: boolean): void {
    const connection = new ClientConnection(socket, isRefused ? this.#turnedAway : this.#served);
    this.#add(connection, isRefused);
  }

  #add(connection: OpenConnection, isRefused: boolean): void {
    this.#open.add(connection);
    if (isRefused) this.#refusing.add(connection);
  }

  #remove(connection: OpenConnection): void {
    this.#open.delete(connection);
    this.#refusing.delete(connection);
  }

  #refuse(request: ServerRequest): Response | Promise<Response> {
    const { bound, fetch, formatError } = this.#options;
    if (ALWAYS_ANSWERED.has(new URL(request.url).pathname)) return fetch(request);
    const error = new AssayError(
      'too_many_connections',
      `All ${bound.max} connections of this process are in use; try again`,
    );
    const headers = { 'content-type': 'application/json', 'retry-after': '1' };
    return new Reply(formatError(error), { status: error.status, headers });
  }
}

/** The bound of a role's connections, and its metrics. */

/** Makes a bound whose first refusal is warned of. */
export function warningBound(max: number, log: Logger): ConnectionBound {
  return {
    max,
    onReached: () =>
      log.warn(
        { max },
        'All connections that the limit of open files (ulimit -n) has room for are in use; further ones are turned away with a 503',
      ),
  };
}

/** Registers how many connections there are. */
export function watchConnections(metrics: Metrics, connections: ConnectionCounts): void {
  metrics.readOnDemand('http_connections', 'Connections of clients that are open', () => connections.count);
  metrics.countedElsewhere(
    'http_connections_refused_total',
    'Connections that were turned away, as all that the limit of open files has room for were in use',
    () => connections.refused,
  );
}
