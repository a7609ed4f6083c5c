/** What is left of an outbox whose process was killed: the calls that were under way. */
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { listSegments } from './layout.ts';
import { READ_CHUNK_BYTES, scanSegment } from './scan.ts';

/**
 * The STARTs, in order, of the calls that did not end. Each is an entry ready to be stored: the gateway wrote it for
 * this case. Reads all segments that are left, and holds no more than the STARTs of calls that were open together.
 * @param directory of an outbox that was taken: nobody writes to it
 */
export async function readInterrupted(directory: string): Promise<LogEntry[]> {
  const starts = new Map<number, LogEntry>();
  for (const segment of await listSegments(directory)) {
    // Behind damage nothing of a segment can be read. Whose end was there is told as interrupted: that much is known.
    await scanSegment(directory, { segment, offset: 0 }, READ_CHUNK_BYTES, ({ kind, call, entry }) => {
      if (kind === 'begun') starts.set(call, copyOf(entry));
      else starts.delete(call);
      return 'next';
    });
  }
  return [...starts.values()];
}

/** Views would hold on to the chunks that they were read with. */
function copyOf(entry: LogEntry): LogEntry {
  return {
    head: Buffer.from(entry.head),
    requestBody: Buffer.from(entry.requestBody),
    responseBody: Buffer.from(entry.responseBody),
  };
}
