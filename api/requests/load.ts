/**
 * Records with their bodies, a bounded batch at a time: a page may hold 100 records of 64 MiB, with prompt inputs as large. The
 * first batch comes with the page, in its transaction; the others are fetched as the client takes them, and no connection is held
 * while it does not.
 */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import {
  type BodyRow,
  bodiesStatement,
  type Included,
  NOTHING_MORE,
  type RecordRow,
  recordsStatement,
} from '#platform/records/mod.ts';
import type { RequestKey } from './find-keys.ts';
import { runStatement } from './statement.ts';

/** A batch holds at least one record, and more as long as it stays below this: large enough for any ordinary page. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Records whose other members are read together; each may have a megabyte of properties. */
const READ_TOGETHER = 100;
/** Where Postgres has to measure prompt inputs, which it does by writing them as text. */
const MEASURED_TOGETHER = 20;

/** Records; the first of them have their bodies. */
type LoadedRecords = { rows: RecordRow[]; bodies: BodyRow[] };

/** The first records of a page, and the keys of those that are still to be loaded. */
export type LoadedPage = LoadedRecords & { rest: readonly RequestKey[] };

/** Returns the rows from `start` whose bodies are fetched together. */
function nextBatch(rows: readonly RecordRow[], start: number): RecordRow[] {
  let end = start;
  let bytes = 0;
  while (end < rows.length && (end === start || bytes + rows[end]!.body_bytes <= BATCH_BYTES)) {
    bytes += rows[end]!.body_bytes;
    end += 1;
  }
  return rows.slice(start, end);
}

/** Loads the first of the records with these keys, and the first batch of their bodies. */
export async function loadPage(
  tx: TransactionSql,
  organizationId: string,
  keys: readonly RequestKey[],
  included: Included,
): Promise<LoadedPage> {
  const count = included.includeInputs ? MEASURED_TOGETHER : READ_TOGETHER;
  const together = keys.slice(0, count);
  const rest = keys.slice(count);
  if (together.length === 0) return { rows: [], bodies: [], rest };
  const rows = await runStatement<RecordRow>(tx, recordsStatement(organizationId, together, included));
  const batch = bodiesStatement(organizationId, nextBatch(rows, 0), included);
  return { rows, bodies: await runStatement<BodyRow>(tx, batch), rest };
}

/** Returns whether all of a page is in memory, and so little that it may be written in one turn of the event loop. */
export function isShort({ rows, bodies, rest }: LoadedPage): boolean {
  return rest.length === 0 && bodies.length === rows.length && lengthOfProperties(rows) <= BATCH_BYTES;
}

/** Returns the bytes of a page that is not short which are in memory at a time: all properties, and the bodies of a batch. */
export function bytesAtOnce({ rows }: LoadedPage): number {
  return lengthOfProperties(rows) + Math.max(BATCH_BYTES, ...rows.map((row) => row.body_bytes));
}

function lengthOfProperties(rows: readonly RecordRow[]): number {
  const lengths = rows.map((row) => lengthOf(row.request_properties) + lengthOf(row.properties_added));
  return lengths.reduce((sum, length) => sum + length, 0);
}

function lengthOf(text: string | null): number {
  return text?.length ?? 0;
}

/** Runs `work` in a transaction of its own. */
export type Read = <Result>(work: (tx: TransactionSql) => Promise<Result>) => Promise<Result>;

type Writing = { read: Read; write(row: RecordRow, body: BodyRow): string };

/** Yields each record of a page as `write` writes it, in order. */
export function pageTexts(
  organizationId: string,
  page: LoadedPage,
  writing: Writing & { included: Included },
): AsyncGenerator<string, void> {
  // A parameter of the generator would be kept for as long as it runs.
  let next: LoadedPage | null = page;
  async function* write(): AsyncGenerator<string, void> {
    while (next !== null) {
      const { rest } = next;
      const texts = writeAll(organizationId, next, writing);
      next = null;
      yield* texts;
      if (rest.length === 0) return;
      next = await writing.read((tx) => loadPage(tx, organizationId, rest, writing.included));
    }
  }
  return write();
}

/** Yields each of these records, which have all members that are included, as `write` writes it, in order. */
export function recordTexts(
  organizationId: string,
  rows: RecordRow[],
  writing: Writing,
): AsyncGenerator<string, void> {
  return writeAll(organizationId, { rows, bodies: [] }, { ...writing, included: NOTHING_MORE });
}

async function* writeAll(
  organizationId: string,
  loaded: LoadedRecords,
  { read, write, included }: Writing & { included: Included },
): AsyncGenerator<string, void> {
  const { rows } = loaded;
  let { bodies } = loaded;
  loaded.bodies = [];
  let done = 0;
  while (done < rows.length) {
    for (const body of bodies) {
      yield write(rows[done]!, body);
      done += 1;
    }
    if (done === rows.length) return;
    const batch = nextBatch(rows, done);
    bodies = [];
    bodies = await read((tx) => runStatement<BodyRow>(tx, bodiesStatement(organizationId, batch, included)));
  }
}
