/**
 * Stores a batch of log entries in one transaction, whatever their source. A batch that Postgres refuses is halved until
 * the refused entry is alone: that one becomes a dead letter, the others are stored.
 */

import { describeError } from '#core/contracts/errors.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { inTurns } from '#platform/process/turns.ts';
import { type BuiltRecord, buildRecord, type StorableRecord } from './build-record.ts';
import { deadLetterOf, insertDeadLetter } from './dead-letters.ts';
import { withoutErased } from './erased.ts';
import { estimateUsage } from './estimate-usage.ts';
import { countExperiments } from './experiments.ts';
import { type Filtered, RecordFilters } from './filter-records.ts';
import { countJudgeCalls } from './judge-calls.ts';
import { findOnlineEvaluators, type OnlineEvaluator, sampleRecords } from './online-evaluators.ts';
import { followUp } from './pause-evaluator.ts';
import { isExpired } from './retention.ts';
import { scheduleEvaluations } from './schedule.ts';
import { scheduleSessions } from './schedule-sessions.ts';
import { countSessions } from './sessions.ts';
import {
  ensurePartitions,
  hasLargeBodies,
  type InsertRecords,
  insertNewRecords,
  insertRecords,
  type LargeBodies,
} from './statements.ts';
import type { TokenCounter } from './tokens/mod.ts';

/** An entry with its origin, which a dead letter names. */
export type BatchEntry = LogEntry & { origin: string };

/** An entry, and the result of preparing it. */
type ItemWith<Record> = { entry: BatchEntry } & (
  | { kind: 'record'; record: Record }
  | { kind: 'dead letter'; reason: string }
  | { kind: 'expired' }
);
type Item = ItemWith<StorableRecord>;

/** Entries that are ready to be stored, in their order. */
export type PreparedEntries = readonly Item[];

/** Work beside the storing of entries. */
export type Besides = {
  /**
   * Runs in the transaction that stores the entries `[first, end)`, for changes that must be committed with them. An error of
   * it rolls the transaction back and is thrown by `store`.
   */
  alongside?(tx: TransactionSql, first: number, end: number): Promise<void>;
  /** Called once the records are on their way to Postgres, and this process has little to do; again when they are sent again. */
  meanwhile?(): void;
};

/** Entries that are stored together. */
export type Batch = Besides & { entries: readonly BatchEntry[] };

/** Numbers of entries. */
export type BatchResult = {
  stored: number;
  deadLetters: number;
  /** Entries older than the retention: not stored, as their week is dropped or about to be. */
  expired: number;
  /** Entries of requests that were erased before they came. */
  erased: number;
};

/** The provider and the model of a call without a known price. */
export type UnpricedCall = { provider: string; model: string };

export type BatchStoreOptions = {
  sql: Sql;
  log: Logger;
  clock: Clock;
  /** Gives the costs of calls; absent: by the registry alone. */
  catalog?: Pick<Catalog, 'costOf'>;
  /** Counts the tokens that providers did not; absent: they stay unknown. */
  counter?: Pick<TokenCounter, 'count'>;
  /** Receives the number of records stored with tokens that ingest counted. */
  onEstimated?(count: number): void;
  /** Receives the stored calls that have tokens and no known price. */
  onUnpriced?(calls: UnpricedCall[]): void;
  /** Receives the number of filters of online evaluators that were not applied to a batch, for want of time. */
  onLateFilters?(count: number): void;
  /** Overrides how long the filters of an organization may take for a batch, in milliseconds. */
  filterBudgetMs?: number;
  /** Null: records are kept for ever. */
  retentionDays: number | null;
  /** Present: large bodies are stored as they came, to be compressed later, and this is called then. Absent: compressed at once. */
  onFreshBodies?(): void;
};

/** Thrown by `alongside` when another process has stored the entries: the batch is void, not refused. */
export class BatchOvertakenError extends Error {}

/**
 * Least time between the beginnings of two batches, unless the first leaves entries behind. A commit costs the same for one entry
 * as for fifty: shorter, and a steady load is stored at many times the cost; longer, and a record is findable later than it need
 * be. What comes after a pause is stored at once. docs/decisions/0006-ingest-batches.md has the figures.
 */
export const BATCH_EVERY_MS = 50;

/** Bytes of entries that are prepared at once, which takes about a millisecond. */
const SLICE_BYTES = 64 * 1024;

const UNIQUE_VIOLATION = '23505';
/** Also the code of a row for which there is no partition. */
const CHECK_VIOLATION = '23514';

/** Stores batches; remembers the existing partitions. */
export class BatchStore {
  readonly #options: BatchStoreOptions;
  readonly #largeBodies: LargeBodies;
  readonly #filters: RecordFilters;
  readonly #weeks = new Set<number>();
  /** True when the last batch had records that existed already, as after a redelivery: more of them may follow. */
  #meetsKnown = false;

