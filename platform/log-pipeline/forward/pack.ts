/** Packs what was read of an outbox into messages. Pure. */

import type { OutboxEntry, ReadResult } from '../outbox/mod.ts';
import {
  ENTRIES_OVERHEAD_BYTES,
  encodeDamage,
  encodeEntries,
  encodeParts,
  sizeInMessage,
} from '../stream/mod.ts';

/** A message, and the id by which JetStream recognises a repetition of it. */
export type OutgoingMessage = { id: string; payload: Buffer };

/** Small entries share a message up to this size: large enough to spread a message's cost, small enough for one insert. */
const SHARED_MESSAGE_BYTES = 256 * 1024;

/** Packs entries, in order, into messages of at most `maxBytes`. Cuts an entry only if it is larger than that alone. */
export function* packMessages(
  outboxId: string,
  read: Pick<ReadResult, 'entries' | 'damage'>,
  maxBytes: number,
): Generator<OutgoingMessage> {
  const shared = Math.min(SHARED_MESSAGE_BYTES, maxBytes);
  let group: OutboxEntry[] = [];
  let size = ENTRIES_OVERHEAD_BYTES;
  for (const entry of read.entries) {
    const added = sizeInMessage(entry);
    if (group.length > 0 && size + added > shared) {
      yield entriesMessage(outboxId, group);
      group = [];
      size = ENTRIES_OVERHEAD_BYTES;
    }
    if (ENTRIES_OVERHEAD_BYTES + added > maxBytes) yield* partMessages(outboxId, entry, maxBytes);
    else {
      group.push(entry);
      size += added;
    }
  }
  if (group.length > 0) yield entriesMessage(outboxId, group);
  if (read.damage !== null) {
    const { segment, offset } = read.damage.position;
    yield {
      id: `${outboxId}/${segment}/${offset}/damage`,
      payload: encodeDamage(outboxId, read.damage, maxBytes),
    };
  }
}

function entriesMessage(outboxId: string, entries: OutboxEntry[]): OutgoingMessage {
  const { segment, offset } = entries[0]!.position;
  return {
    id: `${outboxId}/${segment}/${offset}+${entries.length}`,
    payload: encodeEntries(outboxId, entries),
  };
}

function* partMessages(outboxId: string, entry: OutboxEntry, maxBytes: number): Generator<OutgoingMessage> {
  const { segment, offset } = entry.position;
  let index = 0;
  for (const payload of encodeParts(outboxId, entry, maxBytes)) {
    yield { id: `${outboxId}/${segment}/${offset}#${index}`, payload };
    index += 1;
  }
}
