/**
 * Records with their bodies, a bounded batch of bodies at a time: a page may hold 100 records of 64 MiB. The first batch
 * comes with the page, in its transaction; the others are fetched as the client takes them, and no connection is held
 * while it does not.
 */
import { inOrganization, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { RequestKey } from './find-keys.ts';
import { recordText } from './record-json.ts';
import { type BodyRow, bodiesStatement, type RecordRow, recordsStatement } from './records.ts';
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
): Promise<LoadedRecords> {
  if (keys.length === 0) return { rows: [], bodies: [] };
  const rows = await runStatement<RecordRow>(tx, recordsStatement(organizationId, keys));
  const bodies = await runStatement<BodyRow>(tx, bodiesStatement(organizationId, nextBatch(rows, 0)));
  return { rows, bodies };
}

/** Yields each record as JSON text, in order. */
export async function* recordTexts(
  sql: Sql,
  organizationId: string,
  loaded: LoadedRecords,
  options: { includeInputs: boolean },
): AsyncGenerator<string, void> {
  const { rows } = loaded;
  let { bodies } = loaded;
  let done = 0;
  while (done < rows.length) {
    for (const body of bodies) {
      yield recordText(rows[done]!, body, options);
      done += 1;
    }
    if (done === rows.length) return;
    const batch = nextBatch(rows, done);
    bodies = await inOrganization(sql, organizationId, (tx) =>
      runStatement<BodyRow>(tx, bodiesStatement(organizationId, batch)),
    );
  }
}
