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
  /** Bytes of both bodies together, as they are sent, and of the members that come with them. */
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

/** None of them. */
export const NOTHING_MORE: Included = { includeInputs: false, includeExpected: false };

/** Returns the columns of a record. */
export function recordColumns(included: Included): readonly string[] {
  return [...COLUMNS, ...includedColumns(included)];
}

function includedColumns({ includeInputs, includeExpected }: Included): string[] {
  return [
    includeInputs ? 'r.inputs::text' : 'null::text as inputs',
    includeExpected ? 'r.expected' : 'null::text as expected',
  ];
}

/** Postgres keeps the length beside a large value, so that this reads no bodies. */
export const BODY_BYTES =
  'case when b.request_raw is null then octet_length(b.request_text) else octet_length(b.request_raw) end::int8 + ' +
  'case when b.response_raw is null then octet_length(b.response_text) else octet_length(b.response_raw) end';

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

/** Writes the bytes of the members that come with the bodies. Postgres has to write inputs as text for that. */
function includedBytes({ includeInputs, includeExpected }: Included): string {
  return [
    '0::int8',
    ...(includeInputs ? ['coalesce(octet_length(r.inputs::text), 0)'] : []),
    ...(includeExpected ? ['coalesce(octet_length(r.expected), 0)'] : []),
  ].join(' + ');
}

/**
 * Selects the records with these keys, in their order, without the members that come with the bodies. Laterals are fenced by
 * `offset 0`, so that each key is looked up by primary key, whatever Postgres estimates for the rest.
 */
export function recordsStatement(
  organizationId: string,
  keys: readonly RecordKey[],
  included: Included,
): Statement {
  const parameters = new Parameters();
  const { table, matches } = bindKeys(organizationId, keys, parameters);
  const text = `
    select r.*, (coalesce(b.body_bytes, 0) + r.included_bytes)::float8 as body_bytes, s.scores
    from ${table}
    cross join lateral (
      select ${recordColumns(NOTHING_MORE).join(', ')}, ${includedBytes(included)} as included_bytes
      from assay.requests r where ${matches('r')} offset 0
    ) r
    left join lateral (
      select ${BODY_BYTES} as body_bytes from assay.bodies b where ${matches('b')} offset 0
    ) b on true
    left join lateral (
      select json_object_agg(s.key, s.value order by s.key)::text as scores
      from assay.request_scores s where ${matches('s')}
    ) s on true
    order by k.position`;
  return { text, values: parameters.values };
}

/** A row of `bodiesStatement`: each body as bytes where those differ from the text that filters search. */
export type BodyRow = {
  request_text: string | null;
  request_raw: Buffer | null;
  response_text: string | null;
  response_raw: Buffer | null;
  inputs: string | null;
  expected: string | null;
};

/** Selects the bodies of these keys, and the members that come with them, in the order of the keys; nulls where there is none. */
export function bodiesStatement(
  organizationId: string,
  keys: readonly RecordKey[],
  included: Included,
): Statement {
  const parameters = new Parameters();
  const { table, matches } = bindKeys(organizationId, keys, parameters);
  const members = includedColumns(included).join(', ');
  const record =
    included.includeInputs || included.includeExpected
      ? `left join lateral (select ${members} from assay.requests r where ${matches('r')} offset 0) r on true`
      : `cross join (select ${members}) r`;
  const text = `
    select b.*, r.inputs, r.expected
    from ${table}
    left join lateral (
      select case when b.request_raw is null then b.request_text end as request_text, b.request_raw,
        case when b.response_raw is null then b.response_text end as response_text, b.response_raw
      from assay.bodies b where ${matches('b')} offset 0
    ) b on true
    ${record}
    order by k.position`;
  return { text, values: parameters.values };
}
