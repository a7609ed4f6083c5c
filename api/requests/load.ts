/**
 * Records with their bodies, a bounded batch of either at a time: a page may hold 100 records of 64 MiB, with prompt inputs as
 * large. The first batch comes with the page, in its transaction; the others are fetched as the client takes them, and no
 * connection is held while it does not.
 */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import {
  type BodyRow,
  bodiesStatement,
  type FirstRecordRow,
  firstRecordsStatement,
  type Included,
  type RecordRow,
} from '#platform/records/mod.ts';
import type { RequestKey } from './find-keys.ts';
import { runStatement } from './statement.ts';

/** A batch holds at least one record, and more as long as it stays below this: large enough for any ordinary page. */
const BATCH_BYTES = 8 * 1024 * 1024;

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
  if (keys.length === 0) return { rows: [], bodies: [], rest: [] };
  const statement = firstRecordsStatement(organizationId, keys, included, BATCH_BYTES);
  const rows = await runStatement<FirstRecordRow>(tx, statement);
  const bodies = await runStatement<BodyRow>(tx, bodiesStatement(organizationId, nextBatch(rows, 0)));
  const last = rows.at(-1);
  const isCut = last !== undefined && last.bytes_so_far >= BATCH_BYTES;
  return { rows, bodies, rest: isCut ? keys.slice(last.position) : [] };
}

/** Runs `work` in a transaction of its own. */
export type Read = <Result>(work: (tx: TransactionSql) => Promise<Result>) => Promise<Result>;

type Writing = { read: Read; write(row: RecordRow, body: BodyRow): string };

/** Yields each record of a page as `write` writes it, in order. */
export async function* pageTexts(
  organizationId: string,
  page: LoadedPage,
  { included, ...writing }: Writing & { included: Included },
): AsyncGenerator<string, void> {
  let loaded = page;
  for (;;) {
    yield* recordTexts(organizationId, loaded, writing);
    const { rest } = loaded;
    if (rest.length === 0) return;
    loaded = await writing.read((tx) => loadPage(tx, organizationId, rest, included));
  }
}

/** Yields each of these records as `write` writes it, in order. */
export async function* recordTexts(
  organizationId: string,
  loaded: LoadedRecords,
  { read, write }: Writing,
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
