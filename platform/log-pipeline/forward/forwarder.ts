/**
 * Carries log entries from the outboxes of this machine into the log stream, and lets go of them only when they are in
 * Postgres: an outbox keeps what it holds until the consumer's acknowledgements, which ingest gives after its commit,
 * have passed it. After every loss of the connection it begins again behind what is stored. So neither a message that
 * NATS acknowledged and lost, nor a stream that somebody emptied, loses an entry; what travels twice, Postgres knows.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import { LOG_STREAM, LOG_SUBJECT } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import { Line, LineCutError, type NatsConnection, NatsRefusalError } from '../../nats/mod.ts';
import type { Logger } from '../../observability/log.ts';
import { Backoff } from '../../process/backoff.ts';
import { listOutboxes } from '../outbox/mod.ts';
import {
  ACK_WAIT_MS,
  codeOf,
  type DeclaredStream,
  declareLogStream,
  deleteConsumer,
  waitsForNothing,
} from '../stream/mod.ts';
import { OutboxFeed, takeOutbox } from './feed.ts';

export type ForwarderOptions = {
  connection: NatsConnection;
  /** The directory of the outboxes. */
  root: string;
  /** The outbox of this process; those of processes that are gone are taken over. */
  ownId: string;
  log: Logger;
  /** How long the acknowledgements may stand still before it is looked why. */
  stuckAfterMs?: number;
};

/** How soon a new entry is seen when nothing was there. */
const IDLE_MS = 20;
const CONFIRM_EVERY_MS = 200;
const ADOPT_EVERY_MS = 1_000;
const BACKOFF = { firstMs: 100, longestMs: 2_000 };
const PUBLISH_TIMEOUT_MS = 5_000;
/** For the subject, headers and reply address of a message, which count against the server's max_payload. */
const MESSAGE_MARGIN_BYTES = 1_024;
/** Published and not known to be stored, at most; beyond it entries wait in the outbox. A chunk is up to 4 MiB. */
const MAX_UNCONFIRMED = 10_000;

/** A full stream is asked again after this: each time costs it a chunk. */
const FULL_RETRY_MS = 250;
/** Long enough for what an ingest process died with to be given to another, and stored by it. */
const STUCK_AFTER_MS = 2 * ACK_WAIT_MS;

/** The stream takes no more for now: full, or its server short of something. JetStream's numbers. */
const NO_ROOM = new Set([10_023, 10_047, 10_077, 10_122]);

/** What is published between two losses of the line: what was before a loss may be lost by it. */
type Session = {
  stream: DeclaredStream;
  /** Of the line, as it began. */
  cuts: number;
  /** Of a message's payload. */
  maxBytes: number;
};

/** The consumer that was declared is no more: what was published is published anew. */
class SessionLostError extends Error {}

