/** Stores the entries of dead letters once the cause is mended. */
import { CHANGES_CHANNEL } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import { isPassing, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { buildRecord } from './build-record.ts';
import { findDeadLetter, storableReason } from './dead-letters.ts';
import { withoutErased } from './erased.ts';
import { estimateUsage } from './estimate-usage.ts';
import { countExperiments } from './experiments.ts';
import { RecordFilters } from './filter-records.ts';
import { countJudgeCalls } from './judge-calls.ts';
import { findOnlineEvaluators, sampleRecords } from './online-evaluators.ts';
import { ensurePartitions } from './partitions.ts';
import { scheduleEvaluations } from './schedule.ts';
import { scheduleSessions } from './schedule-sessions.ts';
import { countSessions } from './sessions.ts';
import { insertRecords } from './statements.ts';
import { createTokenCounter, type TokenCounter } from './tokens/mod.ts';

/** The result of a retry. Null: the record is stored, or its request erased, and the letter removed; else the letter stays, with this reason. */
export type Retried = { refused: string | null };

export type RetryOptions = {
  /** Gives the costs of calls; absent: by the registry alone. */
  catalog?: Pick<Catalog, 'costOf'>;
  /** Runs the transaction that stores, as the actor that the audit log names; absent: as the connection's. */
  begin?(work: (tx: TransactionSql) => Promise<boolean>): Promise<boolean>;
};

/**
 * Stores the entry of a letter as ingest does, schedules its evaluations, and removes the letter in the same transaction.
 * Null when there is no letter with this id, or a concurrent retry has removed it.
 * @throws errors of Postgres while it is unavailable; the letter is unchanged
 */
export async function retryDeadLetter(
  sql: Sql,
  id: string,
  options: RetryOptions = {},
): Promise<Retried | null> {
  return await withCounter((counter) => retryWith(counter, sql, id, options));
}

/** Long: no other entry waits for a letter, and its tokens are counted now or never. */
const COUNTED_WITHIN_MS = 30_000;

/** Runs `work` with a counter that is closed afterwards. */
async function withCounter<T>(work: (counter: TokenCounter) => Promise<T>): Promise<T> {
  // Tokens that cannot be counted are left out of the record, as with any entry.
  const counter = createTokenCounter({
    clock: systemClock,
    onFailure: () => {},
    timeoutMs: COUNTED_WITHIN_MS,
  });
  try {
    return await work(counter);
  } finally {
    await counter.close();
  }
}

async function retryWith(
  counter: TokenCounter,
  sql: Sql,
  id: string,
  { catalog = BUILT_IN_CATALOG, begin = (work) => sql.begin(work) as Promise<boolean> }: RetryOptions,
): Promise<Retried | null> {
  const letter = await findDeadLetter(sql, id);
  if (letter === null) return null;
  if (letter.entry === null) return { refused: `${letter.reason} (the letter holds no entry to store)` };
  try {
    const records = await estimateUsage([buildRecord(letter.entry, catalog)], counter, catalog);
    await ensurePartitions(
      sql,
      records.map(({ request }) => request.created_at),
    );
    const isOurs = await begin(async (tx) => {
      // Before the letter is locked: an erasure takes its lock first, and then deletes letters.
      const present = await withoutErased(tx, records, []);
      const { count } = await tx`delete from assay.dead_letters where dead_letter_id = ${id}`;
      if (count === 0) return false;
      const added = await insertRecords(tx, present.records);
      const online = await findOnlineEvaluators(tx, present.records);
      await countJudgeCalls(tx, present.records);
      await countExperiments(tx, present.records);
      const samples = online.map((one) =>
        sampleRecords(one, one.scope === 'session' ? added : present.records),
      );
      // Ingest pauses evaluators with a bad filter; a retry need not.
      const { chosen } = await new RecordFilters({ clock: systemClock }).apply(tx, samples);
      await scheduleEvaluations(tx, chosen, true);
      await countSessions(tx, added);
      await scheduleSessions(tx, chosen);
      await tx`
        select assay.audit_dead_letter('retry', ${id}, ${letter.organizationId}::uuid, ${letter.requestId}),
               pg_notify(${CHANGES_CHANNEL}, '')`;
      return true;
    });
    return isOurs ? { refused: null } : null;
  } catch (error) {
    if (isPassing(error)) throw error;
    const reason = storableReason(`Refused again: ${describeError(error)}`);
    await sql`update assay.dead_letters set reason = ${reason} where dead_letter_id = ${id}`;
    return { refused: reason };
  }
}

/** Retries all letters, oldest first. Returns the numbers of stored letters and of those refused again. */
export async function retryAllDeadLetters(
  sql: Sql,
  options: RetryOptions = {},
): Promise<{ stored: number; refused: number }> {
  return await withCounter((counter) => retryAllWith(counter, sql, options));
}

async function retryAllWith(
  counter: TokenCounter,
  sql: Sql,
  options: RetryOptions,
): Promise<{ stored: number; refused: number }> {
  const result = { stored: 0, refused: 0 };
  let last = '0';
  for (;;) {
    const [next] = await sql<{ id: string | null }[]>`
      select min(dead_letter_id) as id from assay.dead_letters where dead_letter_id > ${last}`;
    if (next?.id == null) return result;
    last = next.id;
    const retried = await retryWith(counter, sql, last, options);
    if (retried === null) continue;
    if (retried.refused === null) result.stored += 1;
    else result.refused += 1;
  }
}
