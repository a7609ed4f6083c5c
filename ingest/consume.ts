/**
 * Stores the messages of the log stream, and acknowledges them after the commit. Any number of processes share the
 * consumer; a message that one of them took and did not acknowledge in time is delivered to another.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LOG_STREAM } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import {
  ACK_WAIT_MS,
  type DeclaredStream,
  declareLogStream,
  decodeMessage,
  type EntryPart,
  holdsMessage,
  type LogMessage,
  LogReader,
  LogStreamGoneError,
  MalformedMessageError,
  type ReceivedMessage,
  readPositions,
} from '#platform/log-pipeline/stream/mod.ts';
import { ConnectionMonitor, DisconnectedError, type NatsConnection } from '#platform/nats/mod.ts';
import { FailureLog } from '#platform/observability/failure-log.ts';
import { Backoff } from '#platform/process/backoff.ts';
import { insertDeadLetter, originOf } from './dead-letters.ts';
import { dropParts, storePart } from './entry-parts.ts';
import type { BatchEntry } from './prepare-batch.ts';
import { BATCH_EVERY_MS, type BatchResult, BatchStore, type BatchStoreOptions } from './store-batch.ts';
import { StrayParts } from './stray-parts.ts';

export type ConsumeOptions = BatchStoreOptions & {
  connection: NatsConnection;
  onStored(result: BatchResult): void;
  /** Receives after each batch whether messages are waiting. */
  onPace?(isBehind: boolean): void;
  /** Time between two looks for parts that no entry needs; by default twenty minutes. */
  lookForStraysEveryMs?: number;
};

/** Maximum wait for messages, after which a stop is noticed. */
const TAKE_MS = 500;
/** Short at its longest too: entries that waited for Postgres to return should not wait for the next retry as well. */
const BACKOFF = { firstMs: 50, longestMs: 500 };
/** Interval at which the time to acknowledge a batch in progress is extended. */
const WORKING_EVERY_MS = ACK_WAIT_MS / 3;
/** Time after which a held message may be one of a stream that was lost since: a server does not come back within it. */
const MAY_BE_LOST_MS = 1_000;

/** Stores the messages of the log stream until it is stopped. */
export class StreamConsumer {
  readonly #options: ConsumeOptions;
  readonly #failures: FailureLog;
  readonly #monitor: ConnectionMonitor;
  readonly #store: BatchStore;
  readonly #strays: StrayParts;
  #isStopping = false;

  constructor(options: ConsumeOptions) {
    this.#options = options;
    this.#failures = new FailureLog(options.log);
    this.#monitor = new ConnectionMonitor(options.connection, options.log);
    this.#store = new BatchStore(options);
    this.#strays = new StrayParts(options.sql, options.lookForStraysEveryMs);
  }