/** Forwards until told to stop. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #client: JetStreamClient;
  readonly #line: Line;
  readonly #feeds = new Map<string, OutboxFeed>();
  #isStopping = false;
  #nextConfirm = 0;
  #nextAdoption = 0;
  #isFull = false;
  /** Until then a full stream is left alone. */
  #fullUntil = 0;
  /** Where the acknowledgements stand, and since when. */
  #floor = { sequence: -1, sinceMs: 0 };

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#client = jetstream(options.connection, { timeout: PUBLISH_TIMEOUT_MS });
    this.#line = new Line(options.connection, options.log);
  }

  /** Runs until `stop`, and then until everything is stored, for which the caller may not want to wait. */
  async run(): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    while (!this.#options.connection.isClosed()) {
      const startedAt = performance.now();
      try {
        if (!(await this.#line.stands(BACKOFF.longestMs))) continue;
        await this.#session();
        return;
      } catch (error) {
        if (error instanceof LineCutError) {
          backoff.reset();
          continue;
        }
        if (this.#options.connection.isClosed()) return;
        const level = error instanceof NatsRefusalError ? 'error' : 'warn';
        if (performance.now() - startedAt > BACKOFF.longestMs) backoff.reset();
        const retryMs = backoff.next();
        this.#options.log[level]({ error: describeError(error), retryMs }, 'cannot forward log entries now');
        await sleep(retryMs);
      }
    }
  }

  /** Lets `run` end when the outboxes of this process and of those that are gone are stored and removed. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Entries that are on their way, in messages; 0 when everything is stored. */
  get unconfirmed(): number {
    let sum = 0;
    for (const feed of this.#feeds.values()) sum += feed.unconfirmed;
    return sum;
  }

  /** Lets go of the outboxes, as they are. */
  release(): void {
    for (const feed of this.#feeds.values()) feed.release();
    this.#feeds.clear();
  }

  async #session(): Promise<void> {
    const { connection } = this.#options;
    const { cuts } = this.#line;
    const stream = await this.#line.during(cuts, declareLogStream(connection));
    for (const feed of this.#feeds.values()) feed.restart();
    const session = { stream, cuts, maxBytes: connection.info!.max_payload - MESSAGE_MARGIN_BYTES };
    for (;;) {
      if (this.#line.cuts !== cuts) throw new LineCutError();
      await this.#adopt();
      let moved = 0;
      for (const feed of this.#feeds.values()) moved += await this.#publish(feed, session);
      await this.#confirm(session);
      if (this.#isStopping && this.#feeds.size === 0) return;
      if (moved === 0) await sleep(IDLE_MS);
    }
  }

  /** Takes up our own outbox, and those whose process is gone. */
  async #adopt(): Promise<void> {
    const { root, ownId } = this.#options;
    const now = performance.now();
    if (now < this.#nextAdoption && !this.#isStopping) return;
    this.#nextAdoption = now + ADOPT_EVERY_MS;
    if (this.#isStopping) {
      for (const [outboxId, feed] of this.#feeds) if (!feed.adopt()) this.#feeds.delete(outboxId);
    }
    for (const outboxId of await listOutboxes(root)) {
      const isOwn = outboxId === ownId;
      if (this.#feeds.has(outboxId) || (this.#isStopping && !isOwn)) continue;
      const directory = join(root, outboxId);
      // Until the stop our own writer has its lock.
      const isWritten = isOwn && !this.#isStopping;
      const lock = isWritten ? null : takeOutbox(directory);
      if (isWritten || lock !== null) {
        this.#feeds.set(outboxId, await OutboxFeed.open({ directory, outboxId, lock }));
      }
    }
  }

  /** Publishes what is next of one outbox. Returns how many messages went out. */
  async #publish(feed: OutboxFeed, { stream, cuts, maxBytes }: Session): Promise<number> {
    if (feed.unconfirmed >= MAX_UNCONFIRMED || performance.now() < this.#fullUntil) return 0;
    const messages = await feed.outgoing(maxBytes);
    const publishing = Promise.allSettled(
      messages.map(async (message) => {
        const ack = await this.#client.publish(LOG_SUBJECT, message.payload, {
          // The same again is recognised, but not what another consumer may have been told of and never saw.
          msgID: `${message.id}/${stream.consumer}`,
          timeout: PUBLISH_TIMEOUT_MS,
        });
        message.sequence = ack.seq;
      }),
    );
    const results = await this.#line.during(cuts, publishing);
    feed.published();
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) {
      if (messages.length > 0) this.#setFull(false);
      return messages.length;
    }
    if (!NO_ROOM.has(codeOf(failed.reason) ?? 0)) throw failed.reason;
    this.#setFull(true);
    this.#fullUntil = performance.now() + FULL_RETRY_MS;
    return 0;
  }

  #setFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (isFull) this.#options.log.warn(`the NATS stream ${LOG_STREAM} is full; entries wait in the outbox`);
    else this.#options.log.info(`the NATS stream ${LOG_STREAM} has room again`);
  }

  /** Acknowledgements stand still while Postgres is away, and that is right; but not because of a message that is gone. */
  async #requireMoving(stream: DeclaredStream, sequence: number): Promise<void> {
    const now = performance.now();
    if (sequence !== this.#floor.sequence) this.#floor = { sequence, sinceMs: now };
    if (now - this.#floor.sinceMs < (this.#options.stuckAfterMs ?? STUCK_AFTER_MS)) return;
    this.#floor.sinceMs = now;
    if (!(await waitsForNothing(stream))) return;
    await deleteConsumer(stream);
    throw new SessionLostError(
      `the NATS consumer ${stream.consumer} waited for message ${sequence + 1}, which the stream no longer has: it is made anew`,
    );
  }

  /** Asks how far ingest has come, and lets go of what is stored. */
  async #confirm({ stream, cuts }: Session): Promise<void> {
    const { manager, consumer } = stream;
    const now = performance.now();
    if (now < this.#nextConfirm) return;
    this.#nextConfirm = now + CONFIRM_EVERY_MS;
    if (this.unconfirmed > 0) {
      // An answer from after a loss may speak of other messages by the same numbers.
      const info = await this.#line.during(cuts, manager.consumers.info(LOG_STREAM, consumer));
      for (const feed of this.#feeds.values()) await feed.confirm(info.ack_floor.stream_seq);
      await this.#requireMoving(stream, info.ack_floor.stream_seq);
    }
    for (const [outboxId, feed] of this.#feeds) {
      if (!feed.isDone) continue;
      await feed.remove();
      this.#feeds.delete(outboxId);
      this.#options.log.info({ outboxId }, 'an outbox that nobody writes to any more was stored and removed');
    }
  }
}
