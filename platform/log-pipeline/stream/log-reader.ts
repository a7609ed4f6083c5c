/**
 * Reads messages of the log stream. Speaks the pull protocol itself and does not use the client library's consumer: the
 * library's `fetch` stalls for a second and a half when messages are redelivered after an outage, and messages that its
 * `consume` holds when the connection is lost reach no process until their time for an acknowledgement is over.
 */
import { createInbox, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { LOG_STREAM } from '#core/contracts/channels.ts';
import { type ConnectionMonitor, DisconnectedError } from '../../nats/mod.ts';
import type { MessagePlace } from './log-stream.ts';

/** A message that is this process's to store, until it is acknowledged or released, or its time for that is over. */
export type ReceivedMessage = {
  data: Uint8Array;
  place: MessagePlace;
  /** When it came, in milliseconds of `performance.now()`. */
  receivedAt: number;
  /** Deliveries so far, to any process, this one among them. */
  deliveries: number;
  /** Messages behind it in the stream when it was sent. */
  pending: number;
  /** Says that the message is stored: the stream removes it. */
  acknowledge(): void;
  /** Asks for more time: the message is being worked on. */
  extend(): void;
  /** Gives the message back: another process gets it at once. */
  release(): void;
};

/** The stream or its consumer does not exist, or no longer: declare it again, and read with a new reader. */
export class LogStreamGoneError extends Error {}

/** Messages of one request. At most twice as many are received and not returned by `take` yet. */
const MESSAGES_PER_REQUEST = 100;
/** A request that is not filled ends after this time, so a request that is lost on the way holds up reading no longer. */
const REQUEST_MS = 1_000;
const LOST_AFTER_MS = REQUEST_MS + 500;
const NANOSECONDS_PER_MS = 1_000_000;

const STATUS = { noMessages: 404, timeout: 408, conflict: 409 };

/** Reads until it is closed, for one task: `take` must not be called again before it has settled. */
export class LogReader {
  readonly #connection: NatsConnection;
  readonly #monitor: ConnectionMonitor;
  readonly #epoch: number;
  readonly #requestSubject: string;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  #received: ReceivedMessage[] = [];
  /** Messages that may still answer the request under way. */
  #expected = 0;
  #requestedAt = 0;
  #gone: LogStreamGoneError | null = null;
  #wake: () => void = () => {};

  /** @param monitor of `connection`: messages that were received over a connection are lost with it */
  constructor(connection: NatsConnection, monitor: ConnectionMonitor, consumer: string) {
    this.#connection = connection;
    this.#monitor = monitor;
    this.#epoch = monitor.epoch;
    this.#requestSubject = `$JS.API.CONSUMER.MSG.NEXT.${LOG_STREAM}.${consumer}`;
    this.#subscription = connection.subscribe(this.#inbox, {
      callback: (error, message) => this.#receive(error, message),
    });
  }

  /**
   * Returns the messages that have arrived, in order, and requests the next ones; waits up to `waitMs` for the first.
   * @throws DisconnectedError, LogStreamGoneError; ClosedConnectionError when the connection was closed
   */
  async take(waitMs: number): Promise<ReceivedMessage[]> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      if (this.#isLost) throw new DisconnectedError();
      if (this.#gone !== null) throw this.#gone;
      this.#requireResponse();
      this.#request();
      const leftMs = deadline - performance.now();
      if (this.#received.length > 0 || leftMs <= 0) break;
      await this.#monitor.rejectOnDisconnect(this.#epoch, this.#arrival(Math.min(leftMs, LOST_AFTER_MS)));
    }
    const messages = this.#received;
    this.#received = [];
    this.#request();
    return messages;
  }

  /**
   * After a crash, a server may give new messages the sequence numbers of messages that this process holds. So once the
   * connection was lost, those are neither acknowledged nor released; they are redelivered when their time is over.
   */
  get #isLost(): boolean {
    return this.#monitor.epoch !== this.#epoch;
  }

  /** Asks for more time for the messages that `take` has not returned: they wait for those that it has. */
  extend(): void {
    for (const message of this.#received) message.extend();
  }

  /** Stops reading. Messages that `take` has not returned are given back. */
  close(): void {
    for (const message of this.#received) message.release();
    this.#received = [];
    if (!this.#connection.isClosed()) this.#subscription.unsubscribe();
  }

  /** Every request gets a response, if only that its time is over, unless its consumer is gone. */
  #requireResponse(): void {
    if (this.#expected > 0 && performance.now() - this.#requestedAt > LOST_AFTER_MS)
      throw new LogStreamGoneError('a request for messages got no response');
  }

  #request(): void {
    if (this.#expected > 0 || this.#received.length >= MESSAGES_PER_REQUEST) return;
    this.#expected = MESSAGES_PER_REQUEST;
    this.#requestedAt = performance.now();
    const request = { batch: MESSAGES_PER_REQUEST, expires: REQUEST_MS * NANOSECONDS_PER_MS };
    this.#connection.publish(this.#requestSubject, JSON.stringify(request), { reply: this.#inbox });
  }

  #arrival(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #receive(error: Error | null, message: Msg): void {
    const status = message.headers?.code ?? 0;
    if (error !== null) this.#gone = new LogStreamGoneError(error.message, { cause: error });
    else if (status === 0) {
      this.#expected -= 1;
      this.#received.push(this.#receivedMessage(message));
    } else {
      this.#expected = 0;
      const isUsual = status === STATUS.noMessages || status === STATUS.timeout;
      const description = message.headers?.description ?? '';
      // Too many messages are unacknowledged, or the server shuts down: the next request will do.
      const willPass = status === STATUS.conflict && !/consumer (deleted|is push)/i.test(description);
      if (!isUsual && !willPass) this.#gone = new LogStreamGoneError(`${status} ${description}`.trim());
    }
    this.#wake();
  }

  #receivedMessage({ data, reply }: Msg): ReceivedMessage {
    const respond = (payload: string) => () => {
      if (!this.#isLost && !this.#connection.isClosed()) this.#connection.publish(reply!, payload);
    };
    return {
      data,
      receivedAt: performance.now(),
      ...readReply(reply!),
      acknowledge: respond('+ACK'),
      extend: respond('+WPI'),
      release: respond('-NAK'),
    };
  }
}

/**
 * Reads a reply subject of JetStream: `$JS.ACK.<stream>.<consumer>.<delivered>.<stream sequence>.<consumer sequence>.<nanoseconds>.
 * <pending>`, or with domain and account before the stream and a token behind, see the server's ADR-15.
 */
function readReply(reply: string): Pick<ReceivedMessage, 'deliveries' | 'place' | 'pending'> {
  const tokens = reply.split('.');
  const pendingAt = tokens.length === 9 ? 8 : 10;
  const [deliveries, sequence, , nanoseconds, pending] = tokens.slice(pendingAt - 4, pendingAt + 1);
  return {
    deliveries: Number(deliveries),
    place: { sequence: Number(sequence), storedMs: Math.floor(Number(nanoseconds) / 1_000_000) },
    pending: Number(pending) || 0,
  };
}
