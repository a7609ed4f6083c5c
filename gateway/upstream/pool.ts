/** The connections to one address: the one used last is used next, so that those too many end by themselves. */

import { connectorTo } from './connect.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { Exchange, type ProviderRequest } from './exchange.ts';
import { noConnectionFree } from './failures.ts';
import { requestBytes } from './request-bytes.ts';

/** A process cannot use more sockets to one provider than this without running out of ports or files. */
const MAX_CONNECTIONS = 1_024;

export type PoolOptions = Pick<ConnectionOptions, 'timeouts' | 'now'> & {
  /** Default: 1,024. */
  maxConnections?: number;
};

type Waiting = { exchange: Exchange; deadline: number };

export class Pool {
  readonly #options: ConnectionOptions;
  readonly #host: string;
  readonly #maxConnections: number;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  /** In the order they came. */
  #waiting: Waiting[] = [];

  constructor(origin: string, { timeouts, now, maxConnections = MAX_CONNECTIONS }: PoolOptions) {
    this.#host = new URL(origin).host;
    this.#maxConnections = maxConnections;
    this.#options = {
      connect: connectorTo(origin),
      timeouts,
      now,
      onFree: (connection) => this.#isFree(connection),
      onClosed: (connection) => this.#isClosed(connection),
    };
  }

  /**
   * Sends a request; the exchange can be aborted.
   * @throws AssayError provider_not_configured when it cannot be written
   */
  send(request: ProviderRequest): Exchange {
    const exchange = new Exchange(request, requestBytes(request, this.#host));
    this.#carry(exchange);
    return exchange;
  }

  #carry(exchange: Exchange): void {
    const connection = this.#takeFree() ?? this.#open();
    if (connection !== null) connection.send(exchange);
    else this.#waiting.push({ exchange, deadline: this.#options.now() + this.#options.timeouts.firstByteMs });
  }

  /** Gives up whatever has waited for too long. */
  checkDeadlines(): void {
    for (const connection of this.#all) connection.checkDeadline();
    if (this.#waiting.length === 0) return;
    const now = this.#options.now();
    const late = this.#waiting.filter(({ deadline }) => deadline <= now);
    this.#waiting = this.#waiting.filter(({ deadline, exchange }) => deadline > now && !exchange.isOver);
    for (const { exchange } of late)
      exchange.fail(noConnectionFree(exchange.request.label, this.#maxConnections));
  }

  /** Closes every connection. What is under way hears nothing. */
  destroy(): void {
    this.#waiting = [];
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

  #isFree(connection: Connection): void {
    const next = this.#nextWaiting();
    if (next === null) this.#free.push(connection);
    else connection.send(next);
  }

  #isClosed(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    const next = this.#nextWaiting();
    if (next !== null) this.#carry(next);
  }

  #nextWaiting(): Exchange | null {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (!next.exchange.isOver) return next.exchange;
    }
    return null;
  }
}
