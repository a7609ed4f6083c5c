/**
 * Stores a batch of log entries in one transaction, whatever their source. A batch that Postgres refuses is halved until
 * the refused entry is alone: that one becomes a dead letter, the others are stored.
 */

import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isPassing, type TransactionSql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';
import { deadLetterOf, insertDeadLetter } from './dead-letters.ts';
import { withoutErased } from './erased.ts';
import { countExperiments } from './experiments.ts';
import { type Filtered, RecordFilters } from './filter-records.ts';
import { countJudgeCalls } from './judge-calls.ts';
import { findOnlineEvaluators, type OnlineEvaluator, sampleRecords } from './online-evaluators.ts';
import { Partitions } from './partitions.ts';
import { followUp } from './pause-evaluator.ts';
import {
  type BatchEntry,
  type PreparedEntries,
  type PrepareOptions,
  prepareEntries,
} from './prepare-batch.ts';
import { scheduleEvaluations } from './schedule.ts';
import { scheduleSessions } from './schedule-sessions.ts';
import { countSessions } from './sessions.ts';
import {
  hasLargeBodies,
  type InsertRecords,
  insertNewRecords,
  insertRecords,
  type LargeBodies,
} from './statements.ts';

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

export type BatchStoreOptions = PrepareOptions & {
  log: Logger;
  /** Receives the number of records stored with tokens that ingest counted. */
  onEstimated?(count: number): void;
  /** Receives the stored calls that have tokens and no known price. */
  onUnpriced?(calls: UnpricedCall[]): void;
  /** Receives the number of filters of online evaluators that were not applied to a batch, for want of time. */
  onLateFilters?(count: number): void;
  /** Overrides how long the filters of an organization may take for a batch, in milliseconds. */
  filterBudgetMs?: number;
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

const UNIQUE_VIOLATION = '23505';
/** Also the code of a row for which there is no partition. */
const CHECK_VIOLATION = '23514';

/** Stores batches. */
export class BatchStore {
  readonly #options: BatchStoreOptions;
  readonly #largeBodies: LargeBodies;
  readonly #filters: RecordFilters;
  readonly #partitions: Partitions;
  /** The last batch had records that existed already, as after a redelivery: more of them may follow. */
  #expectsKnown = false;

  constructor(options: BatchStoreOptions) {
    this.#options = options;
    this.#largeBodies = options.onFreshBodies === undefined ? 'compressed' : 'fresh';
    this.#partitions = new Partitions(options.sql);
    this.#filters = new RecordFilters({ clock: options.clock, budgetMs: options.filterBudgetMs });
  }

  /** Reads what is in entries; meanwhile others can be stored. @throws as `prepareEntries` does */
  prepare(entries: readonly BatchEntry[]): Promise<PreparedEntries> {
    return prepareEntries(entries, this.#options);
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
      this.#partitions.forget();
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
    await this.#partitions.ensure(records);
    const kept = await this.#insert((insert) =>
      this.#options.sql.begin(async (tx) => {
        // Sent together; the lock that `withoutErased` takes is taken first.
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
    if (!this.#expectsKnown) {
      try {
        return await write(insertNewRecords);
      } catch (error) {
        if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
      }
    }
    const stored = await write(insertRecords);
    this.#expectsKnown = stored.isAnyKnown;
    return stored;
  }
}

function unpricedCall({ request }: StorableRecord): UnpricedCall[] {
  const isUnpriced = request.cost_nano === null && request.total_tokens !== null;
  return isUnpriced ? [{ provider: request.provider, model: request.model }] : [];
}
