/**
 * An HTTP/1.1 client of our own for the one thing a gateway does all day: calling providers. A request is one write, and
 * a response's bytes go straight from the socket to their handler. In a bare proxy of 1 KB calls undici's dispatcher takes 5–27 µs
 * more of CPU a call, of 51–70 (AMD EPYC, Node 24.21, 2026-11-21).
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
   * Sends a request; resolves when the head of its response is there. When `signal` aborts, before that or while the body
   * is under way, the exchange is given up: the promise rejects with client_closed_request, or the body stops.
   * @throws AssayError provider_not_configured when the request cannot be written as HTTP; as a rejection, when no response
   *   comes: provider_unreachable, provider_timeout, provider_busy or provider_bad_answer
   */
  send(request: ProviderRequest, signal: AbortSignal): Promise<ProviderResponse>;
  /** Aborts what is under way and closes every connection. */
  close(): void;
};

export type ProviderClientOptions = PoolOptions & {
  /** The proxy for an address. Default: none for any. */
  proxyFor?: ProxyChoice;
};

const MAX_ORIGINS = 100;
/** How much later than their time deadlines are noticed: by that part of the shortest timeout. */
const LATENESS = 1 / 8;
const LONGEST_CHECK_MS = 1_000;

/** Makes the client: one pool of connections for each provider address. */
export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const { proxyFor = () => null } = options;
  const pools = new Map<string, Pool>();
  const poolFor = (origin: string): Pool => {
    let pool = pools.get(origin);
    if (pool === undefined) {
      // Origins come from configuration alone, so this is a bound that is never met.
      if (pools.size >= MAX_ORIGINS) throw new Error('Too many provider addresses');
      pool = new Pool(origin, connectorTo(origin, proxyFor(new URL(origin))), options);
      pools.set(origin, pool);
    }
    return pool;
  };
  const { connectMs, firstByteMs, idleMs } = options.timeouts;
  const shortest = Math.min(connectMs, firstByteMs, idleMs, options.waitMs ?? connectMs);
  // One timer for all: one for each call, set and cleared, would cost more than looking at all of them now and then.
  const checks = setInterval(
    () => {
      for (const pool of pools.values()) pool.checkDeadlines();
    },
    Math.min(LONGEST_CHECK_MS, Math.max(1, shortest * LATENESS)),
  );
  checks.unref();
  return {
    send: (request, signal) => {
      const exchange = poolFor(request.origin).send(request);
      exchange.watch(signal);
      return exchange.response;
    },
    close: () => {
      clearInterval(checks);
      for (const pool of pools.values()) pool.destroy();
    },
  };
}

/** A process cannot use more sockets to one provider than this without running out of ports or files. */
const MAX_CONNECTIONS = 1_024;
/** Of all organizations together. More would not be through within the wait, unless calls were much shorter than it. */
const MAX_WAITING = 1_024;
/**
 * How long a call waits for a connection. Shorter, and a burst would be refused that is over when the first short answers
 * are there; longer, and clients would be left in silence, their bodies in memory, that could try elsewhere or later.
 */
const WAIT_MS = 5_000;

export type PoolOptions = Pick<ConnectionOptions, 'timeouts' | 'now'> & {
  /** Calls of one organization that may be under way to one address. */
  concurrencyPerOrganization: number;
  /** Called with the provider's label when a call is refused because there is no connection for it. */
  onBusy?(label: string): void;
  /** To one address. Default: 1,024. */
  maxConnections?: number;
  /** Default: 5 seconds. */
  waitMs?: number;
};

/**
 * The connections to one address: the one used last is used next, so that those too many end by themselves. Calls that
 * find none wait for a short while, organization by organization.
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
   * Sends a request; the exchange can be aborted.
   * @throws AssayError provider_not_configured when it cannot be written
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

  /** Gives up whatever has waited for too long. */
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

  /** Closes every connection. Exchanges under way are not told. */
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

  /** Gives connections to the calls that wait, as far as they may have one. */
  #serve(): void {
    while (this.#queue.hasNext) {
      // A connection that is being closed still counts: a waiting call is served when it has closed.
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
