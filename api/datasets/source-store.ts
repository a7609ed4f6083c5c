/** The statements that read logged requests for items. */
import { MAX_REQUEST_BYTES } from '#core/contracts/dataset.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { RequestKey } from '../requests/mod.ts';

/** A logged request: each body as bytes where those differ from the text that filters search. */
export type SourceRow = {
  request_id: string;
  session_id: string | null;
  user_id: string | null;
  /** JSON. */
  inputs: string | null;
  /** The answer that was expected: JSON as it was sent. */
  expected: string | null;
  is_too_large: boolean;
  request_text: string | null;
  request_raw: Buffer | null;
  response_text: string | null;
  response_raw: Buffer | null;
};

/** Bytes of a response that are read: it holds more than the answer that becomes `expected`. */
const MAX_RESPONSE_BYTES = 4 * MAX_REQUEST_BYTES;

/** Bytes beyond which no further request is loaded. */
const MAX_LOADED_BYTES = 16 * 1024 * 1024;

/**
 * Loads the first of these requests with their bodies, in the order of the keys; bodies that are too large are left out.
 * @returns `loaded`: how many of the keys, from the first on, the rows are those of
 */
export async function loadSources(
  tx: TransactionSql,
  organizationId: string,
  keys: readonly RequestKey[],
): Promise<{ rows: SourceRow[]; loaded: number }> {
  const times = keys.map(({ created_at }) => created_at.toISOString());
  const ids = keys.map(({ request_id }) => request_id);
  const rows = await tx<(SourceRow & { position: number; bytes_so_far: number })[]>`
    select * from (
      select r.request_id, r.session_id, r.user_id, r.inputs, r.expected, not coalesce(b.fits, true) as is_too_large,
             case when b.fits and b.request_raw is null then b.request_text end as request_text,
             case when b.fits then b.request_raw end as request_raw,
             case when b.fits and b.response_raw is null then b.response_text end as response_text,
             case when b.fits then b.response_raw end as response_raw,
             k.position::int4, n.bytes, sum(n.bytes) over (order by k.position)::float8 as bytes_so_far
        from unnest(${times}::timestamptz[], ${ids}::text[]) with ordinality as k (created_at, request_id, position)
       cross join lateral (
         select request_id, session_id, user_id, inputs::text as inputs, expected from assay.requests
          where organization_id = ${organizationId} and created_at = k.created_at and request_id = k.request_id
         offset 0) r
        left join lateral (
         select *, coalesce(octet_length(request_raw), octet_length(request_text)) <= ${MAX_REQUEST_BYTES}
               and coalesce(octet_length(response_raw), octet_length(response_text)) <= ${MAX_RESPONSE_BYTES} as fits
           from assay.bodies
          where organization_id = ${organizationId} and created_at = k.created_at and request_id = k.request_id
         offset 0) b on true
       cross join lateral (
         select case when b.fits then coalesce(octet_length(b.request_raw), octet_length(b.request_text), 0) +
                                      coalesce(octet_length(b.response_raw), octet_length(b.response_text), 0)
                else 0 end + coalesce(octet_length(r.inputs), 0) + coalesce(octet_length(r.expected), 0) as bytes) n
    ) r
     where bytes_so_far - bytes < ${MAX_LOADED_BYTES}
     order by position`;
  const last = rows.at(-1);
  const isCut = last !== undefined && last.bytes_so_far >= MAX_LOADED_BYTES;
  return { rows, loaded: isCut ? last.position : keys.length };
}

/** Finds those of these requests that items of the newest version were made from, or are named for. */
export async function findTaken(
  tx: TransactionSql,
  organizationId: string,
  datasetId: string,
  requestIds: readonly string[],
): Promise<Set<string>> {
  const wanted = [...requestIds];
  // Fenced laterals, as in `findNewest`.
  const rows = await tx<{ request_id: string }[]>`
    select given.id as request_id from unnest(${wanted}::text[]) as given (id)
     cross join lateral (
       select from assay.dataset_items
        where dataset_id = ${datasetId} and to_version is null and external_id = given.id offset 0) i
    union
    select given.id from unnest(${wanted}::text[]) as given (id)
     cross join lateral (
       select from assay.dataset_items
        where organization_id = ${organizationId} and source_request_id = given.id
          and dataset_id = ${datasetId} and to_version is null offset 0) i`;
  return new Set(rows.map(({ request_id }) => request_id));
}
