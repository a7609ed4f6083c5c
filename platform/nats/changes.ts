/**
 * Announces to every process that keys, organizations or prompts changed, that log-ins ended, or that requests were erased. Postgres announces the same; NATS also reaches
 * processes whose connection to Postgres runs through a pooler that drops notifications.
 */
import type { Subscription } from '@nats-io/transport-node';
import type {
  BROWSER_SESSION_CHANGES_SUBJECT,
  ERASURES_SUBJECT,
  KEY_CHANGES_SUBJECT,
  PROMPT_CHANGES_SUBJECT,
} from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import { type Shared, shareWhileUsed } from '../process/shared.ts';
import {
  type ConnectNatsOptions,
  connectNats,
  connectOnce,
  type NatsAddress,
  type NatsConnection,
} from './connect.ts';

/** The subject of a kind of changes. */
type ChangeSubject =
  | typeof BROWSER_SESSION_CHANGES_SUBJECT
  | typeof KEY_CHANGES_SUBJECT
  | typeof PROMPT_CHANGES_SUBJECT
  | typeof ERASURES_SUBJECT;

/** Announces a change that is committed. Does nothing when no server can be reached. */
export async function announceChange({
  subject,
  ...options
}: ConnectNatsOptions & { subject: ChangeSubject }): Promise<void> {
  const connection = await connectOnce(options);
  if (connection === null) return;
  connection.publish(subject);
  await connection.drain();
}

/** A callback for each announcement on a subject, and after a lost connection, when an announcement may have been missed. */
type Watch = { subject: ChangeSubject; onChange(): void };

export type ChangeWatcher = {
  /** Watches until `stop`. What `onChange` throws is logged and reaches no other watch. */
  watch(watch: Watch): { stop(): Promise<void> };
};

/**
 * Creates the watcher of a process, which every part that watches is given, so that they share one connection: opened by the
 * first watch, and closed by the last to stop. Without an address nothing is announced.
 */
export function createChangeWatcher(
  options: Omit<ConnectNatsOptions, 'address'> & { address: NatsAddress | null },
): ChangeWatcher {
  const { address } = options;
  if (address === null) return { watch: () => ({ stop: async () => {} }) };
  return { watch: shareWhileUsed<Watch>(() => new Watching({ ...options, address })) };
}

/** One connection with the watches that share it, over all its losses. */
class Watching implements Shared<Watch> {
  readonly #log: Logger;
  /** All watches, with their subscriptions once there is a connection. */
  readonly #watches = new Map<Watch, Subscription | null>();
  #connection: NatsConnection | null = null;
  #isEnded = false;

  constructor(options: ConnectNatsOptions) {
    this.#log = options.log;
    this.#run(options).catch((error: unknown) => {
      options.log.error({ error: describeError(error) }, 'cannot watch for changes over NATS');
    });
  }

  add(watch: Watch): void {
    this.#watches.set(watch, this.#connection === null ? null : this.#subscribe(this.#connection, watch));
  }

  remove(watch: Watch): number {
    this.#watches.get(watch)?.unsubscribe();
    this.#watches.delete(watch);
    return this.#watches.size;
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#connection?.close();
  }

  async #run(options: ConnectNatsOptions): Promise<void> {
    const connection = await connectNats(options);
    if (this.#isEnded) return connection.close();
    this.#connection = connection;
    for (const watch of this.#watches.keys()) this.#watches.set(watch, this.#subscribe(connection, watch));
    for await (const { type } of connection.status()) {
      if (type === 'reconnect') for (const watch of [...this.#watches.keys()]) this.#notify(watch);
    }
  }

  #subscribe(connection: NatsConnection, watch: Watch): Subscription {
    return connection.subscribe(watch.subject, {
      callback: (refusal) => {
        if (refusal === null) return this.#notify(watch);
        const { subject } = watch;
        this.#log.warn({ subject, error: describeError(refusal) }, 'cannot watch for changes over NATS');
      },
    });
  }

  #notify(watch: Watch): void {
    // A callback of another watch may have stopped it.
    if (!this.#watches.has(watch)) return;
    try {
      watch.onChange();
    } catch (error) {
      const { subject } = watch;
      this.#log.error(
        { subject, error: describeError(error) },
        'a part that watches for changes over NATS failed',
      );
    }
  }
}
