/** Stored responses as rows in Postgres. Each function is one round trip. */
import { createHash } from 'node:crypto';
import { storableText } from '#core/contracts/storable-text.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { type Bucket, type CacheQuery, MAX_AHEAD_MS, type StoredResponse } from './bucket.ts';

/** Expired rows that one statement removes: a row may hold megabytes. */
const SWEEP_ROWS = 100;

type ResponseRow = {
  requestId: string;
  storedAt: Date;
  expiresAt: Date;
  status: number;
  contentType: string | null;
  digest: Buffer;
  body: Buffer | null;
};

/** SHA-256 of a response together with its organization and key. */
function digestOf(query: CacheQuery, expiresAtMs: number, response: StoredResponse): Buffer {
  const { requestId, storedAtMs, status, contentType, body } = response;
  const head = [query.organizationId, query.key, requestId, storedAtMs, expiresAtMs, status, contentType];
  return createHash('sha256').update(JSON.stringify(head)).update('\n').update(body).digest();
}

function responseOf(query: CacheQuery, row: ResponseRow): StoredResponse | 'damaged' | null {
  if (row.body === null) return null;
  const response = {
    requestId: row.requestId,
    storedAtMs: row.storedAt.getTime(),
    status: row.status,
    contentType: row.contentType,
    body: row.body,
  };
  return digestOf(query, row.expiresAt.getTime(), response).equals(row.digest) ? response : 'damaged';
}

/**
 * Reads the responses of a key that are young enough for the call, at most as many as it wants kept. When there are that
 * many, the one at `position` comes with its body. 'damaged': that body is not the one that was stored.
 */
export async function readBucket(
  sql: Sql,
  query: CacheQuery,
  { position, nowMs }: { position: number; nowMs: number },
): Promise<Bucket | 'damaged'> {
  const rows = await sql<ResponseRow[]>`
    select request_id as "requestId", stored_at as "storedAt", expires_at as "expiresAt", status,
      content_type as "contentType", digest,
      case when row_number() over (order by stored_at desc, request_id desc) = ${position + 1}::int
            and count(*) over () = ${query.bucketSize}::int then body end as body
    from (
      select * from assay.cached_answers
      where organization_id = ${query.organizationId} and answer_key = ${Buffer.from(query.key, 'hex')}
        and expires_at > ${new Date(nowMs)} and stored_at > ${new Date(nowMs - query.maxAgeMs)}
        and stored_at <= ${new Date(nowMs + MAX_AHEAD_MS)}
      order by stored_at desc, request_id desc
      limit ${query.bucketSize}
    ) young
    order by stored_at desc, request_id desc`;
  const bucket = rows.map((row) => ({
    requestId: row.requestId,
    storedAtMs: row.storedAt.getTime(),
    expiresAtMs: row.expiresAt.getTime(),
    response: responseOf(query, row),
  }));
  return bucket.some(({ response }) => response === 'damaged') ? 'damaged' : (bucket as Bucket);
}

/** Stores a response. The oldest of its key make room, and the oldest of its organization beyond its limit in bytes. */
export async function storeResponse(
  sql: Sql,
  query: CacheQuery,
  response: StoredResponse,
  maxOrganizationBytes: number,
): Promise<void> {
  const { requestId, storedAtMs, status, body } = response;
  const contentType = response.contentType === null ? null : storableText(response.contentType);
  const expiresAtMs = storedAtMs + query.maxAgeMs;
  const digest = digestOf(query, expiresAtMs, { ...response, contentType });
  await sql`select assay.keep_answer(${query.organizationId}, ${Buffer.from(query.key, 'hex')}, ${requestId},
    ${new Date(storedAtMs)}, ${new Date(expiresAtMs)}, ${status}::smallint, ${contentType}, ${body}, ${digest},
    ${query.bucketSize}, ${maxOrganizationBytes})`;
}

/** Removes some responses that have expired by the database's clock; true when there may be more. */
export async function sweepExpired(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ swept: number }[]>`select assay.sweep_cached_answers(${SWEEP_ROWS}) as swept`;
  return row?.swept === SWEEP_ROWS;
}
