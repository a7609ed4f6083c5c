/**
 * The bytes of one message of the log stream: several entries, one part of an entry that is larger than a message may be,
 * or a stretch of an outbox that cannot be read.
 *
 *   u8    kind: 1 entries, 2 part, 3 damage
 *   26 B  id of the outbox
 *   entries, repeated:  position, log entry, counted (core/contracts/log-entry-codec.ts)
 *   part:               position, u32 index, u32 count, u32 length of every part but the last, bytes of the entry as above
 *   damage:             position, u32 length of the reason, reason, bytes
 *   a position:         u32 segment, u32 offset
 *
 * Little-endian. An outbox id and a position name an entry for good: outboxes are only appended to. A message with
 * another layout must have another kind: ingest keeps a message of an unknown kind as a dead letter. Upgraded and older
 * processes share one stream for as long as an upgrade takes, so a new kind must be read by a release before the release
 * that writes it.
 */
import { encodedSize, type LogEntry, readEntry, writeEntry } from '#core/contracts/log-entry-codec.ts';
import type { OutboxEntry, OutboxPosition } from '../outbox/mod.ts';

/** One of the parts that an entry was cut into. Parts of different cuts do not fit together. */
export type EntryPart = {
  index: number;
  count: number;
  /** The length of every part but the last: tells one cut from another. */
  cutBytes: number;
  bytes: Buffer;
};

export type LogMessage =
  | { kind: 'entries'; outboxId: string; entries: OutboxEntry[] }
  | ({ kind: 'part'; outboxId: string; position: OutboxPosition } & EntryPart)
  | { kind: 'damage'; outboxId: string; position: OutboxPosition; reason: string; bytes: Buffer };

const KINDS = { entries: 1, part: 2, damage: 3 } as const;
const ID_BYTES = 26;
const START_BYTES = 1 + ID_BYTES;
const POSITION_BYTES = 8;
/** Bytes of a part message beside those of the entry. */
const PART_OVERHEAD_BYTES = START_BYTES + POSITION_BYTES + 12;
/** Bytes of an entries message beside the entries. */
export const ENTRIES_OVERHEAD_BYTES = START_BYTES;

/** A message that no build of Assay sends. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** Returns how many bytes an entry takes in a message of entries. */
export function sizeInMessage(entry: LogEntry): number {
  return POSITION_BYTES + encodedSize(entry, 'counted');
}

function messageStart(kind: keyof typeof KINDS, outboxId: string): Buffer {
  const bytes = Buffer.alloc(START_BYTES);
  bytes[0] = KINDS[kind];
  bytes.write(outboxId, 1, 'latin1');
  return bytes;
}

function uint32s(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
}

/** Encodes several entries of one outbox as one message. */
export function encodeEntries(outboxId: string, entries: readonly OutboxEntry[]): Buffer {
  const bytes = Buffer.allocUnsafe(
    entries.reduce((sum, entry) => sum + sizeInMessage(entry), ENTRIES_OVERHEAD_BYTES),
  );
  messageStart('entries', outboxId).copy(bytes);
  let at = ENTRIES_OVERHEAD_BYTES;
  for (const entry of entries) {
    at = bytes.writeUInt32LE(entry.position.segment, at);
    at = bytes.writeUInt32LE(entry.position.offset, at);
    at = writeEntry(bytes, at, entry, 'counted');
  }
  return bytes;
}

/** Cuts one entry into messages of at most `maxBytes`. */
export function* encodeParts(outboxId: string, entry: OutboxEntry, maxBytes: number): Generator<Buffer> {
  const whole = Buffer.allocUnsafe(encodedSize(entry, 'counted'));
  writeEntry(whole, 0, entry, 'counted');
  const room = maxBytes - PART_OVERHEAD_BYTES;
  const count = Math.ceil(whole.length / room);
  const { segment, offset } = entry.position;
  for (let index = 0; index < count; index += 1) {
    yield Buffer.concat([
      messageStart('part', outboxId),
      uint32s(segment, offset, index, count, room),
      whole.subarray(index * room, (index + 1) * room),
    ]);
  }
}

/** Encodes a damaged stretch of an outbox. Of a stretch that is longer than a message, only the beginning is kept. */
export function encodeDamage(
  outboxId: string,
  damage: { position: OutboxPosition; reason: string; bytes: Uint8Array },
  maxBytes: number,
): Buffer {
  const reason = Buffer.from(damage.reason);
  const { segment, offset } = damage.position;
  const front = [messageStart('damage', outboxId), uint32s(segment, offset, reason.length), reason];
  const used = front.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([...front, damage.bytes.subarray(0, Math.max(0, maxBytes - used))]);
}

class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(length: number): Buffer {
    if (length > this.left) throw new MalformedMessageError('the message ends in the middle');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  uint32(): number {
    return this.take(4).readUInt32LE(0);
  }

  position(): OutboxPosition {
    return { segment: this.uint32(), offset: this.uint32() };
  }

  entry(): LogEntry {
    const read = readEntry(this.#bytes, this.#at, 'counted');
    if (read === null) throw new MalformedMessageError('the message ends in the middle');
    this.#at = read.end;
    return read.entry;
  }
}

/**
 * Reads a message. The parts of its entries are views into `bytes`.
 * @throws MalformedMessageError
 */
export function decodeMessage(bytes: Uint8Array): LogMessage {
  const reader = new MessageReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const [kind] = reader.take(1);
  const outboxId = reader.take(ID_BYTES).toString('latin1');
  if (kind === KINDS.entries) {
    const entries: OutboxEntry[] = [];
    while (reader.left > 0) {
      const position = reader.position();
      entries.push({ ...reader.entry(), position });
    }
    return { kind: 'entries', outboxId, entries };
  }
  if (kind === KINDS.part) {
    const position = reader.position();
    const [index, count, cutBytes] = [reader.uint32(), reader.uint32(), reader.uint32()];
    if (index >= count) throw new MalformedMessageError(`part ${index} of ${count}`);
    return { kind: 'part', outboxId, position, index, count, cutBytes, bytes: reader.take(reader.left) };
  }
  if (kind === KINDS.damage) {
    const position = reader.position();
    const reason = reader.take(reader.uint32()).toString('utf8');
    return { kind: 'damage', outboxId, position, reason, bytes: reader.take(reader.left) };
  }
  throw new MalformedMessageError(`a message of the unknown kind ${kind}`);
}

/**
 * Puts an entry together from all of its parts, in order.
 * @throws MalformedMessageError when they do not add up
 */
export function joinParts(parts: readonly Uint8Array[]): LogEntry {
  const reader = new MessageReader(Buffer.concat(parts));
  const entry = reader.entry();
  if (reader.left > 0) throw new MalformedMessageError(`${reader.left} bytes too many`);
  return entry;
}
