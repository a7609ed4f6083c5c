/** What is stored, as a run looks at it: past the door that is shut for the services. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Sql } from '#platform/postgres/mod.ts';
import type { StoredRecord } from './verdict.ts';

type Row = {
  user_id: string | null;
  request_id: string;
  status: number;
  request_digest: string | null;
  answer_digest: string | null;
};

const ROWS_AT_A_TIME = 5_000;

export async function countRecords(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: string }[]>`select count(*) from assay.requests`;
  return Number(row!.count);
}

/** Parts of large entries that nobody will put together any more. */
export async function countParts(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: string }[]>`select count(*) from assay.entry_parts`;
  return Number(row!.count);
}

export async function deadLetterReasons(sql: Sql): Promise<string[]> {
  const rows = await sql<{ reason: string }[]>`select reason from assay.dead_letters limit 1000`;
  return rows.map(({ reason }) => reason);
}

/** All records. */
export async function readRecords(sql: Sql): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  // Left, so that a record whose bodies are missing is seen to differ.
  const rows = sql<Row[]>`
    select user_id, request_id, status, md5(request_text) as request_digest,
           md5(response_text::jsonb #>> '{choices,0,message,content}') as answer_digest
      from assay.requests left join assay.bodies using (organization_id, created_at, request_id)`;
  for await (const some of rows.cursor(ROWS_AT_A_TIME)) {
    for (const row of some) {
      records.push({
        call: row.user_id === null ? null : Number(row.user_id),
        requestId: row.request_id,
        status: row.status,
        requestDigest: row.request_digest ?? '',
        answerDigest: row.answer_digest,
      });
    }
  }
  return records;
}

/** The calls that reached the provider, from the file that it keeps. */
export async function readReached(path: string): Promise<number[]> {
  const calls: number[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) calls.push(Number(line));
  return calls;
}
