/** Answers as Postgres keeps them. Each function is one round trip. */
import { createHash } from 'node:crypto';
import { storableText } from '#core/contracts/storable-text.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Bucket, CacheQuery, StoredResponse } from './bucket.ts';

/** How many expired rows one statement removes: a row may be of megabytes. */
const SWEEP_ROWS = 100;

type AnswerRow = {
  requestId: string;
  storedAt: Date;
  expiresAt: Date;
  status: number;
  contentType: string | null;
  digest: Buffer;
  body: Buffer | null;
};

/** SHA-256 of an answer and of where it belongs. */
function digestOf(ask: CacheQuery, expiresAtMs: number, answer: StoredResponse): Buffer {
  const { requestId, storedAtMs, status, contentType, body } = answer;
  const head = [ask.organizationId, ask.key, requestId, storedAtMs, expiresAtMs, status, contentType];
  return createHash('sha256').update(JSON.stringify(head)).update('\n').update(body).digest();
}

function answerOf(ask: CacheQuery, row: AnswerRow): StoredResponse | 'damaged' | null {
  if (row.body === null) return null;
  const answer = {
    requestId: row.requestId,
    storedAtMs: row.storedAt.getTime(),
    status: row.status,
    contentType: row.contentType,
    body: row.body,
  };
  return digestOf(ask, row.expiresAt.getTime(), answer).equals(row.digest) ? answer : 'damaged';
}

/**
 * Those answers of a key that are young enough for the caller, as many as it keeps; when there are that many, the one at
 * `place` with its body. 'damaged': that one is not what was stored.
 */
export async function readAnswers(
  sql: Sql,
  ask: CacheQuery,
  { place, nowMs }: { place: number; nowMs: number },
): Promise<Bucket | 'damaged'> {
  const rows = await sql<AnswerRow[]>`
    select request_id as "requestId", stored_at as "storedAt", expires_at as "expiresAt", status,
      content_type as "contentType", digest,
      case when row_number() over (order by stored_at desc, request_id desc) = ${place + 1}::int
            and count(*) over () = ${ask.buckets}::int then body end as body
    from (
      select * from assay.cached_answers
      where organization_id = ${ask.organizationId} and answer_key = ${Buffer.from(ask.key, 'hex')}
        and expires_at > ${new Date(nowMs)} and stored_at > ${new Date(nowMs - ask.maxAgeMs)}
      order by stored_at desc, request_id desc
      limit ${ask.buckets}
    ) young
    order by stored_at desc, request_id desc`;
  const bucket = rows.map((row) => ({
    requestId: row.requestId,
    storedAtMs: row.storedAt.getTime(),
    expiresAtMs: row.expiresAt.getTime(),
    answer: answerOf(ask, row),
  }));
  return bucket.some(({ answer }) => answer === 'damaged') ? 'damaged' : (bucket as Bucket);
}

/** Adds an answer to those of its key; the oldest go, of the key and, beyond its bound, of the organization. */
export async function keepAnswer(
  sql: Sql,
  ask: CacheQuery,
  answer: StoredResponse,
  maxOrganizationBytes: number,
): Promise<void> {
  const { requestId, storedAtMs, status, body } = answer;
  const contentType = answer.contentType === null ? null : storableText(answer.contentType);
  const expiresAtMs = storedAtMs + ask.maxAgeMs;
  const digest = digestOf(ask, expiresAtMs, { ...answer, contentType });
  await sql`select assay.keep_answer(${ask.organizationId}, ${Buffer.from(ask.key, 'hex')}, ${requestId},
    ${new Date(storedAtMs)}, ${new Date(expiresAtMs)}, ${status}::smallint, ${contentType}, ${body}, ${digest},
    ${ask.buckets}, ${maxOrganizationBytes})`;
}

/** Removes some of what has expired by the database's clock; true when there may be more. */
export async function sweepExpired(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ swept: number }[]>`select assay.sweep_cached_answers(${SWEEP_ROWS}) as swept`;
  return row?.swept === SWEEP_ROWS;
}
