/**
 * Watches whether a connection to NATS is up. A request over a connection that was lost is not answered after it is back, and runs
 * into its timeout of seconds: a caller that knows of the loss asks again at once.
 */
import { describeError } from '#core/contracts/errors.ts';
import { FailureLog } from '../observability/failure-log.ts';
import type { Logger } from '../observability/log.ts';
import type { NatsConnection } from './connect.ts';

/**
 * The connection was lost. Whether what was sent has arrived is unknown, and an answer may speak of another stream by the
 * same numbers.
 */
export class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError';

  constructor() {
    super('the connection was lost');
  }
}

/** Watches one connection for as long as it lives. */
export class ConnectionMonitor {
  #epoch = 0;
  #isUp = true;
  readonly #onDisconnect = new Set<() => void>();
  readonly #onReconnect = new Set<() => void>();

  constructor(connection: NatsConnection, log: Logger) {
    void this.#watch(connection, log);
  }

  /** Counts the losses of the connection: work that began in one epoch must not go on in another. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Resolves with whether the connection is up: as soon as it is, or was closed for good; after `waitMs` at the latest. */
  async waitConnected(waitMs: number): Promise<boolean> {
    if (this.#isUp) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMs);
    this.#onReconnect.add(resolve);
    await promise;
    this.#onReconnect.delete(resolve);
    clearTimeout(timer);
    return this.#isUp;
  }

  /**
   * Resolves as `work` does, unless the connection is lost.
   * @param epoch in which the task began that `work` is a part of
   * @throws DisconnectedError as soon as the connection is lost, or if it was since; whatever becomes of `work`
   */
  rejectOnDisconnect<T>(epoch: number, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const disconnect = () => reject(new DisconnectedError());
      work.then(resolve, reject).finally(() => this.#onDisconnect.delete(disconnect));
      if (this.#isUp && this.#epoch === epoch) this.#onDisconnect.add(disconnect);
      else disconnect();
    });
  }

  async #watch(connection: NatsConnection, log: Logger): Promise<void> {
    const failures = new FailureLog(log);
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        this.#epoch += 1;
        // Each attempt that a server refuses ends in one, too.
        if (this.#isUp) log.warn('lost the connection to NATS');
        this.#isUp = false;
        callAll(this.#onDisconnect);
      } else if (status.type === 'reconnect') {
        this.#isUp = true;
        log.info('reconnected to NATS');
        callAll(this.#onReconnect);
      } else if (status.type === 'error') {
        failures.note('warn', { error: describeError(status.error) }, 'NATS reports an error');
      }
    }
    callAll(this.#onReconnect);
  }
}

/** Calls each listener, and forgets all of them. */
function callAll(listeners: Set<() => void>): void {
  const all = [...listeners];
  listeners.clear();
  for (const listener of all) listener();
}
