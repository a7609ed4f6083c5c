/** Storing what became a dead letter, once its cause is gone. */

import { describeError } from '#core/contracts/errors.ts';
import { BUILT_IN_CATALOG, type Catalog } from '#core/models/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { buildRecord } from './build-record.ts';
import { findDeadLetter, storableReason } from './dead-letters.ts';
import { estimateUsage } from './estimate-usage.ts';
import { findOnlineEvaluators, scheduleEvaluations } from './schedule.ts';
import { ensurePartitions, insertRecords } from './statements.ts';
import { isPassing } from './store-batch.ts';
import { createTokenCounter, type TokenCounter } from './tokens/mod.ts';

/** What became of a letter: gone, because its record is stored; or refused again, and kept with this reason. */
export type Retried = { refused: string | null };

/**
 * Stores the entry of a letter as ingest does, schedules its evaluations, and removes the letter in the same transaction. Null when there is no
 * letter with this id, or no longer: of two that retry the same one, one does.
 * @throws what Postgres threw when it is away: the letter is as it was
 */
export async function retryDeadLetter(
  sql: Sql,
  id: string,
  catalog: Pick<Catalog, 'costOf'> = BUILT_IN_CATALOG,
): Promise<Retried | null> {
  return await withCounter((counter) => retryWith(counter, sql, id, catalog));
}

/** Nobody waits behind a letter, which is counted now or never. */
const COUNTED_WITHIN_MS = 30_000;

/** Lends a counter to work that knows its end. */
async function withCounter<T>(work: (counter: TokenCounter) => Promise<T>): Promise<T> {
  // A letter is stored without the tokens that cannot be counted, as any entry is.
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
  catalog: Pick<Catalog, 'costOf'>,
): Promise<Retried | null> {
  const letter = await findDeadLetter(sql, id);
  if (letter === null) return null;
  if (letter.entry === null) return { refused: `${letter.reason} (it holds no entry that could be stored)` };
  try {
    const records = await estimateUsage([buildRecord(letter.entry, catalog)], counter, catalog);
    await ensurePartitions(
      sql,
      records.map(({ request }) => request.created_at),
    );
    const isOurs = await sql.begin(async (tx) => {
      const { count } = await tx`delete from assay.dead_letters where dead_letter_id = ${id}`;
      if (count === 0) return false;
      await insertRecords(tx, records);
      const online = await findOnlineEvaluators(tx, records);
      // Whose filter cannot be carried out is told by ingest, batch after batch.
      if (online.length > 0) await scheduleEvaluations(tx, records, online, true, () => {});
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

/** Retries all letters that are there, oldest first. Returns how many were stored, and how many refused again. */
export async function retryAllDeadLetters(
  sql: Sql,
  catalog: Pick<Catalog, 'costOf'> = BUILT_IN_CATALOG,
): Promise<{ stored: number; refused: number }> {
  return await withCounter((counter) => retryAllWith(counter, sql, catalog));
}

async function retryAllWith(
  counter: TokenCounter,
  sql: Sql,
  catalog: Pick<Catalog, 'costOf'>,
): Promise<{ stored: number; refused: number }> {
  const result = { stored: 0, refused: 0 };
  let last = '0';
  for (;;) {
    const [next] = await sql<{ id: string | null }[]>`
      select min(dead_letter_id) as id from assay.dead_letters where dead_letter_id > ${last}`;
    if (next?.id == null) return result;
    last = next.id;
    const retried = await retryWith(counter, sql, last, catalog);
    if (retried === null) continue;
    if (retried.refused === null) result.stored += 1;
    else result.refused += 1;
  }
}
