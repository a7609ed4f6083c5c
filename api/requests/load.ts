/**
 * Records with their bodies, a bounded batch of bodies at a time: a page may hold 100 records of 64 MiB. The first batch
 * comes with the page, in its transaction; the others are fetched as the client takes them, and no connection is held
 * while it does not.
 */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import {
  type BodyRow,
  bodiesStatement,
  type Included,
  type RecordRow,
  recordsStatement,
} from '#platform/records/mod.ts';
import type { RequestKey } from './find-keys.ts';
import { runStatement } from './statement.ts';

/** A batch holds at least one record, and more as long as it stays below this: large enough for any ordinary page. */
const BATCH_BYTES = 8 * 1024 * 1024;

/** Records of a page; the first of them have their bodies. */
export type LoadedRecords = { rows: RecordRow[]; bodies: BodyRow[] };

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

/** Loads the records with these keys, and the first batch of bodies. */
export async function loadRecords(
  tx: TransactionSql,
  organizationId: string,
  keys: readonly RequestKey[],
  included: Included,
): Promise<LoadedRecords> {
  if (keys.length === 0) return { rows: [], bodies: [] };
  const rows = await runStatement<RecordRow>(tx, recordsStatement(organizationId, keys, included));
  const bodies = await runStatement<BodyRow>(tx, bodiesStatement(organizationId, nextBatch(rows, 0)));
  return { rows, bodies };
}

/** Runs `work` in a transaction of its own. */
export type Read = <Result>(work: (tx: TransactionSql) => Promise<Result>) => Promise<Result>;

/** Yields each record as `write` writes it, in order. */
export async function* recordTexts(
  organizationId: string,
  loaded: LoadedRecords,
  { read, write }: { read: Read; write(row: RecordRow, body: BodyRow): string },
): AsyncGenerator<string, void> {
  const { rows } = loaded;
  let { bodies } = loaded;
  let done = 0;
  while (done < rows.length) {
    for (const body of bodies) {
      yield write(rows[done]!, body);
      done += 1;
    }
    if (done === rows.length) return;
    const batch = nextBatch(rows, done);
    bodies = await read((tx) => runStatement<BodyRow>(tx, bodiesStatement(organizationId, batch)));
  }
}