  /** Runs until `stop`, or until the owner closes the connection. Failures of Postgres and of NATS are retried. */
  async run(): Promise<void> {
    const backoff = new Backoff(BACKOFF);
    while (!this.#isStopping && !this.#options.connection.isClosed()) {
      try {
        if (!(await this.#monitor.waitConnected(TAKE_MS))) continue;
        await this.#consume(() => {
          backoff.reset();
        });
      } catch (error) {
        if (this.#isStopping) return;
        if (error instanceof DisconnectedError) continue;
        const retryMs = backoff.next();
        const fields = { error: describeError(error), retryMs };
        this.#failures.note('warn', fields, 'cannot consume log entries; will try again');
        await sleep(retryMs);
      }
    }
  }

  /** Lets `run` end after the current batch; other messages that were taken are delivered again, elsewhere or later. */
  stop(): void {
    this.#isStopping = true;
  }

  async #consume(onProgress: () => void): Promise<void> {
    const { connection } = this.#options;
    const { epoch } = this.#monitor;
    const stream = await this.#monitor.rejectOnDisconnect(epoch, declareLogStream(connection));
    const reader = new LogReader(connection, this.#monitor, stream.consumer);
    try {
      while (!this.#isStopping) {
        await this.#strays.lookIfDue(() => readPositions(stream));
        const batch = await reader.take(TAKE_MS);
        if (batch.length === 0) continue;
        const beganAt = performance.now();
        await this.#storeAll(batch, reader);
        await this.#monitor.rejectOnDisconnect(epoch, requireHeld(batch, stream));
        for (const message of batch) message.acknowledge();
        onProgress();
        const isLast = batch.at(-1)!.pending === 0;
        this.#options.onPace?.(!isLast);
        if (isLast) await sleep(Math.max(0, beganAt + BATCH_EVERY_MS - performance.now()));
      }
    } finally {
      reader.close();
    }
  }

  /** Stores the messages of a batch, retrying for as long as Postgres is unavailable. */
  async #storeAll(batch: ReceivedMessage[], reader: LogReader): Promise<void> {
    const working = setInterval(() => {
      for (const message of batch) message.extend();
      reader.extend();
    }, WORKING_EVERY_MS);
    try {
      const backoff = new Backoff(BACKOFF);
      for (;;) {
        try {
          await this.#storeOnce(batch);
          break;
        } catch (error) {
          const retryMs = backoff.next();
          const fields = { error: describeError(error), retryMs };
          this.#failures.note('warn', fields, 'cannot store log entries; will try again');
          if (this.#isStopping || this.#options.connection.isClosed()) throw error;
          await sleep(retryMs);
        }
      }
    } finally {
      clearInterval(working);
    }
  }

  /** Stores a batch. May be called again with the same batch: no step adds anything the second time. */
  async #storeOnce(batch: ReceivedMessage[]): Promise<void> {
    const entries: (BatchEntry & { isFromParts: boolean })[] = [];
    for (const message of batch) {
      const content = readMessage(message.data);
      if (content.kind === 'entries') {
        for (const entry of content.entries) {
          entries.push({ ...entry, origin: originOf(content.outboxId, entry.position), isFromParts: false });
        }
      } else if (content.kind === 'part') {
        const origin = originOf(content.outboxId, content.position);
        const entry = await this.#joinParts(origin, content);
        if (entry !== null) entries.push({ ...entry, origin, isFromParts: true });
      } else await this.#storeLetter(content);
    }
    if (entries.length === 0) return;
    const result = await this.#store.store({
      entries,
      alongside: async (tx, first, end) => {
        const whole = entries.slice(first, end).filter(({ isFromParts }) => isFromParts);
        for (const { origin } of whole) await dropParts(tx, origin);
      },
    });
    this.#options.onStored(result);
  }

  async #joinParts(origin: string, part: EntryPart): Promise<LogEntry | null> {
    try {
      return await storePart(this.#options.sql, origin, part);
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      const reason = `The parts of the entry do not fit together: ${error.message}`;
      await this.#storeLetter({ kind: 'dead', origin, reason, entry: part.bytes });
      return null;
    }
  }

  async #storeLetter({ origin, reason, entry }: DeadMessage): Promise<void> {
    const letter = { origin, reason, entry, organizationId: null, requestId: null };
    await this.#options.sql.begin((tx) => insertDeadLetter(tx, letter));
    this.#options.log.error({ origin, reason }, 'a message becomes a dead letter');
  }
}

/**
 * Rejects when the stream no longer holds a batch that took long to store. In a cluster, a server that comes back without its disk
 * makes the stream and its consumer anew, empty and with their names, while this process stays connected to another: the numbers
 * of what it holds are those of messages that nobody has stored.
 *
 * Looks for a message that was delivered once: one that is delivered again may be gone because its first copy was acknowledged.
 * Where there is none, a batch may be taken for lost that is not; its messages are stored again then, and none is lost.
 */
async function requireHeld(batch: ReceivedMessage[], stream: DeclaredStream): Promise<void> {
  const first = batch[0]!;
  if (performance.now() - first.receivedAt < MAY_BE_LOST_MS) return;
  const { place } = batch.find(({ deliveries }) => deliveries === 1) ?? first;
  if (await holdsMessage(stream, place)) return;
  throw new LogStreamGoneError('the stream no longer has what was stored, so that is not acknowledged');
}

type DeadMessage = { kind: 'dead'; origin: string; reason: string; entry: Buffer };

/** Decodes a message; one that cannot be stored becomes a dead letter. */
function readMessage(bytes: Uint8Array): Exclude<LogMessage, { kind: 'damage' }> | DeadMessage {
  try {
    const message = decodeMessage(bytes);
    if (message.kind !== 'damage') return message;
    const origin = originOf(message.outboxId, message.position);
    return {
      kind: 'dead',
      origin,
      reason: `The outbox was damaged: ${message.reason}`,
      entry: message.bytes,
    };
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    const reason = `The message in ${LOG_STREAM} is not one of Assay's: ${error.message}`;
    return { kind: 'dead', origin: LOG_STREAM, reason, entry: Buffer.from(bytes) };
  }
}
