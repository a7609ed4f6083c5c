/**
 * The HTTP/1.1 client that calls providers, with one pool of connections for each address. A request is one write, and the
 * bytes of a response go straight from the socket to their handler. In a bare proxy of 1 KB calls, undici's dispatcher takes
 * 5–27 µs more CPU a call, of 51–70 (AMD EPYC, Node 24.21, 2026-11-21).
 */
import type { ProxyChoice } from '../proxy/mod.ts';
import { type Connector, connectorTo } from './connect.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Exchange, type ProviderRequest } from './exchange.ts';
import { connectionsBusy, organizationBusy } from './failures.ts';
import { FairQueue, type Share } from './fair-queue.ts';
import type { ProviderResponse } from './response.ts';

export type ProviderClient = {
  /**
   * Sends a request. Resolves when the head of the response has arrived. If `signal` aborts before that, the promise rejects
   * with client_closed_request; if it aborts later, the body stops.
   * @throws AssayError provider_not_configured when the request cannot be written as HTTP; as a rejection, when there is no
   *   response: provider_unreachable, provider_timeout, provider_busy or provider_bad_answer
   */
  send(request: ProviderRequest, signal: AbortSignal): Promise<ProviderResponse>;
  /** Aborts every exchange and closes every connection. */
  close(): void;
};

export type ProviderClientOptions = PoolOptions & {
  /** Returns the proxy for an address. Default: no proxies. */
  proxyFor?: ProxyChoice;
};

const MAX_ORIGINS = 100;
/** Deadlines are noticed late by at most this fraction of the shortest timeout. */
const LATENESS = 1 / 8;
const LONGEST_CHECK_MS = 1_000;

/** Creates the client. */
export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const { proxyFor = () => null } = options;
  const pools = new Map<string, Pool>();
  const poolFor = (origin: string): Pool => {
    let pool = pools.get(origin);
    if (pool === undefined) {
      // Origins come from configuration alone, so this bound is never reached.
      if (pools.size >= MAX_ORIGINS) throw new Error('Too many provider addresses');
      pool = new Pool(origin, connectorTo(origin, proxyFor(new URL(origin))), options);
      pools.set(origin, pool);
    }
    return pool;
  };
  const { connectMs, firstByteMs, idleMs } = options.timeouts;
  const shortest = Math.min(connectMs, firstByteMs, idleMs, options.waitMs ?? connectMs);
  // One timer for all connections: setting and clearing one for each call would cost more than regular checks.
  const checkEveryMs = Math.min(LONGEST_CHECK_MS, Math.max(1, shortest * LATENESS));
  /** Null while there is no connection to check: an idle process is not woken. */
  let checks: NodeJS.Timeout | null = null;
  const check = () => {
    let isUsed = false;
    for (const pool of pools.values()) {
      pool.checkDeadlines();
      isUsed ||= pool.isUsed;
    }
    if (isUsed) return;
    stopChecks();
  };
  const stopChecks = () => {
    if (checks !== null) clearInterval(checks);
    checks = null;
  };
  return {
    send: (request, signal) => {
      const exchange = poolFor(request.origin).send(request);
      checks ??= setInterval(check, checkEveryMs).unref();
      exchange.watch(signal);
      return exchange.response;
    },
    close: () => {
      stopChecks();
      for (const pool of pools.values()) pool.destroy();
    },
  };
}

/** Connections to one address: with more, a process runs out of ports or files. */
const MAX_CONNECTIONS = 1_024;
/** Waiting calls of all organizations. More would not be served within the wait, unless calls were much shorter than it. */
const MAX_WAITING = 1_024;
/**
 * Longest wait of a call for a connection. Shorter, and a burst is refused that would be over after the first short
 * responses; longer, and clients that could try elsewhere wait in silence, with their bodies in memory.
 */
const WAIT_MS = 5_000;

export type PoolOptions = Pick<ConnectionOptions, 'timeouts' | 'now'> & {
  /** Calls that one organization may have under way to one address. */
  concurrencyPerOrganization: number;
  /** Called with the provider's label when a call is refused for lack of a connection. */
  onBusy?(label: string): void;
  /** Connections to one address. Default: 1,024. */
  maxConnections?: number;
  /** Longest wait of a call for a connection, in milliseconds. Default: 5,000. */
  waitMs?: number;
};

