/** One outbox on its way to NATS: how far it is published, and how far it is known to be in Postgres. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lock } from '../../process/process-lock.ts';
import {
  isSamePosition,
  type OutboxPosition,
  onFiles,
  type ReadLimits,
  type ReadResult,
  readInterrupted,
  readOutbox,
  removeOutbox,
  takeAbandonedOutbox,
  trimOutbox,
} from '../outbox/mod.ts';
import { type OutgoingMessage, packMessages } from './pack.ts';

/** Messages that are published together. One without a sequence number is not known to be in the stream. */
type Chunk = {
  messages: (OutgoingMessage & { sequence: number | null })[];
  next: OutboxPosition;
  /** Entries in the messages. */
  entries: number;
  /** When its first message was published, on the monotonic clock. */
  begunAt: number;
};

/** Everything before `next` is stored once the acknowledgements have passed `sequence`. */
type Published = { next: OutboxPosition; sequence: number; entries: number };

/** Stored part of an outbox: the position up to which it is stored, and the number of its stored entries. */
export type StoredPart = OutboxPosition & { entries: number };

/** The file beside the segments that says where the stored part ends, so that a restart does not publish it again. */
const STORED_FILE = 'stored.json';
const BEGINNING: StoredPart = { segment: 0, offset: 0, entries: 0 };
/** Size of a chunk: bounds the memory, and takes a broker a fraction of a second. */
const READ_LIMITS: ReadLimits = { maxEntries: 2_000, maxBytes: 4 * 1024 * 1024 };
/**
 * A chunk of which NATS has not taken all by then is published anew from its first message. Ingest forgets the parts of an entry
 * that wait for others (ingest/stray-parts.ts), after forty minutes at the earliest.
 */
const ANEW_AFTER_MS = 10 * 60_000;
/** No segment has this number: it gives a position to the entries of interrupted calls, which are in no segment. */
const INTERRUPTED_SEGMENT = 0xffff_ffff;

export type FeedOptions = {
  directory: string;
  outboxId: string;
  /** Held when the outbox's owner is gone; null for the outbox of this process, which its writer has locked. */
  lock: Lock | null;
  /** Overrides the time after which a chunk is published anew. */
  anewAfterMs?: number;
};

/** Says what to publish next of an outbox, and keeps count of what became of it. Publishes nothing itself. */
export class OutboxFeed {
  readonly outboxId: string;
  readonly #directory: string;
  readonly #anewAfterMs: number;
  #lock: Lock | null;
  /** Everything before it is in Postgres. */
  #stored: OutboxPosition;
  #storedEntries = 0;
  /** The position that the file says, and that the outbox is trimmed to. */
  #noted: OutboxPosition;
  #next: OutboxPosition;
  #chunk: Chunk | null = null;
  #hasMore = false;
  #published: Published[] = [];
  /** Damage in the last segment that has been published: nothing behind it can be read. */
  #damagedAt: OutboxPosition | null = null;
  #interrupted: 'unread' | 'published' = 'unread';
  /** No entry can follow, and all entries have been published. */
  #isComplete = false;

  private constructor(options: FeedOptions, { entries, ...stored }: StoredPart) {
    this.outboxId = options.outboxId;
    this.#directory = options.directory;
    this.#lock = options.lock;
    this.#anewAfterMs = options.anewAfterMs ?? ANEW_AFTER_MS;
    this.#stored = stored;
    this.#storedEntries = entries;
    this.#noted = stored;
    this.#next = stored;
  }

  static async open(options: FeedOptions): Promise<OutboxFeed> {
    return new OutboxFeed(options, await readStored(options.directory));
  }

  /** Chunks that are published and not known to be stored. */
  get unconfirmed(): number {
    return this.#published.length;
  }

