/**
 * The connections to one address: the one used last is used next, so that those too many end by themselves. Calls that
 * find none wait for a short while, organization by organization.
 */

import type { Connector } from './connect.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Exchange, type ProviderRequest } from './exchange.ts';
import { connectionsBusy, organizationBusy } from './failures.ts';
import { FairQueue, type Share } from './fair-queue.ts';

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
    for (const { item, share } of this.#queue.takeLate(this.#options.now())) this.#refuse(item, share);
  }

  #wait(exchange: Exchange, share: Share<Exchange>): void {
    exchange.carriedBy(() => this.#queue.leave(share, exchange));
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
