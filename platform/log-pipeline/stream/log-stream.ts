/**
 * The JetStream stream of log entries, and the consumer that ingest reads it through. The first process that needs them
 * declares both, with the same settings as every other would.
 *
 * The stream is a work queue: it removes what ingest has acknowledged. `discard: new`, because by default a full stream
 * silently drops its oldest entries; no age limit, for the same reason; and no purge. A gateway keeps its entries until the
 * consumer's acknowledgements have passed them (../forward), so the loss of the whole stream loses nothing.
 */
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { LOG_STREAM, LOG_SUBJECT } from '#core/contracts/channels.ts';
import { type NatsConnection, NatsRefusalError } from '../../nats/mod.ts';
import { newRequestId } from '../../process/ids.ts';

/**
 * Every consumer has a new name with this prefix. An acknowledgement names the consumer and the message's sequence number;
 * a process that holds a message of a stream that was emptied since must not acknowledge the message with that number now.
 */
export const CONSUMER_PREFIX = 'ingest-';

const NANOSECONDS_PER_MS = 1_000_000;
/** Bounds the stream's disk; an operator may edit it. Entries that do not fit wait in the gateways' outboxes. */
const MAX_BYTES = 1024 ** 3;
/** JetStream recognises a repetition within this time by its message id; Postgres recognises later ones. */
const DUPLICATE_WINDOW_MS = 120_000;
/** Time after which the entries of a dead ingest process go to another. A living one asks for more time as it works. */
export const ACK_WAIT_MS = 6_000;
/** Unacknowledged messages of all ingest processes together, those that died with some included. */
const MAX_ACK_PENDING = 1_000;

/** JetStream's error codes: nats-server/server/errors.json. */
const STREAM_NAME_IN_USE = 10_058;
/** A work queue has one consumer. */
const HAS_CONSUMER = [10_099, 10_100];
const NO_CONSUMER = 10_014;
const NOT_ENABLED = [10_039, 10_076];
/** Limits that leave no room for a stream. */
export const NO_ROOM_FOR_STREAM: readonly number[] = [10_002, 10_027, 10_047, 10_113, 10_122];

/**
 * The settings that keep messages in the stream until they are acknowledged. Without them, a purge moves the consumer's
 * acknowledgement floor, and forwarders take what was purged for stored. NATS lets nobody unset them.
 */
const PROTECTED = { deny_purge: true, deny_delete: true } as const satisfies Partial<StreamConfig>;

/** The settings that make the stream safe. The limit of bytes, replicas and placement are the operator's to edit. */
const ESSENTIAL = {
  retention: RetentionPolicy.Workqueue,
  discard: DiscardPolicy.New,
  max_age: 0,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
} as const satisfies Partial<StreamConfig>;

/** This account has no JetStream; or not yet, when the server has just started. */
export class NoJetStreamError extends NatsRefusalError {}

/** The stream as a forwarder or an ingest process declared it. */
export type DeclaredStream = {
  manager: JetStreamManager;
  /** The consumer's name. The consumer is gone when the stream is, or when it was replaced. */
  consumer: string;
  /** False: its messages can be purged. An earlier build declared it, and this user may not change it. */
  isProtected: boolean;
};

/**
 * Declares stream and consumer; harmless when they exist.
 * @throws NatsRefusalError with a sentence when waiting cannot help: no JetStream, or a stream of this name with settings
 *   that would lose entries. Any other error may pass with time
 */
export async function declareLogStream(connection: NatsConnection): Promise<DeclaredStream> {
  try {
    const manager = await jetstreamManager(connection);
    const isProtected = await declareStream(manager);
    let consumer = await declareConsumer(manager);
    const { state } = await manager.streams.info(LOG_STREAM);
    // After a crash of its machine, a server may remember acknowledgements of messages that it has lost. New messages
    // will get their numbers and must not count as acknowledged.
    if (consumer.ack_floor.stream_seq > state.last_seq) {
      await deleteConsumer({ manager, consumer: consumer.name });
      consumer = await declareConsumer(manager);
    }
    return { manager, consumer: consumer.name, isProtected };
  } catch (error) {
    if (
      (error as Error).name === 'JetStreamNotEnabled' ||
      NOT_ENABLED.includes(jetStreamErrorCode(error) ?? 0)
    ) {
      throw new NoJetStreamError(
        'NATS runs without JetStream for this account: start nats-server with -js, or enable it for the account',
        { cause: error },
      );
    }
    throw error;
  }
}

/** Returns whether its messages are protected from a purge. */
async function declareStream(manager: JetStreamManager): Promise<boolean> {
  try {
    await manager.streams.add({
      name: LOG_STREAM,
      subjects: [LOG_SUBJECT],
      storage: StorageType.File,
      max_bytes: MAX_BYTES,
      duplicate_window: DUPLICATE_WINDOW_MS * NANOSECONDS_PER_MS,
      ...ESSENTIAL,
      ...PROTECTED,
    });
    return true;
  } catch (error) {
    const code = jetStreamErrorCode(error) ?? 0;
    if (code !== STREAM_NAME_IN_USE && !NO_ROOM_FOR_STREAM.includes(code)) throw error;
    // A server looks for room first: an operator may have made the stream with fewer bytes, for which there is some.
    const { config } = await manager.streams.info(LOG_STREAM).catch((reason: unknown) => {
      // That the stream is there says nothing about why it cannot be looked at, as while a cluster has no leader of it.
      throw code === STREAM_NAME_IN_USE ? reason : error;
    });
    requireEssentials(config);
    // Earlier builds declared the stream without these two. Setting them costs nothing; a user without the right goes on as before.
    if (config.deny_purge && config.deny_delete) return true;
    return await manager.streams.update(LOG_STREAM, PROTECTED).then(
      () => true,
      () => false,
    );
  }
}