  get stored(): StoredPart {
    return { ...this.#stored, entries: this.#storedEntries };
  }

  /** True when more than the last chunk was there when it was read. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Everything is stored and nothing can follow: the outbox can be removed. */
  get isDone(): boolean {
    return this.#isComplete && this.#chunk === null && this.#published.length === 0;
  }

  /**
   * Takes the lock of this process's own outbox, whose writer has closed it. Returns false when another forwarder of this
   * machine was quicker, and may even have removed the outbox. Harmless when called twice.
   * @throws OutboxError
   */
  async adopt(): Promise<boolean> {
    this.#lock ??= await onFiles(() => takeAbandonedOutbox(this.#directory));
    return this.#lock !== null;
  }

  /** Begins again behind what is stored: what was published after it may be lost. */
  restart(): void {
    this.#next = this.#stored;
    this.#chunk = null;
    this.#published = [];
    this.#damagedAt = null;
    this.#interrupted = 'unread';
    this.#isComplete = false;
  }

  /**
   * Returns the messages to publish now: the same again until all of them have their sequence numbers.
   * @throws OutboxError; the next call tries the same again
   */
  async nextMessages(maxMessageBytes: number): Promise<Chunk['messages']> {
    this.#chunk ??= await onFiles(() => this.#read(maxMessageBytes));
    if (this.#chunk !== null && performance.now() - this.#chunk.begunAt > this.#anewAfterMs)
      this.#chunk = renewed(this.#chunk);
    return this.#chunk?.messages.filter(({ sequence }) => sequence === null) ?? [];
  }

  async #read(maxMessageBytes: number): Promise<Chunk | null> {
    if (this.#isComplete) return null;
    // Read before the entries: if the owner is gone by now, no entry follows the last one that is read.
    const isAbandoned = this.#lock !== null;
    // An outbox that cannot be read keeps the forwarder from no pause.
    this.#hasMore = false;
    const read = await readOutbox(this.#directory, this.#next, READ_LIMITS);
    this.#hasMore = read.hasMore;
    const isNewDamage = read.damage !== null && !isSamePosition(read.damage.position, this.#damagedAt);
    if (read.entries.length > 0 || isNewDamage || !isSamePosition(read.next, this.#next)) {
      this.#damagedAt = read.damage?.position ?? null;
      return this.#chunkOf(read, read.next, maxMessageBytes);
    }
    if (!isAbandoned) return null;
    if (this.#interrupted === 'published') {
      this.#isComplete = true;
      return null;
    }
    const entries = (await readInterrupted(this.#directory)).map((entry, offset) => ({
      ...entry,
      position: { segment: INTERRUPTED_SEGMENT, offset },
    }));
    this.#interrupted = 'published';
    return this.#chunkOf({ entries, damage: null }, this.#next, maxMessageBytes);
  }

  #chunkOf(read: Pick<ReadResult, 'entries' | 'damage'>, next: OutboxPosition, maxBytes: number): Chunk {
    const messages = [...packMessages(this.outboxId, read, maxBytes)];
    return {
      messages: messages.map((message) => ({ ...message, sequence: null })),
      next,
      entries: read.entries.length,
      begunAt: performance.now(),
    };
  }

  /** Goes on to the next chunk if every message of this one has its sequence number. */
  finishChunk(): void {
    const chunk = this.#chunk;
    if (chunk === null || chunk.messages.some(({ sequence }) => sequence === null)) return;
    const sequence = Math.max(0, ...chunk.messages.map((message) => message.sequence!));
    this.#published.push({ next: chunk.next, sequence, entries: chunk.entries });
    this.#next = chunk.next;
    this.#chunk = null;
  }

  /**
   * Notes that everything up to `sequence` is stored, and removes the segments before it.
   * @throws OutboxError; the next call tries again what failed
   */
  async confirm(sequence: number): Promise<void> {
    while (this.#published.length > 0 && this.#published[0]!.sequence <= sequence) {
      const { next, entries } = this.#published.shift()!;
      this.#stored = next;
      this.#storedEntries += entries;
    }
    if (isSamePosition(this.#noted, this.#stored)) return;
    await onFiles(() => this.#note());
  }

  async #note(): Promise<void> {
    await writeFile(join(this.#directory, STORED_FILE), JSON.stringify(this.stored));
    if (this.#stored.segment !== this.#noted.segment) await trimOutbox(this.#directory, this.#stored);
    this.#noted = this.#stored;
  }

  /**
   * Removes an outbox that is done.
   * @throws OutboxError
   */
  async remove(): Promise<void> {
    await onFiles(() => removeOutbox(this.#directory, this.#lock!));
  }

  /** Releases the lock and leaves the outbox as it is: another forwarder may take it. */
  release(): void {
    this.#lock?.release();
  }
}

/** Returns a chunk of which nothing is published. Its messages have new ids: JetStream would drop those that it remembers. */
function renewed(chunk: Chunk): Chunk {
  const messages = chunk.messages.map((message) => ({ ...message, id: `${message.id}'`, sequence: null }));
  return { ...chunk, messages, begunAt: performance.now() };
}

/** A file that cannot be read does no harm: entries are published again, and Postgres recognises them. */
async function readStored(directory: string): Promise<StoredPart> {
  try {
    // Earlier builds did not count entries.
    const { segment, offset, entries = 0 } = JSON.parse(await readFile(join(directory, STORED_FILE), 'utf8'));
    return [segment, offset, entries].every(Number.isSafeInteger) ? { segment, offset, entries } : BEGINNING;
  } catch {
    return BEGINNING;
  }
}
