/**
 * The connections of a server. At the bound, a new one takes the place of one that has been without a whole request for
 * seconds, or else of one whose body trickles in: a stranger could keep all others out with connections on which nothing is sent,
 * and one organization with bodies that take minutes. Where there is none, a new one
 * is still accepted, because Node cannot leave it in the kernel's queue: its first request gets a 503 that closes it, so that
 * the client learns the reason. Health and metrics are served all the same, so that a busy process is not taken for a dead one.
 * Beyond a few refused connections, new ones are closed at once. The descriptors that the bound leaves free are for everything
 * else that calls need.
 */
import type { Socket } from 'node:net';
import { AssayError, httpStatusOf } from '#core/contracts/errors.ts';
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
  /** Called once, when the first connection is refused. */
  onReached(): void;
};

/** For servers that only the operator connects to. */
export const UNBOUNDED: ConnectionBound = { max: Number.POSITIVE_INFINITY, onReached: () => {} };

export type ConnectionCounts = {
  /** Open connections, including those in a TLS handshake. */
  readonly count: number;
  /** Connections refused so far. */
  readonly refused: number;
};

export type ConnectionsOptions = Omit<ConnectionOptions, 'onClosed'> & {
  certificate: Pick<KeptCertificate, 'context'> | null;
  bound: ConnectionBound;
};

/**
 * Connections beyond the bound that get a 503 at a time. More, and a flood of them uses up the reserved descriptors.
 * @internal Exported so that tests reach the bound.
 */
export const MAX_REFUSING = 64;
/** Time for a refused connection to send its request. */
const REFUSING_MS = 2_000;
/** Time without a request after which a connection makes room: a client that calls again sooner finds it open, as in a drain. */
const MAKES_ROOM_MS = 2_000;
/** Connections that are looked at for the one that makes room: all of them would cost too much where a flood of new ones comes. */
const LOOKED_AT = 64;
const CHECK_MS = 1_000;
const ALWAYS_ANSWERED = new Set(['/healthz', '/readyz', '/metrics']);

/** A connection that could make room, and since when. */
type Candidate = { connection: OpenConnection; since: number };

function earlier(one: Candidate | null, other: Candidate): Candidate {
  return one === null || other.since < one.since ? other : one;
}

export class Connections implements ConnectionCounts {
  readonly #options: ConnectionsOptions;
  readonly #served: ConnectionOptions;
  readonly #turnedAway: ConnectionOptions;
  readonly #open = new Set<OpenConnection>();
  /** The open connections that are refused, or have made room and are being closed. */
  readonly #refusing = new Set<OpenConnection>();
  /** Goes through the open connections again and again. */
  #hand = this.#open.values();
  #accepted = 0;
  #refused = 0;
  /** Null while there is no connection to check: an idle process is not woken. */
  #checking: NodeJS.Timeout | null = null;

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
    if (this.#open.size - this.#refusing.size < bound.max || this.#makeRoom()) {
      this.#begin(socket, false);
      return;
    }
    this.#refused += 1;
    if (this.#refused === 1) bound.onReached();
    if (this.#refusing.size < MAX_REFUSING) this.#begin(socket, true);
    else socket.destroy();
  }

  #check(): void {
    this.checkDeadlines();
    if (this.#open.size > 0 || this.#checking === null) return;
    clearInterval(this.#checking);
    this.#checking = null;
  }

  checkDeadlines(): void {
    const nowMs = this.#options.now();
    for (const connection of this.#open) connection.checkDeadline();
    for (const connection of this.#refusing) {
      const { unusedSince } = connection;
      if (unusedSince !== null && nowMs >= unusedSince + REFUSING_MS) connection.end();
    }
  }

  /** Ends one of some connections: the one that has been unused for longest, or else slow. Returns false where none has been for long enough. */
  #makeRoom(): boolean {
    if (this.#refusing.size >= MAX_REFUSING) return false;
    const latestMs = this.#options.now() - MAKES_ROOM_MS;
    let unused: Candidate | null = null;
    let slow: Candidate | null = null;
    for (let looked = 0; looked < LOOKED_AT; looked += 1) {
      const connection = this.#nextOpen();
      if (connection === undefined || this.#refusing.has(connection)) continue;
      const { unusedSince, slowSince } = connection;
      if (unusedSince !== null && unusedSince <= latestMs)
        unused = earlier(unused, { connection, since: unusedSince });
      else if (slowSince !== null) slow = earlier(slow, { connection, since: slowSince });
    }
    const chosen = unused ?? slow;
    if (chosen === null) return false;
    this.#refusing.add(chosen.connection);
    if (chosen === unused) chosen.connection.end();
    else chosen.connection.giveWay();
    return true;
  }

  #nextOpen(): OpenConnection | undefined {
    const next = this.#hand.next();
    if (next.done !== true) return next.value;
    this.#hand = this.#open.values();
    return this.#hand.next().value;
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
    this.#checking ??= setInterval(() => this.#check(), CHECK_MS).unref();
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
    return new Reply(formatError(error), { status: httpStatusOf(error), headers });
  }
}

/** Makes a bound that logs a warning at the first refusal. */
export function warningBound(max: number, log: Logger): ConnectionBound {
  return {
    max,
    onReached: () =>
      log.warn(
        { max },
        'All connections that the limit of open files (ulimit -n) has room for are in use, and none has been idle or slow for seconds; further ones are turned away with a 503',
      ),
  };
}

/** Registers the metrics of a role's connections. */
export function watchConnections(metrics: Metrics, connections: ConnectionCounts): void {
  metrics.readOnDemand('http_connections', 'Connections of clients that are open', () => connections.count);
  metrics.countedElsewhere(
    'http_connections_refused_total',
    'Connections that were turned away, as all that the limit of open files has room for were in use',
    () => connections.refused,
  );
}
