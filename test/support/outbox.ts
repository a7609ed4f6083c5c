/** Outboxes in temporary directories, and reading them as ingest does. */
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import {
  type Outbox,
  type OutboxPosition,
  openOutbox,
  readInterrupted,
  readOutbox,
} from '#platform/log-pipeline/outbox/mod.ts';
import type { OutboxOptions } from '#platform/log-pipeline/outbox/writer.ts';
import { createLogger } from '#platform/observability/log.ts';
import { newRequestId } from '#platform/process/ids.ts';

export const ALL = { maxEntries: 1_000, maxBytes: 64 * 1024 * 1024 };
export const BEGINNING: OutboxPosition = { segment: 0, offset: 0 };

/** An entry whose parts are these texts. */
export function rawEntry(head: string, requestBody = 'request', responseBody = 'response'): LogEntry {
  return {
    head: Buffer.from(head),
    requestBody: Buffer.from(requestBody),
    responseBody: Buffer.from(responseBody),
  };
}

/** A directory for outboxes that goes with its test. */
export function temporaryRoot(t: { teardown(fn: () => void): void }): string {
  const root = mkdtempSync(join(tmpdir(), 'assay-outbox-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** A new outbox below `root`. */
export async function openIn(
  root: string,
  more: Partial<OutboxOptions> = {},
): Promise<{ id: string; outbox: Outbox; directory: string }> {
  const id = newRequestId();
  const log = createLogger({ role: 'test', level: 'silent' });
  const outbox = await openOutbox({ root, id, maxBytes: 1e9, sync: 'process', log, ...more });
  return { id, outbox, directory: join(root, id) };
}

/** Makes a segment fail to be read, as a bad sector would. Returns the function that repairs it. */
export function breakSegment(directory: string, name = '0000000001.log'): () => void {
  const [segment, aside] = [join(directory, name), join(directory, `aside-${name}`)];
  renameSync(segment, aside);
  mkdirSync(segment);
  return () => {
    rmdirSync(segment);
    renameSync(aside, segment);
  };
}

/** The heads of all entries from `from` on, and where they end. */
export async function readAll(directory: string, limits = ALL, from = BEGINNING) {
  const heads: string[] = [];
  let position = from;
  for (;;) {
    const { entries, next } = await readOutbox(directory, position, limits);
    heads.push(...entries.map(({ head }) => Buffer.from(head).toString()));
    const isEnd = next.segment === position.segment && next.offset === position.offset;
    if (entries.length === 0 && isEnd) return { heads, position };
    position = next;
  }
}

/** The heads of the calls that would be told as interrupted if the writer were killed now. */
export async function interruptedHeads(directory: string): Promise<string[]> {
  return (await readInterrupted(directory)).map(({ head }) => Buffer.from(head).toString());
}