/**
 * The connections to one address. The connection used last is used next, so that superfluous ones time out. Calls that find
 * none free wait for a short while, and organizations are served in turn.
 */
export class Pool {
  readonly #options: ConnectionOptions;
  readonly #host: string;
  readonly #onBusy: (label: string) => void;
  readonly #maxConnections: number;
  readonly #waitMs: number;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  readonly #queue: FairQueue<Exchange>;

  constructor(origin: string, connector: Connector, options: PoolOptions) {
    const { timeouts, now, maxConnections = MAX_CONNECTIONS } = options;
    this.#host = new URL(origin).host;
    this.#onBusy = options.onBusy ?? (() => {});
    this.#maxConnections = maxConnections;
    this.#waitMs = options.waitMs ?? WAIT_MS;
    this.#queue = new FairQueue({
      connections: maxConnections,
      perOrganization: options.concurrencyPerOrganization,
      waiting: MAX_WAITING,
    });
    this.#options = {
      connector,
      timeouts,
      now,
      onFree: (connection) => this.#reuse(connection),
      onClosed: (connection) => this.#forget(connection),
    };
  }

  /**
   * Sends a request, at once or when a connection is free.
   * @throws AssayError provider_not_configured when the request cannot be written as HTTP
   */
  send(request: ProviderRequest): Exchange {
    const exchange = new Exchange(request, this.#host);
    const share = this.#queue.shareOf(request.organizationId);
    const connection = this.#queue.mayHold(share) ? (this.#takeFree() ?? this.#open()) : null;
    if (connection === null) this.#wait(exchange, share);
    else {
      this.#queue.hold(share);
      carry(connection, exchange, share);
    }
    return exchange;
  }

  /** True while there are connections, and calls that wait for one. */
  get isUsed(): boolean {
    return this.#all.size > 0;
  }

  /** Fails the exchanges and waiting calls whose deadline has passed. */
  checkDeadlines(): void {
    for (const connection of this.#all) connection.checkDeadline();
    for (const { item, share } of this.#queue.takeExpired(this.#options.now())) this.#refuse(item, share);
  }

  #wait(exchange: Exchange, share: Share<Exchange>): void {
    exchange.onStop(() => this.#queue.leave(share, exchange));
    const refused = this.#queue.wait(share, exchange, this.#options.now() + this.#waitMs);
    if (refused !== null) this.#refuse(refused.item, refused.share);
  }

  #refuse(exchange: Exchange, share: Share<Exchange>): void {
    const { label } = exchange.request;
    this.#onBusy(label);
    exchange.fail(
      share.held === 0 ? connectionsBusy(label, this.#maxConnections) : organizationBusy(label, share.held),
    );
  }

  /** Closes every connection without failing its exchange. */
  destroy(): void {
    this.#queue.clear();
    for (const connection of this.#all) connection.destroy();
  }

  #takeFree(): Connection | null {
    for (let connection = this.#free.pop(); connection !== undefined; connection = this.#free.pop()) {
      if (connection.isFree) return connection;
      connection.destroy();
    }
    return null;
  }

  #open(): Connection | null {
    if (this.#all.size >= this.#maxConnections) return null;
    const connection = new Connection(this.#options);
    this.#all.add(connection);
    return connection;
  }

  #reuse(connection: Connection): void {
    this.#release(connection);
    this.#free.push(connection);
    this.#serve();
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    this.#release(connection);
    this.#serve();
  }

  /** Gives connections to waiting calls, as far as the bounds allow. */
  #serve(): void {
    while (this.#queue.hasNext) {
      // A connection that is closing still counts: a waiting call is served once it has closed.
      const connection = this.#takeFree() ?? this.#open();
      if (connection === null) return;
      const { item, share } = this.#queue.next()!;
      carry(connection, item, share);
    }
  }

  #release(connection: Connection): void {
    if (connection.heldBy === null) return;
    this.#queue.release(connection.heldBy);
    connection.heldBy = null;
  }
}

function carry(connection: Connection, exchange: Exchange, share: Share<Exchange>): void {
  connection.heldBy = share;
  connection.send(exchange);
}
