/** Content of messages about requests, read when they are sent. */
import { nanoToUsd } from '#core/contracts/money.ts';
import type { Statement } from '#core/filter/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import {
  type BodyRow,
  bodiesStatement,
  NOTHING_MORE,
  type RecordRow,
  recordFields,
  recordsStatement,
  recordWriter,
} from '#platform/records/mod.ts';
import type { Job } from './claim.ts';

/** Bytes of a message. */
export const MAX_MESSAGE_BYTES = 256 * 1024;

/** Fields of the request in a thin message, by the names of the record. */
export type ThinRequest = {
  request_id: string;
  request_created_at: string;
  request_path: string;
  request_user_id: string | null;
  provider: string;
  model: string;
  response_status: number;
  delay_ms: number | null;
  total_tokens: number | null;
  cost: number | null;
};

/** The request of a message. */
export type Content = {
  thin: ThinRequest;
  /** The JSON of the record; null: not requested, or larger than a message may be. */
  full: string | null;
};

type ThinRow = Omit<ThinRequest, 'request_created_at' | 'cost'> & {
  organizationId: string;
  createdAt: Date;
  costNano: string | null;
};

/** Characters of a text: longer ones are in the record. */
const LONGEST_TEXT = 500;

/** Reads the requests of deliveries, by the delivery's id. A request that is gone has no entry. */
export async function readContent(sql: Sql, jobs: readonly Job[]): Promise<Map<string, Content>> {
  const about = jobs.filter(({ requestId }) => requestId !== null);
  if (about.length === 0) return new Map();
  const [thin, full] = await Promise.all([readThin(sql, about), readFull(sql, about)]);
  return new Map(
    about.flatMap(({ deliveryId }) => {
      const found = thin.get(deliveryId);
      return found === undefined
        ? []
        : [[deliveryId, { thin: found, full: full.get(deliveryId) ?? null }] as const];
    }),
  );
}

async function readThin(sql: Sql, jobs: readonly Job[]): Promise<Map<string, ThinRequest>> {
  const rows = await sql<(ThinRow & { deliveryId: string })[]>`
    select k.delivery_id as "deliveryId", r.organization_id as "organizationId", r.created_at as "createdAt",
           r.request_id, left(r.path, ${LONGEST_TEXT}) as request_path, left(r.user_id, ${LONGEST_TEXT}) as request_user_id,
           r.provider, left(r.model, ${LONGEST_TEXT}) as model, r.status as response_status, r.latency_ms as delay_ms,
           r.total_tokens, r.cost_nano::text as "costNano"
      from unnest(${jobs.map(({ deliveryId }) => deliveryId)}::text[], ${jobs.map(({ organizationId }) => organizationId)}::uuid[],
                  ${jobs.map(({ createdAt }) => createdAt!.toISOString())}::timestamptz[],
                  ${jobs.map(({ requestId }) => requestId)}::text[])
             as k (delivery_id, organization_id, created_at, request_id)
     cross join lateral (
       select * from assay.requests r
        where r.organization_id = k.organization_id and r.created_at = k.created_at and r.request_id = k.request_id
       offset 0) r`;
  return new Map(
    rows.map(({ deliveryId, organizationId, createdAt, costNano, ...row }) => [
      deliveryId,
      {
        request_id: row.request_id,
        request_created_at: createdAt.toISOString(),
        request_path: row.request_path,
        request_user_id: row.request_user_id,
        provider: row.provider,
        model: row.model,
        response_status: row.response_status,
        delay_ms: row.delay_ms,
        total_tokens: row.total_tokens,
        cost: costNano === null ? null : nanoToUsd(costNano),
      },
    ]),
  );
}

async function readFull(sql: Sql, jobs: readonly Job[]): Promise<Map<string, string>> {
  const wanted = jobs.filter(({ payload, format }) => payload === 'full' && format === 'standard');
  const found = new Map<string, string>();
  for (const [organizationId, own] of Map.groupBy(wanted, (job) => job.organizationId)) {
    for (const [deliveryId, text] of await readRecords(sql, organizationId, own)) found.set(deliveryId, text);
  }
  return found;
}

/** Messages have the fields of every record. */
const writeRecord = recordWriter(recordFields({ bodies: true, ...NOTHING_MORE }));

/** Reads records whose bodies fit into a message: the others are not loaded at all. */
async function readRecords(
  sql: Sql,
  organizationId: string,
  jobs: readonly Job[],
): Promise<[deliveryId: string, text: string][]> {
  const keys = jobs.map(({ createdAt, requestId }) => ({ created_at: createdAt!, request_id: requestId! }));
  const all = await run<RecordRow>(sql, recordsStatement(organizationId, keys, NOTHING_MORE));
  const rows = all.filter(({ body_bytes: bytes }) => bytes < MAX_MESSAGE_BYTES);
  if (rows.length === 0) return [];
  const bodies = await run<BodyRow>(sql, bodiesStatement(organizationId, rows, NOTHING_MORE));
  const texts = new Map(rows.map((row, index) => [row.request_id, writeRecord(row, bodies[index]!)]));
  return jobs.flatMap(({ deliveryId, requestId }) => {
    const text = texts.get(requestId!);
    return text === undefined ? [] : [[deliveryId, text] as [string, string]];
  });
}

/** Runs a statement without keeping it prepared: its text and its values differ with the number of keys. */
async function run<Row extends object>(sql: Sql, { text, values }: Statement): Promise<Row[]> {
  return await sql.unsafe<Row[]>(text, [...values] as never[], { prepare: false });
}
