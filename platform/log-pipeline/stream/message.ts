/**
 * What one message of the log stream holds, as bytes: several entries, one part of an entry that is larger than a
 * message may be, or a stretch of an outbox that cannot be read.
 *
 *   u8    kind: 1 entries, 2 part, 3 damage
 *   26 B  id of the outbox
 *   entries, repeated:  place, u32 head, u32 request, u32 response (lengths), head, request, response
 *   part:               place, u32 index, u32 count, u32 length of all parts but the last, bytes of the entry as above,
 *                       from its lengths on
 *   damage:             place, u32 length of the reason, reason, bytes
 *   a place:            u32 segment, u32 offset
 *
 * Little-endian. An entry's place names it for good: outboxes are only appended to.
 */
import type { OutboxPosition, RawEntry } from '../outbox/mod.ts';

/** An entry and its place. */
export type PlacedEntry = RawEntry & { position: OutboxPosition };

/** One of the pieces that an entry was cut into. Pieces of different cuts do not fit together. */
export type EntryPart = {
  index: number;
  count: number;
  /** The length of every piece but the last: tells one cut from another. */
  cutBytes: number;
  bytes: Buffer;
};

export type LogMessage =
  | { kind: 'entries'; outboxId: string; entries: PlacedEntry[] }
  | ({ kind: 'part'; outboxId: string; position: OutboxPosition } & EntryPart)
  | { kind: 'damage'; outboxId: string; position: OutboxPosition; reason: string; bytes: Buffer };

const KINDS = { entries: 1, part: 2, damage: 3 } as const;
const ID_BYTES = 26;
const START_BYTES = 1 + ID_BYTES;
const PLACE_BYTES = 8;
const LENGTHS_BYTES = 12;
/** What a message of one part holds beside the entry's bytes. */
export const PART_OVERHEAD_BYTES = START_BYTES + PLACE_BYTES + 12;
/** What a message of entries holds beside them. */
export const ENTRIES_OVERHEAD_BYTES = START_BYTES;

/** A message that none of ours would have sent. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** How many bytes an entry takes in a message of entries. */
export function placedSize(entry: RawEntry): number {
  return (
    PLACE_BYTES + LENGTHS_BYTES + entry.head.length + entry.requestBody.length + entry.responseBody.length
  );
}

function start(kind: keyof typeof KINDS, outboxId: string): Buffer {
  const bytes = Buffer.alloc(START_BYTES);
  bytes[0] = KINDS[kind];
  bytes.write(outboxId, 1, 'latin1');
  return bytes;
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
}

/** The bytes of an entry: its lengths, then its three parts. */
function entryBytes({ head, requestBody, responseBody }: RawEntry): Uint8Array[] {
  return [numbers(head.length, requestBody.length, responseBody.length), head, requestBody, responseBody];
}

export function encodeEntries(outboxId: string, entries: readonly PlacedEntry[]): Buffer {
  const parts: Uint8Array[] = [start('entries', outboxId)];
  for (const entry of entries) {
    parts.push(numbers(entry.position.segment, entry.position.offset), ...entryBytes(entry));
  }
  return Buffer.concat(parts);
}

/** Cuts one entry into messages of at most `maxBytes`. */
export function* encodeParts(outboxId: string, entry: PlacedEntry, maxBytes: number): Generator<Buffer> {
  const whole = Buffer.concat(entryBytes(entry));
  const room = maxBytes - PART_OVERHEAD_BYTES;
  const count = Math.ceil(whole.length / room);
  const { segment, offset } = entry.position;
  for (let index = 0; index < count; index += 1) {
    yield Buffer.concat([
      start('part', outboxId),
      numbers(segment, offset, index, count, room),
      whole.subarray(index * room, (index + 1) * room),
    ]);
  }
}

/** Of a stretch that is longer than a message the beginning is kept. */
export function encodeDamage(
  outboxId: string,
  damage: { position: OutboxPosition; reason: string; bytes: Uint8Array },
  maxBytes: number,
): Buffer {
  const reason = Buffer.from(damage.reason);
  const { segment, offset } = damage.position;
  const front = [start('damage', outboxId), numbers(segment, offset, reason.length), reason];
  const used = front.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([...front, damage.bytes.subarray(0, Math.max(0, maxBytes - used))]);
}

class ByteReader {
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

  number(): number {
    return this.take(4).readUInt32LE(0);
  }

  place(): OutboxPosition {
    return { segment: this.number(), offset: this.number() };
  }

  entry(): RawEntry {
    const [head, request, response] = [this.number(), this.number(), this.number()];
    return {
      head: this.take(head),
      requestBody: this.take(request),
      responseBody: this.take(response),
    };
  }
}

/**
 * Reads a message. The parts of its entries are views into `bytes`.
 * @throws MalformedMessageError
 */
export function decodeMessage(bytes: Uint8Array): LogMessage {
  const reader = new ByteReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const [kind] = reader.take(1);
  const outboxId = reader.take(ID_BYTES).toString('latin1');
  if (kind === KINDS.entries) {
    const entries: PlacedEntry[] = [];
    while (reader.left > 0) {
      const position = reader.place();
      entries.push({ ...reader.entry(), position });
    }
    return { kind: 'entries', outboxId, entries };
  }
  if (kind === KINDS.part) {
    const position = reader.place();
    const [index, count, cutBytes] = [reader.number(), reader.number(), reader.number()];
    if (index >= count) throw new MalformedMessageError(`part ${index} of ${count}`);
    return { kind: 'part', outboxId, position, index, count, cutBytes, bytes: reader.take(reader.left) };
  }
  if (kind === KINDS.damage) {
    const position = reader.place();
    const reason = reader.take(reader.number()).toString('utf8');
    return { kind: 'damage', outboxId, position, reason, bytes: reader.take(reader.left) };
  }
  throw new MalformedMessageError(`a message of the unknown kind ${kind}`);
}

/**
 * Puts an entry together from all of its parts, in order.
 * @throws MalformedMessageError when they do not add up
 */
export function joinParts(parts: readonly Uint8Array[]): RawEntry {
  const reader = new ByteReader(Buffer.concat(parts));
  const entry = reader.entry();
  if (reader.left > 0) throw new MalformedMessageError(`${reader.left} bytes too many`);
  return entry;
}
