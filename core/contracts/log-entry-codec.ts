/**
 * The bytes of a log entry, on disk (the outbox's frames) and in NATS (the messages of the log stream):
 *
 *   u32  length of the head
 *   u32  length of the request body
 *   u32  length of the response body, in the form `counted` only
 *   head (JSON, see LogEntryHead), request body, response body
 *
 * Little-endian. In the form `bounded` the container has the end of the entry (a frame has a length of its own), so the
 * third length is left out. The container also distinguishes versions: another layout needs new numbers for its kinds of
 * frames and messages. There has been one layout so far; a test compares its bytes.
 */

/**
 * One call as the gateway writes it, before its head is parsed: the head as JSON, the request body as the client sent it,
 * the response body as the provider sent it (an event stream as its raw text), possibly compressed.
 */
export type LogEntry = { head: Uint8Array; requestBody: Uint8Array; responseBody: Uint8Array };

/** `bounded`: the container has the end of the entry. `counted`: the entry has the length of its response body. */
export type EntryForm = 'bounded' | 'counted';

const NOTHING = new Uint8Array(0);
/** An entry whose parts are all empty. */
export const EMPTY_ENTRY: LogEntry = { head: NOTHING, requestBody: NOTHING, responseBody: NOTHING };

/** Returns the size in bytes of the lengths that an entry begins with. */
export function lengthsSize(form: EntryForm): number {
  return form === 'bounded' ? 8 : 12;
}

/** Returns the size of an entry in bytes. */
export function encodedSize({ head, requestBody, responseBody }: LogEntry, form: EntryForm): number {
  return lengthsSize(form) + head.length + requestBody.length + responseBody.length;
}

/** Writes the lengths of an entry's parts at `offset`. The caller writes the parts after them, in any buffers. */
export function writeLengths(target: Buffer, offset: number, entry: LogEntry, form: EntryForm): void {
  target.writeUInt32LE(entry.head.length, offset);
  target.writeUInt32LE(entry.requestBody.length, offset + 4);
  if (form === 'counted') target.writeUInt32LE(entry.responseBody.length, offset + 8);
}

/** Writes a whole entry at `offset`. Returns the offset after it. */
export function writeEntry(target: Buffer, offset: number, entry: LogEntry, form: EntryForm): number {
  const { head, requestBody, responseBody } = entry;
  writeLengths(target, offset, entry, form);
  let at = offset + lengthsSize(form);
  target.set(head, at);
  at += head.length;
  target.set(requestBody, at);
  at += requestBody.length;
  target.set(responseBody, at);
  return at + responseBody.length;
}

/**
 * Reads the entry that begins at `offset`. Its parts are views into `source`, which ends where a bounded entry does.
 * Returns the offset after it too, or null when the entry does not fit into `source`.
 */
export function readEntry(
  source: Buffer,
  offset: number,
  form: EntryForm,
): { entry: LogEntry; end: number } | null {
  const headStart = offset + lengthsSize(form);
  if (headStart > source.length) return null;
  const headEnd = headStart + source.readUInt32LE(offset);
  const requestEnd = headEnd + source.readUInt32LE(offset + 4);
  const end = form === 'bounded' ? source.length : requestEnd + source.readUInt32LE(offset + 8);
  if (requestEnd > end || end > source.length) return null;
  const entry = {
    head: source.subarray(headStart, headEnd),
    requestBody: source.subarray(headEnd, requestEnd),
    responseBody: source.subarray(requestEnd, end),
  };
  return { entry, end };
}
