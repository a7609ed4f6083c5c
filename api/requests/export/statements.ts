/** The statements of an export: the end of a window, and the records in it that pass the filter. */
import { Parameters, type Statement } from '#core/filter/mod.ts';
import { BODY_BYTES, type RecordRow, recordColumns } from '#platform/records/mod.ts';
import { conditionOf } from '../conditions.ts';
import type { RequestKey } from '../find-keys.ts';
import type { RequestQuery } from '../query.ts';

/** A part of an organization's records in order of time: those after one key, up to a moment or to another key. */
export type Span = {
  /** Null: from the first record. */
  after: RequestKey | null;
  /** `request_id` null: all records of that moment too. */
  until: { created_at: Date; request_id: string | null };
};

/** A row of `exportRowsStatement`. */
export type ExportRow = RecordRow & {
  /** Bytes of the texts of any length in this row and those before it. */
  bytes_so_far: number;
};

/** The most that one statement returns. */
export type BatchLimits = {
  rows: number;
  /** Beyond it no further record begins. */
  bytes: number;
};

/**
 * Writes the condition that a row is in a span. The times alone, without ids, are what Postgres leaves out partitions by.
 */
function inSpan(table: string, { after, until }: Span, parameters: Parameters): string {
  const time = (moment: Date) => parameters.bind(moment.toISOString(), 'timestamptz');
  const key = `(${table}.created_at, ${table}.request_id)`;
  const conditions = [`${table}.created_at <= ${time(until.created_at)}`];
  if (until.request_id !== null) {
    conditions.push(`${key} <= (${time(until.created_at)}, ${parameters.bind(until.request_id, 'text')})`);
  }
  if (after !== null) {
    conditions.push(`${table}.created_at >= ${time(after.created_at)}`);
    conditions.push(`${key} > (${time(after.created_at)}, ${parameters.bind(after.request_id, 'text')})`);
  }
  return conditions.join(' and ');
}

/** Selects the key of the record with number `size` of a span, whether it passes a filter or not; none: there are fewer. */
export function windowEndStatement(organizationId: string, span: Span, size: number): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const text =
    `select r.created_at, r.request_id from assay.requests r where r.organization_id = ${organization} ` +
    `and ${inSpan('r', span, parameters)} order by r.created_at, r.request_id ` +
    `offset ${parameters.bind(size - 1, 'int8')} limit 1`;
  return { text, values: parameters.values };
}

/** The bytes of a row's texts of any length. */
const ROW_BYTES =
  'coalesce(octet_length(r.request_properties), 0) + coalesce(octet_length(r.properties_added), 0) + ' +
  'coalesce(octet_length(r.inputs), 0) + coalesce(octet_length(r.expected), 0)';

/**
 * Selects the first records of a span that pass a query's filter, in order of time, without their bodies. The scores are
 * read for the records that are returned alone.
 */
export function exportRowsStatement(
  organizationId: string,
  query: RequestQuery,
  span: Span,
  { limits, bodies }: { limits: BatchLimits; bodies: boolean },
): Statement {
  const parameters = new Parameters();
  const organization = parameters.bind(organizationId, 'uuid');
  const condition = conditionOf(query, organization, parameters, { joins: false });
  const sameRequest = (table: string) =>
    `${table}.organization_id = ${organization} and ${inSpan(table, span, parameters)} ` +
    `and ${table}.created_at = r.created_at and ${table}.request_id = r.request_id`;
  const bytes = parameters.bind(limits.bytes, 'int8');
  const bodyBytes = bodies
    ? `left join lateral (
        select ${BODY_BYTES} as body_bytes from assay.bodies b where ${sameRequest('b')} offset 0
      ) b on true`
    : '';
  const text = `
    select r.*, ${bodies ? 'coalesce(b.body_bytes, 0)::float8' : '0::float8'} as body_bytes, s.scores
    from (
      select r.*, sum(${ROW_BYTES}) over (order by r.created_at, r.request_id rows unbounded preceding)::float8
        as bytes_so_far
      from (
        select ${recordColumns(query).join(', ')} from assay.requests r
        where ${condition} and ${inSpan('r', span, parameters)}
        order by r.created_at, r.request_id limit ${parameters.bind(limits.rows, 'int8')}
      ) r
    ) r
    ${bodyBytes}
    left join lateral (
      select json_object_agg(s.key, s.value order by s.key)::text as scores
      from assay.request_scores s where ${sameRequest('s')}
    ) s on true
    where r.bytes_so_far - (${ROW_BYTES}) < ${bytes}
    order by r.created_at, r.request_id`;
  return { text, values: parameters.values };
}