function requireEssentials(config: StreamConfig): void {
  const wrong = Object.entries(ESSENTIAL)
    .filter(([name, wanted]) => config[name as keyof typeof ESSENTIAL] !== wanted)
    .map(([name, wanted]) => `${name} is ${config[name as keyof typeof ESSENTIAL]}, not ${wanted}`);
  if (!config.subjects?.includes(LOG_SUBJECT)) {
    wrong.push(`its subjects are ${config.subjects?.join(', ')}, without ${LOG_SUBJECT}`);
  }
  if (wrong.length === 0) return;
  throw new NatsRefusalError(
    `The NATS stream ${LOG_STREAM} has settings that would lose log entries (${wrong.join('; ')}): remove it or give Assay an account of its own`,
  );
}

async function declareConsumer(manager: JetStreamManager): Promise<ConsumerInfo> {
  for (;;) {
    const existing = await findLogConsumer(manager);
    if (existing !== null) {
      requireOurs(existing);
      return existing;
    }
    try {
      return await manager.consumers.add(LOG_STREAM, {
        durable_name: CONSUMER_PREFIX + newRequestId(),
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
        ack_wait: ACK_WAIT_MS * NANOSECONDS_PER_MS,
        max_deliver: -1,
        max_ack_pending: MAX_ACK_PENDING,
      });
    } catch (error) {
      // Another process was quicker.
      if (!HAS_CONSUMER.includes(jetStreamErrorCode(error) ?? 0)) throw error;
    }
  }
}

/**
 * The consumer of the log stream, or null.
 * @internal Exported so that tests watch the consumer.
 */
export async function findLogConsumer(manager: JetStreamManager): Promise<ConsumerInfo | null> {
  const [consumer] = await manager.consumers.list(LOG_STREAM).next();
  return consumer ?? null;
}

function requireOurs({ name, config }: ConsumerInfo): void {
  const { ack_policy, max_deliver } = config;
  if (!name.startsWith(CONSUMER_PREFIX)) {
    throw new NatsRefusalError(
      `The NATS stream ${LOG_STREAM} has a consumer ${name} that is not Assay's, and can have no other: remove it`,
    );
  }
  if (ack_policy === AckPolicy.Explicit && (max_deliver ?? -1) === -1) return;
  throw new NatsRefusalError(
    `The NATS consumer ${name} of the stream ${LOG_STREAM} has settings that would lose log entries (ack_policy is ${ack_policy}, max_deliver is ${max_deliver}): remove it`,
  );
}

/**
 * Returns whether the consumer waits for a message that the stream no longer has. A server that is killed may remember that
 * it removed an acknowledged message, and forget the acknowledgement (seen on 2.9.10): its consumer then waits for the
 * message for ever. To be called when the acknowledgements have stood still for longer than a redelivery takes.
 */
export async function awaitsLostMessage({ manager, consumer }: DeclaredStream): Promise<boolean> {
  const { ack_floor, num_ack_pending } = await manager.consumers.info(LOG_STREAM, consumer);
  const { state } = await manager.streams.info(LOG_STREAM);
  // Before its first acknowledgement a consumer stands at 0, wherever the stream begins.
  if (ack_floor.consumer_seq === 0) return num_ack_pending > state.messages;
  if (ack_floor.stream_seq >= state.last_seq) return false;
  return (await manager.streams.getMessage(LOG_STREAM, { seq: ack_floor.stream_seq + 1 })) === null;
}

/** Marks of a message by which it differs from all others, also from one that has its number after the stream was emptied. */
export type MessagePlace = {
  sequence: number;
  /** When the stream took it, in whole milliseconds since the epoch. */
  storedMs: number;
};

/** Returns whether the stream still holds a message. */
export async function holdsMessage(
  { manager }: Pick<DeclaredStream, 'manager'>,
  { sequence, storedMs }: MessagePlace,
): Promise<boolean> {
  const found = await manager.streams.getMessage(LOG_STREAM, { seq: sequence });
  // Its time has nanoseconds, which a double does not hold.
  return found !== null && Math.abs(found.time.getTime() - storedMs) <= 1;
}

/** Numbers of messages: of the last one in the stream, and of the one up to which all are acknowledged. */
export type StreamPositions = { lastSequence: number; acknowledgedSequence: number };

/** Asks for the acknowledgements first, so that what is published meanwhile does not count as acknowledged. */
export async function readPositions({ manager, consumer }: DeclaredStream): Promise<StreamPositions> {
  const { ack_floor } = await manager.consumers.info(LOG_STREAM, consumer);
  const { state } = await manager.streams.info(LOG_STREAM);
  return { lastSequence: state.last_seq, acknowledgedSequence: ack_floor.stream_seq };
}

/** Deletes the consumer. Readers and forwarders notice, declare another, and begin again with what the stream holds. */
export async function deleteConsumer({
  manager,
  consumer,
}: Pick<DeclaredStream, 'manager' | 'consumer'>): Promise<void> {
  try {
    await manager.consumers.delete(LOG_STREAM, consumer);
  } catch (error) {
    // Another process was quicker.
    if (jetStreamErrorCode(error) !== NO_CONSUMER) throw error;
  }
}

/** Returns JetStream's code of an error; undefined when the error is not JetStream's. */
export function jetStreamErrorCode(error: unknown): number | undefined {
  return error instanceof JetStreamApiError ? error.code : undefined;
}
