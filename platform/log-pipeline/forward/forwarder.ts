/**
 * Carries log entries from the outboxes of this machine into the log stream, and removes them only when they are in
 * Postgres: an outbox keeps its entries until the consumer's acknowledgements, which ingest gives after its commit, have
 * passed them. After every loss of the connection the forwarder begins again behind what is stored. So neither a message
 * that NATS acknowledged and lost, nor a stream that an operator removed, loses an entry. Postgres recognises an entry that
 * arrives twice.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamClient, jetstream } from '@nats-io/jetstream';
import { LOG_STREAM, LOG_SUBJECT } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import {
  ConnectionMonitor,
  DisconnectedError,
  type NatsConnection,
  NatsRefusalError,
} from '../../nats/mod.ts';
import type { Logger } from '../../observability/log.ts';
import { Backoff } from '../../process/backoff.ts';
import { FailingOutboxes, listOutboxes, OutboxWrites, onFiles, takeAbandonedOutbox } from '../outbox/mod.ts';
import {
  ACK_WAIT_MS,
  awaitsLostMessage,
  type DeclaredStream,
  declareLogStream,
  deleteConsumer,
  jetStreamErrorCode,
} from '../stream/mod.ts';
import { OutboxFeed, type StoredPart } from './feed.ts';

export type ForwarderOptions = {
  connection: NatsConnection;
  /** The directory of the outboxes. */
  root: string;
  /** The outbox of this process. The outboxes of processes that are gone are taken over. */
  ownId: string;
  log: Logger;
  /** Time that the acknowledgements may stand still before the forwarder looks for the reason. */
  stuckAfterMs?: number;
};

/** Time between checks whether all is stored, at the end. */
const STOPPING_MS = 20;
/**
 * Least time between the beginnings of two chunks, unless the first leaves entries behind: a message and its acknowledgement cost
 * the same for one entry as for many. What comes after a pause is published at once.
 */
const CHUNK_EVERY_MS = 20;
const CONFIRM_EVERY_MS = 200;
const ADOPT_EVERY_MS = 1_000;
const BACKOFF = { firstMs: 100, longestMs: 2_000 };
const PUBLISH_TIMEOUT_MS = 5_000;
/** Room for the subject, headers and reply address of a message, which count against the server's max_payload. */
const MESSAGE_MARGIN_BYTES = 1_024;
/** Most chunks of an outbox, of up to 4 MiB each, that are published and not known to be stored. */
const MAX_UNCONFIRMED = 10_000;
/** Pause after the stream was full: each try sends a chunk of up to 4 MiB. */
const FULL_RETRY_MS = 250;
/** Long enough for another ingest process to be given the messages of one that died, and to store them. */
const STUCK_AFTER_MS = 2 * ACK_WAIT_MS;

/** JetStream's error codes for a stream that takes no more for now: it is full, or its server is short of resources. */
const NO_ROOM = new Set([10_023, 10_047, 10_077, 10_122]);

/** The time between two losses of the connection. What was published before a loss may be lost. */
type Session = {
  stream: DeclaredStream;
  /** The monitor's epoch when the session began. */
  epoch: number;
  /** Largest payload of a message. */
  maxBytes: number;
};

