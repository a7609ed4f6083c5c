/** The narrow part of records, by key: everything except the bodies, but with their sizes. */
import { Parameters, type Statement } from '#core/filter/mod.ts';

/** The key of a record. */
export type RecordKey = { created_at: Date; request_id: string };

/** A row of `recordsStatement`; jsonb comes as its text. */
export type RecordRow = {
  request_id: string;
  created_at: Date;
  path: string;
  user_id: string | null;
  request_properties: string | null;
  properties_added: string | null;
  request_model: string | null;
  response_id: string | null;
  response_created_at: Date | null;
  status: number;
  response_model: string | null;
  provider: string;
  model: string;
  latency_ms: number | null;
  ttft_ms: number | null;
  total_tokens: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost_nano: string | null;
  prompt_id: string | null;
  prompt_version: string | null;
  feedback_rating: boolean | null;
  scores: string | null;
  inputs: string | null;
  /** JSON as it was sent; null also where it was not asked for. */
  expected: string | null;
  /** Bytes of both bodies together, as they are sent. */
  body_bytes: number;
};

const COLUMNS = [
  'r.request_id',
  'r.created_at',
  'r.path',
  'r.user_id',
  'r.request_properties::text',
  'r.properties_added::text',
  'r.request_model',
  'r.response_id',
  'r.response_created_at',
  'r.status',
  'r.response_model',
  'r.provider',
  'r.model',
  'r.latency_ms',
  'r.ttft_ms',
  'r.total_tokens',
  'r.prompt_tokens',
  'r.completion_tokens',
  'r.cost_nano',
  'r.prompt_id',
  'r.prompt_version',
  'r.feedback_rating',
];

/** The members of a record that are there only where they are asked for. */
export type Included = { includeInputs: boolean; includeExpected: boolean };

/** Returns the columns of a record. */
export function recordColumns({ includeInputs, includeExpected }: Included): readonly string[] {
  return [
    ...COLUMNS,
    includeInputs ? 'r.inputs::text' : 'null::text as inputs',
    includeExpected ? 'r.expected' : 'null::text as expected',
  ];
}

/** Postgres keeps the length beside a large value, so that this reads no bodies. */
export const BODY_BYTES =
  'case when b.request_raw is null then octet_length(b.request_text) else octet_length(b.request_raw) end::int8 + ' +
  'case when b.response_raw is null then octet_length(b.response_text) else octet_length(b.response_raw) end';

/** The bytes of a row's texts of any length, as `recordColumns` selects them. */
export const ROW_BYTES =
  'coalesce(octet_length(r.request_properties), 0) + coalesce(octet_length(r.properties_added), 0) + ' +
  'coalesce(octet_length(r.inputs), 0) + coalesce(octet_length(r.expected), 0)';

/** Keys in a statement. */
type BoundKeys = {
  /** The organization's placeholder. */
  organization: string;
  /** The keys with their position, as a table `k`. */
  table: string;
  /** The condition that a row of another table has the key `k`. */
  matches(table: string): string;
};

/**
 * Binds keys, and their first and last time: by these Postgres leaves out partitions while it plans, and planning takes most
 * of the time.
 */
export function bindKeys(
  organizationId: string,
  keys: readonly RecordKey[],
  parameters: Parameters,
): BoundKeys {
  const organization = parameters.bind(organizationId, 'uuid');
  const times = keys.map((key) => key.created_at.toISOString()).sort();
  const first = parameters.bind(times[0] ?? null, 'timestamptz');
  const last = parameters.bind(times.at(-1) ?? null, 'timestamptz');
  const createdAt = parameters.bind(
    keys.map((key) => key.created_at.toISOString()),
    'text[]',
  );
  const ids = parameters.bind(
    keys.map((key) => key.request_id),
    'text[]',
  );
  return {
    organization,
    table: `unnest(${createdAt}::timestamptz[], ${ids}) with ordinality as k(created_at, request_id, position)`,
    matches: (table) =>
      `${table}.organization_id = ${organization} and ${table}.created_at between ${first} and ${last} ` +
      `and ${table}.created_at = k.created_at and ${table}.request_id = k.request_id`,
  };
}

/**
 * Selects the records with these keys, in their order. Laterals are fenced by `offset 0`, so that each key is looked up by
 * primary key, whatever Postgres estimates for the rest.
 */
export function recordsStatement(
  organizationId: string,
  keys: readonly RecordKey[],
  included: Included,
): Statement {
  const parameters = new Parameters();
  const { columns, from } = selectRecords(organizationId, keys, included, parameters);
  return { text: `select ${columns} from ${from} order by k.position`, values: parameters.values };
}

/** A row of `firstRecordsStatement`. */
export type FirstRecordRow = RecordRow & {
  /** Place of its key, from 1 on. */
  position: number;
  /** Bytes of the texts of any length in this row and those before it, without bodies. */
  bytes_so_far: number;
};

/** Selects the first of the records with these keys, in their order: beyond `mostBytes` no further record begins. */
export function firstRecordsStatement(
  organizationId: string,
  keys: readonly RecordKey[],
  included: Included,
  mostBytes: number,
): Statement {
  const parameters = new Parameters();
  const { columns, from } = selectRecords(organizationId, keys, included, parameters);
  const text = `
    select * from (
      select *, sum(row_bytes) over (order by position)::float8 as bytes_so_far
      from (
        select ${columns}, k.position::int4, ${ROW_BYTES} + coalesce(octet_length(s.scores), 0) as row_bytes
        from ${from}
      ) r
    ) r
    where bytes_so_far - row_bytes < ${parameters.bind(mostBytes, 'int8')}
    order by position`;
  return { text, values: parameters.values };
}

function selectRecords(
  organizationId: string,
  keys: readonly RecordKey[],
  included: Included,
  parameters: Parameters,
): { columns: string; from: string } {
  const { table, matches } = bindKeys(organizationId, keys, parameters);
  const from = `
    ${table}
    cross join lateral (
      select ${recordColumns(included).join(', ')} from assay.requests r where ${matches('r')} offset 0
    ) r
    left join lateral (
      select ${BODY_BYTES} as body_bytes from assay.bodies b where ${matches('b')} offset 0
    ) b on true
    left join lateral (
      select json_object_agg(s.key, s.value order by s.key)::text as scores
      from assay.request_scores s where ${matches('s')}
    ) s on true`;
  return { columns: 'r.*, coalesce(b.body_bytes, 0)::float8 as body_bytes, s.scores', from };
}

/** A row of `bodiesStatement`: each body as bytes where those differ from the text that filters search. */
export type BodyRow = {
  request_text: string | null;
  request_raw: Buffer | null;
  response_text: string | null;
  response_raw: Buffer | null;
};

/** Selects the bodies of these keys, in their order; nulls where there is none. */
export function bodiesStatement(organizationId: string, keys: readonly RecordKey[]): Statement {
  const parameters = new Parameters();
  const { table, matches } = bindKeys(organizationId, keys, parameters);
  const text = `
    select b.*
    from ${table}
    left join lateral (
      select case when b.request_raw is null then b.request_text end as request_text, b.request_raw,
        case when b.response_raw is null then b.response_text end as response_text, b.response_raw
      from assay.bodies b where ${matches('b')} offset 0
    ) b on true
    order by k.position`;
  return { text, values: parameters.values };
}
