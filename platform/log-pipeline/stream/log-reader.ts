/**
 * Takes messages off the log stream. By the pull protocol itself and not by the client library's consumer: its `fetch`
 * stalls for a second and a half when messages come again after an outage, and what its `consume` holds when the
 * connection is lost is delivered to nobody until its time for an acknowledgement is over.
 */
import { createInbox, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { LOG_STREAM } from '#core/contracts/channels.ts';
import { type Line, LineCutError } from '../../nats/mod.ts';

/** A message that is ours until we say what became of it, or until the time for that is over. */
export type TakenMessage = {
  data: Uint8Array;
  /** It is stored: the stream may forget it. */
  acknowledge(): void;
  /** It is being worked on: not yet for another. */
  hold(): void;
  /** It is not worked on: for another, at once. */
  release(): void;
};

/** The stream or its consumer is not there (any more): declare it, and read it with a new reader. */
export class LogStreamGoneError extends Error {}

/** Asked for at a time. What is taken and not yet worked on is at most this and as much again, in messages. */
const MESSAGES_PER_REQUEST = 100;
/** A request that is not filled ends after this, so one that got lost on the way holds up nothing for longer. */
const REQUEST_MS = 1_000;
const LOST_AFTER_MS = REQUEST_MS + 500;
const NANOSECONDS_PER_MS = 1_000_000;

const STATUS = { noMessages: 404, timeout: 408, conflict: 409 };

/** Reads until it is closed. One for one task: `take` is not called again before it has settled. */
export class LogReader {
  readonly #connection: NatsConnection;
  readonly #line: Line;
  readonly #cutsBefore: number;
  readonly #requestSubject: string;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  #taken: TakenMessage[] = [];
  /** Messages that the request under way may still bring. */
  #expected = 0;
  #requestedAt = 0;
  #gone: LogStreamGoneError | null = null;
  #wake: () => void = () => {};

  /** @param line of `connection`: what is taken over it is lost with it */
  constructor(connection: NatsConnection, line: Line, consumer: string) {
    this.#connection = connection;
    this.#line = line;
    this.#cutsBefore = line.cuts;
    this.#requestSubject = `$JS.API.CONSUMER.MSG.NEXT.${LOG_STREAM}.${consumer}`;
    this.#subscription = connection.subscribe(this.#inbox, {
      callback: (error, message) => this.#receive(error, message),
    });
  }

  /**
   * The messages that are there, in order; waits up to `waitMs` for the first. As it returns, the next ones are asked for.
   * @throws LineCutError, LogStreamGoneError; ClosedConnectionError when the connection was closed
   */
  async take(waitMs: number): Promise<TakenMessage[]> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      if (this.#isLost) throw new LineCutError();
      if (this.#gone !== null) throw this.#gone;
      this.#requireAnswer();
      this.#request();
      const leftMs = deadline - performance.now();
      if (this.#taken.length > 0 || leftMs <= 0) break;
      await this.#line.during(this.#cutsBefore, this.#arrival(Math.min(leftMs, LOST_AFTER_MS)));
    }
    const taken = this.#taken;
    this.#taken = [];
    this.#request();
    return taken;
  }

  /**
   * A server that crashed may give numbers out again that were those of messages in our hands: once the line was cut,
   * nothing is said of them any more, and they come again when their time is over.
   */
  get #isLost(): boolean {
    return this.#line.cuts !== this.#cutsBefore;
  }

  /** Stops reading; what was taken and not returned goes to others at once. */
  close(): void {
    for (const message of this.#taken) message.release();
    this.#taken = [];
    if (!this.#connection.isClosed()) this.#subscription.unsubscribe();
  }

  /** Each request has an answer, if only that its time is over. To one of a consumer that is no more nobody gives any. */
  #requireAnswer(): void {
    if (this.#expected > 0 && performance.now() - this.#requestedAt > LOST_AFTER_MS)
      throw new LogStreamGoneError('a request for messages was not answered');
  }

  #request(): void {
    if (this.#expected > 0 || this.#taken.length >= MESSAGES_PER_REQUEST) return;
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
      this.#taken.push(this.#takenMessage(message));
    } else {
      this.#expected = 0;
      const isUsual = status === STATUS.noMessages || status === STATUS.timeout;
      const description = message.headers?.description ?? '';
      // Too much is unacknowledged, or the server is going: asking again will do.
      const willPass = status === STATUS.conflict && !/consumer (deleted|is push)/i.test(description);
      if (!isUsual && !willPass) this.#gone = new LogStreamGoneError(`${status} ${description}`.trim());
    }
    this.#wake();
  }

  #takenMessage({ data, reply }: Msg): TakenMessage {
    const answer = (word: string) => () => {
      if (!this.#isLost && !this.#connection.isClosed()) this.#connection.publish(reply!, word);
    };
    return { data, acknowledge: answer('+ACK'), hold: answer('+WPI'), release: answer('-NAK') };
  }
}