/** The declared consumer is gone: what was published is published anew. */
class SessionLostError extends Error {}
/** Forwards entries until `stop`. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #client: JetStreamClient;
  readonly #monitor: ConnectionMonitor;
  readonly #feeds = new Map<string, OutboxFeed>();
  readonly #failing: FailingOutboxes;
  readonly #writes: OutboxWrites;
  #isStopping = false;
  #nextConfirm = 0;
  #nextAdoption = 0;
  #isFull = false;
  /** A full stream is left alone until then. */
  #retryFullAt = 0;
  /** The message up to which everything is acknowledged, and since when it is that one. */
  #ackFloor = { sequence: -1, sinceMs: 0 };

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#client = jetstream(options.connection, { timeout: PUBLISH_TIMEOUT_MS });
    this.#monitor = new ConnectionMonitor(options.connection, options.log);
    const { root, log } = options;
    this.#failing = new FailingOutboxes({ root, log, monotonic: () => performance.now() });
    this.#writes = new OutboxWrites(root);
    void options.connection.closed().then(() => this.#writes.wake());
  }

  /**
   * Runs until `stop`, and then until everything is stored, which may take longer than the caller waits; or until the owner
   * closes the connection.
   */
  async run(): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    while (!this.#options.connection.isClosed()) {
      const startedAt = performance.now();
      try {
        if (!(await this.#monitor.waitConnected(BACKOFF.longestMs))) continue;
        await this.#runSession();
        return;
      } catch (error) {
        if (error instanceof DisconnectedError) {
          backoff.reset();
          continue;
        }
        if (this.#options.connection.isClosed()) return;
        const level = error instanceof NatsRefusalError ? 'error' : 'warn';
        if (performance.now() - startedAt > BACKOFF.longestMs) backoff.reset();
        const retryMs = backoff.next();
        this.#options.log[level](
          { error: describeError(error), retryMs },
          'cannot forward log entries; will try again',
        );
        await sleep(retryMs);
      }
    }
  }

  /**
   * Lets `run` end when the outboxes of this process, and of processes that are gone, are stored and removed; those whose files
   * fail are left to the next process.
   */
  stop(): void {
    this.#isStopping = true;
    this.#writes.wake();
  }

  /** Chunks that are published and not known to be stored; 0 when everything is stored. */
  get unconfirmed(): number {
    let sum = 0;
    for (const feed of this.#feeds.values()) sum += feed.unconfirmed;
    return sum;
  }

  /** Outboxes whose files failed when they were last tried. */
  get failingOutboxes(): number {
    return this.#failing.count;
  }

  /** Stored part of this process's own outbox; null before its feed is open. */
  get ownStored(): StoredPart | null {
    return this.#feeds.get(this.#options.ownId)?.stored ?? null;
  }

  /** Releases the locks of all outboxes. */
  release(): void {
    this.#writes[Symbol.dispose]();
    for (const feed of this.#feeds.values()) feed.release();
    this.#feeds.clear();
  }

  async #runSession(): Promise<void> {
    const { connection } = this.#options;
    const { epoch } = this.#monitor;
    const stream = await this.#monitor.rejectOnDisconnect(epoch, declareLogStream(connection));
    for (const feed of this.#feeds.values()) feed.restart();
    const session = { stream, epoch, maxBytes: connection.info!.max_payload - MESSAGE_MARGIN_BYTES };
    // One that is closed for good is not lost, and nothing that waits for its answers need be under way.
    while (!connection.isClosed()) {
      if (this.#monitor.epoch !== epoch) throw new DisconnectedError();
      const beganAt = performance.now();
      await this.#adoptOutboxes();
      let moved = 0;
      for (const feed of this.#feeds.values()) moved += await this.#publish(feed, session);
      await this.#confirm(session);
      if (this.#isStopping && this.#isDone) return;
      await this.#rest(moved, beganAt);
    }
  }

  /** Nothing is left but outboxes whose files fail, which may take for ever. */
  get #isDone(): boolean {
    return [...this.#feeds].every(([id, { unconfirmed }]) => unconfirmed === 0 && this.#failing.has(id));
  }

  /** Something is to be looked at again though no entry is written. */
  get #hasWork(): boolean {
    return this.unconfirmed > 0 || this.#isFull || this.#failing.count > 0;
  }

  /** Waits for what is worth another round. */
  async #rest(moved: number, beganAt: number): Promise<void> {
    if (this.#isStopping) await sleep(moved > 0 ? 0 : STOPPING_MS);
    else if (moved === 0) await this.#writes.wait(this.#hasWork ? CONFIRM_EVERY_MS : undefined);
    else if (![...this.#feeds.values()].some(({ hasMore }) => hasMore)) {
      await sleep(Math.max(0, beganAt + CHUNK_EVERY_MS - performance.now()));
    }
  }

  /** Adopts the outbox of this process, and those of processes that are gone. */
  async #adoptOutboxes(): Promise<void> {
    const { root, ownId } = this.#options;
    const now = performance.now();
    if (now < this.#nextAdoption && !this.#isStopping) return;
    this.#nextAdoption = now + ADOPT_EVERY_MS;
    if (this.#isStopping) {
      for (const [outboxId, feed] of this.#feeds) {
        const isTaken = await this.#failing.attempt('take over', outboxId, () => feed.adopt());
        if (isTaken === false) this.#feeds.delete(outboxId);
      }
    }
    const listed = await listOutboxes(root);
    this.#dropRemoved(new Set(listed));
    this.#failing.keepOnly(listed);
    for (const outboxId of listed) {
      const isOwn = outboxId === ownId;
      if (this.#feeds.has(outboxId) || (this.#isStopping && !isOwn)) continue;
      await this.#failing.attempt('take over', outboxId, () => this.#adopt(outboxId));
    }
  }

  async #adopt(outboxId: string): Promise<void> {
    const directory = join(this.#options.root, outboxId);
    // Until `stop`, the writer in this process holds the lock.
    const isWritten = outboxId === this.#options.ownId && !this.#isStopping;
    const lock = isWritten ? null : await onFiles(() => takeAbandonedOutbox(directory));
    if (isWritten || lock !== null) {
      this.#feeds.set(outboxId, await OutboxFeed.open({ directory, outboxId, lock }));
    }
  }

  /** Drops the outboxes whose directories are gone: nothing can be read of them, and the others must not wait for them. */
  #dropRemoved(listed: ReadonlySet<string>): void {
    for (const [outboxId, feed] of this.#feeds) {
      if (listed.has(outboxId)) continue;
      feed.release();
      this.#feeds.delete(outboxId);
      this.#options.log.error(
        { outboxId },
        'the directory of an outbox was removed before all of it was stored',
      );
    }
  }

  /** Publishes the next messages of one outbox. Returns how many were sent. */
  async #publish(feed: OutboxFeed, { stream, epoch, maxBytes }: Session): Promise<number> {
    if (feed.unconfirmed >= MAX_UNCONFIRMED || performance.now() < this.#retryFullAt) return 0;
    const messages = await this.#failing.attempt('read', feed.outboxId, () => feed.nextMessages(maxBytes));
    if (messages === null) return 0;
    const publishing = Promise.allSettled(
      messages.map(async (message) => {
        const ack = await this.#client.publish(LOG_SUBJECT, message.payload, {
          // JetStream drops a repeated id. A new consumer needs the message again: the one before may never have seen it.
          msgID: `${message.id}/${stream.consumer}`,
          timeout: PUBLISH_TIMEOUT_MS,
        });
        message.sequence = ack.seq;
      }),
    );
    const results = await this.#monitor.rejectOnDisconnect(epoch, publishing);
    feed.finishChunk();
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) {
      if (messages.length > 0) this.#setFull(false);
      return messages.length;
    }
    if (!NO_ROOM.has(jetStreamErrorCode(failed.reason) ?? 0)) throw failed.reason;
    this.#setFull(true);
    this.#retryFullAt = performance.now() + FULL_RETRY_MS;
    return 0;
  }

  #setFull(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (isFull)
      this.#options.log.warn(`the NATS stream ${LOG_STREAM} is full; log entries wait in the outbox`);
    else this.#options.log.info(`the NATS stream ${LOG_STREAM} has room again`);
  }

  /** Replaces a consumer that waits for a lost message. While Postgres is away, acknowledgements rightly stand still. */
  async #replaceIfStuck(stream: DeclaredStream, sequence: number): Promise<void> {
    const now = performance.now();
    if (sequence !== this.#ackFloor.sequence) this.#ackFloor = { sequence, sinceMs: now };
    if (now - this.#ackFloor.sinceMs < (this.#options.stuckAfterMs ?? STUCK_AFTER_MS)) return;
    this.#ackFloor.sinceMs = now;
    if (!(await awaitsLostMessage(stream))) return;
    await deleteConsumer(stream);
    throw new SessionLostError(
      `the NATS consumer ${stream.consumer} waited for message ${sequence + 1}, which the stream no longer has: it is replaced`,
    );
  }

  /** Asks how far ingest has come, and removes what is stored. */
  async #confirm({ stream, epoch }: Session): Promise<void> {
    const { manager, consumer } = stream;
    const now = performance.now();
    if (now < this.#nextConfirm) return;
    this.#nextConfirm = now + CONFIRM_EVERY_MS;
    if (this.unconfirmed > 0) {
      // After a loss, the same sequence numbers may stand for other messages.
      const info = await this.#monitor.rejectOnDisconnect(
        epoch,
        manager.consumers.info(LOG_STREAM, consumer),
      );
      for (const [outboxId, feed] of this.#feeds)
        await this.#failing.attempt('trim', outboxId, () => feed.confirm(info.ack_floor.stream_seq));
      await this.#replaceIfStuck(stream, info.ack_floor.stream_seq);
    } else {
      // Entries that are stored may not be noted as such yet, because noting them failed.
      for (const [outboxId, feed] of this.#feeds)
        await this.#failing.attempt('trim', outboxId, () => feed.confirm(0));
    }
    for (const [outboxId, feed] of this.#feeds)
      if (feed.isDone) await this.#failing.attempt('remove', outboxId, () => this.#remove(feed));
  }

  async #remove(feed: OutboxFeed): Promise<void> {
    const { outboxId } = feed;
    await feed.remove();
    this.#feeds.delete(outboxId);
    this.#options.log.info({ outboxId }, 'removed the outbox of a process that is gone: all of it is stored');
  }
}