  constructor(options: BatchStoreOptions) {
    this.#options = options;
    this.#largeBodies = options.onFreshBodies === undefined ? 'compressed' : 'fresh';
    this.#filters = new RecordFilters({ clock: options.clock, budgetMs: options.filterBudgetMs });
  }

  /** Reads what is in entries, in turns: meanwhile Postgres can be storing others. */
  async prepare(entries: readonly BatchEntry[]): Promise<PreparedEntries> {
    const items: ItemWith<BuiltRecord>[] = [];
    await inTurns(() => {
      for (let bytes = 0; items.length < entries.length && bytes < SLICE_BYTES; ) {
        const entry = entries[items.length]!;
        items.push(this.#prepareOne(entry));
        bytes += entry.head.length + entry.requestBody.length + entry.responseBody.length;
      }
      return items.length === entries.length;
    });
    return await this.#estimate(await this.#markExpired(items));
  }

  /**
   * Stores prepared entries.
   * @throws errors of `alongside`, and of Postgres while it is unavailable; calling this again stores the remaining entries
   */
  async storePrepared(entries: PreparedEntries, besides: Besides = {}): Promise<BatchResult> {
    return await this.#storeItems(entries, 0, besides);
  }

  /** Prepares entries, and stores them. */
  async store({ entries, ...besides }: Batch): Promise<BatchResult> {
    return await this.storePrepared(await this.prepare(entries), besides);
  }

  /** Stores items; `first` is the place of the first one among all entries. */
  async #storeItems(items: PreparedEntries, first: number, besides: Besides): Promise<BatchResult> {
    try {
      return await this.#storeWithPartitions(items, first, besides);
    } catch (error) {
      if (error instanceof BatchOvertakenError || isPassing(error) || items.length === 0) throw error;
      if (items.length === 1) {
        const reason = `Postgres refused the record: ${describeError(error)}`;
        this.#options.log.error(
          { origin: items[0]!.entry.origin, reason, code: (error as { code?: string }).code },
          'an entry becomes a dead letter',
        );
        return await this.#storeTogether(
          [{ entry: items[0]!.entry, kind: 'dead letter', reason }],
          first,
          besides,
        );
      }
      const middle = items.length >> 1;
      const before = await this.#storeItems(items.slice(0, middle), first, besides);
      const after = await this.#storeItems(items.slice(middle), first + middle, besides);
      return {
        stored: before.stored + after.stored,
        deadLetters: before.deadLetters + after.deadLetters,
        expired: before.expired + after.expired,
        erased: before.erased + after.erased,
      };
    }
  }

  /** Stores items together; a second time when a partition is gone that was there, as after a restore of the database. */
  async #storeWithPartitions(items: PreparedEntries, first: number, besides: Besides): Promise<BatchResult> {
    try {
      return await this.#storeTogether(items, first, besides);
    } catch (error) {
      if ((error as { code?: unknown }).code !== CHECK_VIOLATION) throw error;
      this.#weeks.clear();
      return await this.#storeTogether(items, first, besides);
    }
  }

  async #storeTogether(
    items: PreparedEntries,
    first: number,
    { alongside, meanwhile }: Besides,
  ): Promise<BatchResult> {
    const records = items.flatMap((item) => (item.kind === 'record' ? [item.record] : []));
    const letters = items.flatMap((item) =>
      item.kind === 'dead letter' ? [deadLetterOf(item.entry, item.reason)] : [],
    );
    await this.#ensurePartitions(records);
    const kept = await this.#insert((insert) =>
      this.#options.sql.begin(async (tx) => {
        // Sent together; the lock of `findErased` is taken first.
        const [present] = await Promise.all([
          withoutErased(tx, records, letters),
          alongside?.(tx, first, first + items.length),
        ]);
        for (const letter of present.letters) await insertDeadLetter(tx, letter);
        return { ...present, ...(await this.#storeRecords(tx, present.records, insert, meanwhile)) };
      }),
    );
    this.#report(kept.records);
    if (kept.filtered !== null) await followUp(kept.filtered, this.#options);
    const stored = kept.records.length;
    const deadLetters = kept.letters.length;
    const expired = items.length - records.length - letters.length;
    return { stored, deadLetters, expired, erased: items.length - stored - deadLetters - expired };
  }

  /** Stores records with all that depends on them. */
  async #storeRecords(
    tx: TransactionSql,
    records: readonly StorableRecord[],
    insert: InsertRecords,
    meanwhile?: () => void,
  ): Promise<{ isAnyKnown: boolean; filtered: Filtered | null }> {
    const inserting = Promise.all([
      insert(tx, records, this.#largeBodies),
      findOnlineEvaluators(tx, records),
    ]);
    meanwhile?.();
    const [added, online] = await inserting;
    await countJudgeCalls(tx, records);
    await countExperiments(tx, records);
    const isAnyKnown = added.length < records.length;
    const filtered = online.length === 0 ? null : await this.#filter(tx, online, records, added);
    if (filtered !== null) await scheduleEvaluations(tx, filtered.chosen, isAnyKnown);
    // Last, so that others wait for these sessions as briefly as possible.
    await countSessions(tx, added);
    if (filtered !== null) await scheduleSessions(tx, filtered.chosen);
    return { isAnyKnown, filtered };
  }

  /** Chooses the records of each evaluator; of sessions only new records, as a session counts each of them once. */
  #filter(
    tx: TransactionSql,
    online: readonly OnlineEvaluator[],
    records: readonly StorableRecord[],
    added: readonly StorableRecord[],
  ): Promise<Filtered> {
    return this.#filters.apply(
      tx,
      online.map((one) => sampleRecords(one, one.scope === 'session' ? added : records)),
    );
  }

  #report(records: readonly StorableRecord[]): void {
    if (records.some(hasLargeBodies)) this.#options.onFreshBodies?.();
    const estimated = records.filter(({ request }) => request.usage_estimated).length;
    if (estimated > 0) this.#options.onEstimated?.(estimated);
    const unpriced = records.flatMap(unpricedCall);
    if (unpriced.length > 0) this.#options.onUnpriced?.(unpriced);
  }

  /** Runs the transaction `write`; a second time when records that were expected to be new exist already. */
  async #insert<Stored extends { isAnyKnown: boolean }>(
    write: (insert: InsertRecords) => Promise<Stored>,
  ): Promise<Stored> {
    if (!this.#meetsKnown) {
      try {
        return await write(insertNewRecords);
      } catch (error) {
        if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      }
    }
    const stored = await write(insertRecords);
    this.#meetsKnown = stored.isAnyKnown;
    return stored;
  }

  #prepareOne(entry: BatchEntry): ItemWith<BuiltRecord> {
    try {
      return { entry, kind: 'record', record: buildRecord(entry, this.#options.catalog) };
    } catch (error) {
      return { entry, kind: 'dead letter', reason: describeError(error) };
    }
  }

  /**
   * Marks the records that are too old to be stored, as the weeks that are dropped: by this process's clock or by that of
   * Postgres, whichever is behind. A clock that is days ahead would throw away what was logged a moment ago.
   */
  async #markExpired(items: readonly ItemWith<BuiltRecord>[]): Promise<readonly ItemWith<BuiltRecord>[]> {
    const { clock, retentionDays, sql } = this.#options;
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
  async #estimate(items: readonly ItemWith<BuiltRecord>[]): Promise<Item[]> {
    const { counter, catalog = BUILT_IN_CATALOG } = this.#options;
    if (counter === undefined) return [...items];
    const built = items.flatMap((item) => (item.kind === 'record' ? [item.record] : []));
    try {
      const records = (await estimateUsage(built, counter, catalog)).values();
      return items.map((item) =>
        item.kind === 'record' ? { ...item, record: records.next().value! } : item,
      );
    } catch (error) {
      const [{ entry } = {}] = items;
      if (items.length === 1) return [{ entry: entry!, kind: 'dead letter', reason: describeError(error) }];
      const middle = items.length >> 1;
      const before = await this.#estimate(items.slice(0, middle));
      return [...before, ...(await this.#estimate(items.slice(middle)))];
    }
  }

  async #ensurePartitions(records: StorableRecord[]): Promise<void> {
    const missing = new Map<number, Date>();
    for (const { request } of records) {
      const week = weekOf(request.created_at);
      if (!this.#weeks.has(week)) missing.set(week, request.created_at);
    }
    if (missing.size === 0) return;
    await ensurePartitions(this.#options.sql, [...missing.values()]);
    for (const week of missing.keys()) this.#weeks.add(week);
  }
}

function unpricedCall({ request }: StorableRecord): UnpricedCall[] {
  const isUnpriced = request.cost_nano === null && request.total_tokens !== null;
  return isUnpriced ? [{ provider: request.provider, model: request.model }] : [];
}

const WEEK_MS = 7 * 24 * 3_600_000;
/** 1 January 1970 was a Thursday; partitions begin on Mondays. */
const MONDAY_OFFSET_MS = 3 * 24 * 3_600_000;

function weekOf(moment: Date): number {
  return Math.floor((moment.getTime() + MONDAY_OFFSET_MS) / WEEK_MS);
}

/** Returns whether a failure is temporary: Postgres unavailable or out of a resource, a deadlock, a cancelled statement. */
export function isPassing(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return isStoreUnavailable(error) || (typeof code === 'string' && /^(40|53|55P03|57014)/.test(code));
}
