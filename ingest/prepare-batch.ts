/**
 * Prepares log entries to be stored: makes a record of each, and counts the tokens that its provider did not. What cannot be
 * read becomes a dead letter, and what is older than the retention is not stored.
 */

import { describeError } from '#core/contracts/errors.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { inTurns } from '#platform/process/turns.ts';
import { type BuiltRecord, buildRecord, type StorableRecord } from './build-record.ts';
import { estimateUsage } from './estimate-usage.ts';
import { isExpired } from './retention.ts';
import type { TokenCounter } from './tokens/mod.ts';

/** An entry with its origin, which a dead letter names. */
export type BatchEntry = LogEntry & { origin: string };

/** An entry, and the result of preparing it. */
type ItemWith<Record> = { entry: BatchEntry } & (
  | { kind: 'record'; record: Record }
  | { kind: 'dead letter'; reason: string }
  | { kind: 'expired' }
);
/** An entry that is ready to be stored. */
export type PreparedEntry = ItemWith<StorableRecord>;

/** Entries that are ready to be stored, in their order. */
export type PreparedEntries = readonly PreparedEntry[];

export type PrepareOptions = {
  /** Asked for the time where an entry looks too old. */
  sql: Sql;
  clock: Clock;
  /** Gives the costs of calls; absent: by the registry alone. */
  catalog?: Pick<Catalog, 'costOf'>;
  /** Counts the tokens that providers did not; absent: they stay unknown. */
  counter?: Pick<TokenCounter, 'count'>;
  /** Null: records are kept for ever. */
  retentionDays: number | null;
};

/** Bytes of entries that are prepared at once, which takes about a millisecond. */
const SLICE_BYTES = 64 * 1024;

/**
 * Reads what is in entries, in turns of the event loop.
 * @throws errors of Postgres, where an entry looks too old and it cannot be asked
 */
export async function prepareEntries(
  entries: readonly BatchEntry[],
  options: PrepareOptions,
): Promise<PreparedEntries> {
  const items: ItemWith<BuiltRecord>[] = [];
  await inTurns(() => {
    for (let bytes = 0; items.length < entries.length && bytes < SLICE_BYTES; ) {
      const entry = entries[items.length]!;
      items.push(prepareOne(entry, options));
      bytes += entry.head.length + entry.requestBody.length + entry.responseBody.length;
    }
    return items.length === entries.length;
  });
  return await estimate(await markExpired(items, options), options);
}

function prepareOne(entry: BatchEntry, { catalog }: PrepareOptions): ItemWith<BuiltRecord> {
  try {
    return { entry, kind: 'record', record: buildRecord(entry, catalog) };
  } catch (error) {
    return { entry, kind: 'dead letter', reason: describeError(error) };
  }
}

/**
 * Marks the records that are too old to be stored, as the weeks that are dropped: by this process's clock or by that of
 * Postgres, whichever is behind. A clock that is days ahead would throw away what was logged a moment ago.
 */
async function markExpired(
  items: readonly ItemWith<BuiltRecord>[],
  { clock, retentionDays, sql }: PrepareOptions,
): Promise<readonly ItemWith<BuiltRecord>[]> {
  const isOld = (item: ItemWith<BuiltRecord>, nowMs: number) =>
    item.kind === 'record' && isExpired(item.record.request.created_at.getTime(), nowMs, retentionDays);
  const ownMs = clock.now();
  if (!items.some((item) => isOld(item, ownMs))) return items;
  const [row] = await sql<{ now: Date }[]>`select now() as now`;
  const nowMs = Math.min(ownMs, row!.now.getTime());
  return items.map((item) => (isOld(item, nowMs) ? { entry: item.entry, kind: 'expired' } : item));
}

/**
 * Adds estimated usage to the items' records. A record for which that fails becomes a dead letter: thrown, the error would keep
 * all entries from being stored, for ever.
 */
async function estimate(
  items: readonly ItemWith<BuiltRecord>[],
  options: PrepareOptions,
): Promise<PreparedEntry[]> {
  const { counter, catalog = BUILT_IN_CATALOG } = options;
  if (counter === undefined) return [...items];
  const built = items.flatMap((item) => (item.kind === 'record' ? [item.record] : []));
  try {
    const records = (await estimateUsage(built, counter, catalog)).values();
    return items.map((item) => (item.kind === 'record' ? { ...item, record: records.next().value! } : item));
  } catch (error) {
    const [{ entry } = {}] = items;
    if (items.length === 1) return [{ entry: entry!, kind: 'dead letter', reason: describeError(error) }];
    const middle = items.length >> 1;
    const before = await estimate(items.slice(0, middle), options);
    return [...before, ...(await estimate(items.slice(middle), options))];
  }
}
