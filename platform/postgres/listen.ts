/**
 * Listening to notifications. A process makes one listener and passes it to every part that listens, because each connection
 * costs a process in PostgreSQL and there may be many gateways. The listener is passed in, not found by its pool in a hidden
 * table: how many connections a role has is read from its start, and parts with pools of their own still share one.
 *
 * The connection is opened by the first subscription and closed by the last to stop. One statement at a time makes the server
 * send the channels that are subscribed to and no others, so a part that joins or stops does not disturb the rest.
 */
import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import { type Shared, shareWhileUsed } from '../process/shared.ts';
import type { Sql } from './connect.ts';

export type Subscription = {
  channel: string;
  /** Called between `onListening` and `onLost` only. */
  onNotify(payload: string): void;
  /** Called when listening begins, at first and after every loss. Notifications in between are lost. */
  onListening(): void;
  /** Called when listening ends; no notifications come until `onListening` is called again. */
  onLost(): void;
};

export type Listener = {
  /** Listens until `stop`, and again after every loss. What a callback throws is logged and reaches no other subscription. */
  listen(subscription: Subscription): { stop(): Promise<void> };
  /**
   * Returns whether notifications are known to arrive: one of another connection has, since this one was opened. They never do
   * through a pooler that hands connections on between transactions.
   */
  isHearing(): boolean;
};

export type ListenerOptions = {
  /** The pool whose database is listened to, on a connection of its own. */
  sql: Sql;
  log: Logger;
  /** Time between statements that prove the connection alive, in milliseconds; shorter than the pool's `silenceMs`. */
  pulseMs?: number;
};

const RETRY_MS = 250;
const PULSE_MS = 15_000;

/** Creates the listener of a process, which connects when it is first used. */
export function createListener(options: ListenerOptions): Listener {
  let current: Listening | null = null;
  const open = () => {
    current = new Listening(options);
    return current;
  };
  return { listen: shareWhileUsed<Subscription>(open), isHearing: () => current?.isHearing === true };
}

/** One connection with the subscriptions that share it, over all its losses. */
class Listening implements Shared<Subscription> {
  readonly #log: Logger;
  readonly #sql: Sql;
  readonly #connection: Sql;
  readonly #pulse: NodeJS.Timeout;
  /** All subscriptions; true: `onListening` was called, and `onLost` was not since. */
  readonly #subscriptions = new Map<Subscription, boolean>();
  /** Channels that the server sends on this connection. */
  readonly #channels = new Set<string>();
  /** A channel of this listener alone, which shows whether notifications arrive. */
  readonly #echo = `assay_echo_${randomUUID()}`;
  #isHearing = false;
  /** Counts losses: the response to a statement from before one says nothing about the connection after it. */
  #losses = 0;
  #isAsking = false;
  #isEnded = false;
  #retry: NodeJS.Timeout | null = null;

  constructor({ sql, log, pulseMs = PULSE_MS }: ListenerOptions) {
    this.#log = log;
    this.#sql = sql;
    // Options of postgres.js that its types lack. Its own `listen` tries to reconnect once, and is then silent for ever.
    const untyped: object = {
      shared: { retries: 0, typeArrayMap: {} },
      idle_timeout: null,
      max_lifetime: null,
      onclose: () => this.#lose(),
      onnotify: (channel: string, payload: string) => this.#notify(channel, payload),
    };
    const own: object = { ...sql.options, ...untyped, max: 1 };
    this.#connection = postgres(own);
    // Hours may pass without a notification: the responses to this statement show that the connection is alive.
    this.#pulse = setInterval(() => {
      if (this.#isAsking || this.#channels.size === 0) return;
      this.#ask(listenTo(this.#channels)).catch(() => {});
      if (!this.#isHearing) this.#callOut();
    }, pulseMs);
    this.#pulse.unref();
  }

  get isHearing(): boolean {
    return this.#isHearing;
  }

  add(subscription: Subscription): void {
    this.#subscriptions.set(subscription, false);
    this.#update();
  }

  remove(subscription: Subscription): number {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size > 0) this.#update();
    return this.#subscriptions.size;
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#isHearing = false;
    clearInterval(this.#pulse);
    this.#cancelRetry();
    await this.#connection.end({ timeout: 1 });
  }

  /** Makes the server send what is subscribed to, unless a statement or a retry is under way, which is followed by this. */
  #update(): void {
    if (this.#isEnded || this.#isAsking || this.#retry !== null) return;
    const joining = [...this.#subscriptions].filter(([, isListening]) => !isListening).map(([one]) => one);
    const wanted = new Set([...this.#subscriptions.keys()].map(({ channel }) => channel));
    const joined = new Set(joining.map(({ channel }) => channel));
    const left = new Set(
      [...this.#channels].filter((channel) => channel !== this.#echo && !wanted.has(channel)),
    );
    if (joined.size + left.size === 0) return;
    if (this.#channels.size === 0) joined.add(this.#echo);
    const losses = this.#losses;
    this.#isAsking = true;
    this.#ask(`${listenTo(joined)} ${unlistenTo(left)}`).then(
      () => {
        this.#isAsking = false;
        if (losses === this.#losses) {
          for (const channel of joined) this.#channels.add(channel);
          for (const channel of left) this.#channels.delete(channel);
          for (const one of joining) this.#begin(one);
          if (joined.has(this.#echo)) this.#callOut();
        }
        this.#update();
      },
      () => {
        this.#isAsking = false;
        this.#retryLater();
      },
    );
  }

  #begin(subscription: Subscription): void {
    // The subscription may have stopped meanwhile, or begun, if a callback added another.
    if (this.#subscriptions.get(subscription) !== false) return;
    this.#subscriptions.set(subscription, true);
    this.#call(subscription, () => subscription.onListening());
  }

  #lose(): void {
    if (this.#isEnded) return;
    this.#losses += 1;
    this.#isHearing = false;
    this.#channels.clear();
    const lost = [...this.#subscriptions].filter(([, isListening]) => isListening).map(([one]) => one);
    for (const one of lost) this.#subscriptions.set(one, false);
    this.#retryLater();
    // A callback may stop a subscription.
    for (const one of lost) if (this.#subscriptions.has(one)) this.#call(one, () => one.onLost());
  }

  /** Notifies itself from another connection: what a connection notifies itself of arrives through any pooler. */
  #callOut(): void {
    this.#sql`select pg_notify(${this.#echo}, '')`.catch(() => {});
  }

  #notify(channel: string, payload: string): void {
    if (channel === this.#echo) this.#isHearing = true;
    const listening = [...this.#subscriptions.keys()].filter((one) => one.channel === channel);
    for (const one of listening) {
      if (this.#subscriptions.get(one) === true) this.#call(one, () => one.onNotify(payload));
    }
  }

  #retryLater(): void {
    if (this.#isEnded) return;
    this.#cancelRetry();
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#update();
    }, RETRY_MS);
  }

  #cancelRetry(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }

  #call({ channel }: Subscription, callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#log.error({ channel, error: describeError(error) }, 'a part that listens to PostgreSQL failed');
    }
  }

  async #ask(statements: string): Promise<void> {
    await this.#connection.unsafe(statements);
  }
}

const listenTo = (channels: ReadonlySet<string>) =>
  [...channels].map((channel) => `listen ${quoted(channel)};`).join(' ');
const unlistenTo = (channels: ReadonlySet<string>) =>
  [...channels].map((channel) => `unlisten ${quoted(channel)};`).join(' ');

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
