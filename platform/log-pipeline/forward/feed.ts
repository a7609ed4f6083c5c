/** One outbox on its way to NATS: what has been published of it, and what is known to be in Postgres. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lock } from '../../process/process-lock.ts';
import {
  type OutboxPosition,
  type ReadLimits,
  readInterrupted,
  readOutbox,
  removeOutbox,
  takeAbandonedOutbox,
  trimOutbox,
} from '../outbox/mod.ts';
import { type OutgoingMessage, packMessages } from './pack.ts';

/** Messages that go out together. Whatever has no number yet is not known to be in the stream. */
type Chunk = { messages: (OutgoingMessage & { sequence: number | null })[]; next: OutboxPosition };

/** What was published up to `next` is stored once the acknowledgements have passed `sequence`. */
type Published = { next: OutboxPosition; sequence: number };

/** Beside the segments: where the stored part ends, so that a restart does not publish all of it again. */
const STORED_FILE = 'stored.json';
const BEGINNING: OutboxPosition = { segment: 0, offset: 0 };
/** Read and published at a time: bounds the memory, and still is a fraction of a second for a broker. */
const READ_LIMITS: ReadLimits = { maxEntries: 2_000, maxBytes: 4 * 1024 * 1024 };
/** No segment has this number: it places the entries that are not in any, made of calls that were cut off. */
const INTERRUPTED_SEGMENT = 0xffff_ffff;

export type FeedOptions = {
  directory: string;
  outboxId: string;
  /** Held when the outbox's owner is gone; null while it is our own, which its writer has locked. */
  lock: Lock | null;
};

/** Publishes nothing itself: it says what is next, and is told what became of it. */
export class OutboxFeed {
  readonly outboxId: string;
  readonly #directory: string;
  #lock: Lock | null;
  /** Everything before is in Postgres. */
  #stored: OutboxPosition;
  #next: OutboxPosition;
  #chunk: Chunk | null = null;
  #published: Published[] = [];
  #interrupted: 'unread' | 'published' = 'unread';
  /** Nothing more can come, and all that came has been published. */
  #isComplete = false;

  private constructor(options: FeedOptions, stored: OutboxPosition) {
    this.outboxId = options.outboxId;
    this.#directory = options.directory;
    this.#lock = options.lock;
    this.#stored = stored;
    this.#next = stored;
  }

  static async open(options: FeedOptions): Promise<OutboxFeed> {
    return new OutboxFeed(options, await readStored(options.directory));
  }

  /** Messages that are published and not known to be stored. */
  get unconfirmed(): number {
    return this.#published.length;
  }

  /** Everything is stored, nothing can follow: the outbox can be removed. */
  get isDone(): boolean {
    return this.#isComplete && this.#chunk === null && this.#published.length === 0;
  }

  /**
   * Takes over an outbox of our own whose writer has closed it. False when another forwarder of this machine was quicker:
   * it is that one's now, and may even be gone already. Harmless when done twice.
   */
  adopt(): boolean {
    this.#lock ??= takeOutbox(this.#directory);
    return this.#lock !== null;
  }

  /** Begins again behind what is stored: what was published since may be lost. */
  restart(): void {
    this.#next = this.#stored;
    this.#chunk = null;
    this.#published = [];
    this.#interrupted = 'unread';
    this.#isComplete = false;
  }

  /** The messages to publish now: the same ones again until all of them are `published`. Empty when there is nothing. */
  async outgoing(maxMessageBytes: number): Promise<Chunk['messages']> {
    this.#chunk ??= await this.#read(maxMessageBytes);
    return this.#chunk?.messages.filter(({ sequence }) => sequence === null) ?? [];
  }

  async #read(maxMessageBytes: number): Promise<Chunk | null> {
    if (this.#isComplete) return null;
    // Asked before reading: an owner who is gone now was gone when the last entry was read.
    const isAbandoned = this.#lock !== null;
    const read = await readOutbox(this.#directory, this.#next, READ_LIMITS);
    if (read.entries.length > 0 || read.damage !== null || !isSame(read.next, this.#next)) {
      return this.#chunkOf(packMessages(this.outboxId, read, maxMessageBytes), read.next);
    }
    if (!isAbandoned) return null;
    if (this.#interrupted === 'published') {
      this.#isComplete = true;
      return null;
    }
    this.#interrupted = 'published';
    const entries = (await readInterrupted(this.#directory)).map((entry, offset) => ({
      ...entry,
      position: { segment: INTERRUPTED_SEGMENT, offset },
    }));
    return this.#chunkOf(packMessages(this.outboxId, { entries, damage: null }, maxMessageBytes), this.#next);
  }

  #chunkOf(messages: Iterable<OutgoingMessage>, next: OutboxPosition): Chunk {
    return { messages: [...messages].map((message) => ({ ...message, sequence: null })), next };
  }

  /** To be called when messages of `outgoing` got their numbers. True when that was the last of them. */
  published(): boolean {
    const chunk = this.#chunk;
    if (chunk === null || chunk.messages.some(({ sequence }) => sequence === null)) return false;
    const sequence = Math.max(0, ...chunk.messages.map((message) => message.sequence!));
    this.#published.push({ next: chunk.next, sequence });
    this.#next = chunk.next;
    this.#chunk = null;
    return true;
  }

  /** Everything up to `sequence` is stored: what lies before it is let go. */
  async confirm(sequence: number): Promise<void> {
    const before = this.#stored;
    while (this.#published.length > 0 && this.#published[0]!.sequence <= sequence) {
      this.#stored = this.#published.shift()!.next;
    }
    if (isSame(before, this.#stored)) return;
    await writeFile(join(this.#directory, STORED_FILE), JSON.stringify(this.#stored));
    if (this.#stored.segment !== before.segment) await trimOutbox(this.#directory, this.#stored);
  }

  /** Removes an outbox that is done. */
  async remove(): Promise<void> {
    await removeOutbox(this.#directory, this.#lock!);
  }

  /** Lets go of it as it is: another forwarder may take it. */
  release(): void {
    this.#lock?.release();
  }
}

/** Takes an outbox whose owner is gone. Null when somebody has it, or when it has just been removed. */
export function takeOutbox(directory: string): Lock | null {
  try {
    return takeAbandonedOutbox(directory);
  } catch (error) {
    if (existsSync(directory)) throw error;
    return null;
  }
}

function isSame(a: OutboxPosition, b: OutboxPosition): boolean {
  return a.segment === b.segment && a.offset === b.offset;
}

/** A note that cannot be read is no harm: what it would have spared is published again, and Postgres knows it. */
async function readStored(directory: string): Promise<OutboxPosition> {
  try {
    const { segment, offset } = JSON.parse(await readFile(join(directory, STORED_FILE), 'utf8'));
    return Number.isSafeInteger(segment) && Number.isSafeInteger(offset) ? { segment, offset } : BEGINNING;
  } catch {
    return BEGINNING;
  }
}
