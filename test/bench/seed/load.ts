/**
 * Loads a seed by COPY. The partitions of a week are made without indexes, filled, and attached, which builds the indexes by
 * sorting: several times faster than to insert each row into fifteen of them. As they are made in the transaction that
 * fills them, no write-ahead log is written (`LOADING` below), and rows are frozen at once.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import { countSessionsOf } from '../../support/seed-requests.ts';
import { type SeededRecords, type SeedTable, seedTables } from './rows.ts';

/** Settings of the server while it loads: a cluster that dies meanwhile is seeded again. */
export const LOADING: Record<string, string> = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  autovacuum: 'off',
  maintenance_work_mem: '1GB',
  work_mem: '512MB',
  // A second worker would take the other core, on which the rows are made.
  max_parallel_maintenance_workers: '0',
};

/** Characters that are handed to the server together. */
const CHUNK = 256 * 1024;
const WEEK_MS = 7 * 86_400_000;
/** Partitions begin on Mondays; 5 January 1970 was the first. */
const FIRST_MONDAY_MS = 4 * 86_400_000;

type Span = { first: number; end: number };

function* linesOf(table: SeedTable, records: SeededRecords, { first, end }: Span): Generator<string> {
  let text = '';
  for (let index = first; index < end; index += 1) {
    text += table.rowsOf(records.at(index), index);
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

async function fillWeek(tx: TransactionSql, records: SeededRecords, monday: Date, span: Span): Promise<void> {
  const from = monday.toISOString();
  const to = new Date(monday.getTime() + WEEK_MS).toISOString();
  const suffix = `_w${from.slice(0, 10).replaceAll('-', '')}`;
  for (const table of seedTables(records)) {
    const partition = `assay.${table.name}${suffix}`;
    await tx.unsafe(`create table ${partition} (like assay.${table.name} including all excluding indexes)`);
    const copy = await tx.unsafe(`copy ${partition} (${table.columns}) from stdin with (freeze)`).writable();
    await pipeline(Readable.from(linesOf(table, records, span)), copy);
    await tx.unsafe(
      `alter table assay.${table.name} attach partition ${partition} for values from ('${from}') to ('${to}')`,
    );
  }
}

/**
 * Loads all records, a transaction a week, and gathers statistics.
 * @param sql a pool of the owner, on a server with the settings of `LOADING`, whose weeks have no partitions yet
 * @param onProgress receives the number of records done
 */
export async function loadSeed(
  sql: Sql,
  records: SeededRecords,
  onProgress: (done: number) => void,
): Promise<void> {
  const { startMs, options } = records;
  let mondayMs = startMs - ((startMs - FIRST_MONDAY_MS) % WEEK_MS);
  for (; mondayMs < options.endMs; mondayMs += WEEK_MS) {
    const span = { first: records.firstAt(mondayMs), end: records.firstAt(mondayMs + WEEK_MS) };
    await sql.begin((tx) => fillWeek(tx, records, new Date(mondayMs), span));
    onProgress(span.end);
  }
  await countSessionsOf(sql, options.organizationId);
  await sql`analyze`;
}
