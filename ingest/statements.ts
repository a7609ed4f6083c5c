/** The statements that store a batch: one `insert … select from unnest` a table, whatever the number of rows. */
import { randomBytes } from 'node:crypto';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { BodyRow, StorableRecord } from './build-record.ts';
import type { RequestRow } from './request-row.ts';

/** What every table's rows begin with. */
type KeyRow = Pick<RequestRow, 'organization_id' | 'created_at' | 'request_id'>;
type PropertyRow = KeyRow & { pair_hash: bigint };

/** Columns of a table by name, with their types. */
type Columns<Row> = Readonly<Record<keyof Row & string, string>>;

const KEY: Columns<KeyRow> = { organization_id: 'uuid', created_at: 'timestamptz', request_id: 'text' };

const REQUESTS: Columns<RequestRow> = {
  ...KEY,
  api_key_id: 'uuid',
  source: 'text',
  path: 'text',
  provider: 'text',
  request_model: 'text',
  response_model: 'text',
  model: 'text',
  response_id: 'text',
  response_created_at: 'timestamptz',
  status: 'int4',
  latency_ms: 'int4',
  ttft_ms: 'int4',
  prompt_tokens: 'int4',
  completion_tokens: 'int4',
  total_tokens: 'int4',
  cost_nano: 'int8',
  price_source: 'text',
  usage_estimated: 'bool',
  user_id: 'text',
  session_id: 'text',
  session_path: 'text',
  session_name: 'text',
  prompt_id: 'text',
  experiment_id: 'text',
  request_properties: 'jsonb',
  properties_folded: 'jsonb',
  is_stream: 'bool',
  truncated: 'bool',
  error_code: 'text',
  cached_from: 'text',
  attempts: 'jsonb',
};

const BODIES: Columns<KeyRow & BodyRow> = {
  ...KEY,
  request_text: 'text',
  response_text: 'text',
  request_raw: 'bytea',
  response_raw: 'bytea',
};

const PROPERTIES: Columns<PropertyRow> = { ...KEY, pair_hash: 'int8' };

/**
 * A column travels as one text: its values with this between them, which nobody outside this process can know and write
 * into a value. An array's literal would have every quotation mark of every body escaped here and read again there.
 */
const SEPARATOR = `\x1f${randomBytes(9).toString('base64')}`;
/** Stands for null, as long as none of the values is this. */
const NULL = `\x1e${randomBytes(9).toString('base64')}`;

function asText(value: unknown): string {
  if (value === null) return NULL;
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
}

/** Ends with a separator: without one, a single empty value would be no value. */
function pack(values: readonly unknown[]): string {
  const texts = values.map(asText);
  texts.push('');
  return texts.join(SEPARATOR);
}

type Statement = { text: string; columns: string[] };

function insertInto(table: string, types: Readonly<Record<string, string>>): Statement {
  const columns = Object.keys(types);
  const names = columns.join(', ');
  const values = columns.map((name) => (types[name] === 'text' ? name : `${name}::${types[name]}`));
  const packed = columns.map((_, index) => `string_to_array($${index + 4}, $1, $2)`);
  const text = `
    insert into assay.${table} (${names})
    select ${values.join(', ')} from unnest(${packed.join(', ')}) as rows (${names}) limit $3`;
  return { text, columns };
}

const INSERT_REQUESTS = insertInto('requests', REQUESTS);
const INSERT_BODIES = insertInto('request_bodies', BODIES);
const INSERT_PROPERTIES = insertInto('request_properties', PROPERTIES);

/** Inserts rows, and returns how many. */
async function insert(
  tx: TransactionSql,
  { text, columns }: Statement,
  rows: readonly object[],
  onConflict: string,
): Promise<number> {
  if (rows.length === 0) return 0;
  const packed = columns.map((name) => pack(rows.map((row) => row[name as keyof typeof row])));
  const parameters = [SEPARATOR, NULL, rows.length, ...packed];
  return (await tx.unsafe(text + onConflict, parameters, { prepare: true })).count;
}

async function insertAll(
  tx: TransactionSql,
  records: readonly StorableRecord[],
  onConflict: string,
): Promise<number> {
  const requests = records.map(({ request }) => request);
  const bodies = records.map((record) => ({ ...keyOf(record.request), ...record.bodies }));
  const properties = records.flatMap(({ request, propertyHashes }) =>
    propertyHashes.map((pair_hash) => ({ ...keyOf(request), pair_hash })),
  );
  // Given together: Postgres goes from one to the next without waiting for this process in between.
  const [added] = await Promise.all([
    insert(tx, INSERT_REQUESTS, requests, onConflict),
    insert(tx, INSERT_BODIES, bodies, onConflict),
    insert(tx, INSERT_PROPERTIES, properties, onConflict),
  ]);
  return added;
}

/** Inserts records, and returns how many were not there yet. */
export type InsertRecords = (tx: TransactionSql, records: readonly StorableRecord[]) => Promise<number>;

/**
 * For records that are new: an eighth less work for Postgres, which need not look for each of them first.
 * @throws PostgresError with code 23505 when one of them is there
 */
export const insertNewRecords: InsertRecords = (tx, records) => insertAll(tx, records, '');

/**
 * A record that is there already (the same entry, delivered again) is left as it is: its key holds organization, time
 * and id, all of them from the entry itself.
 */
export const insertRecords: InsertRecords = (tx, records) =>
  insertAll(tx, records, ' on conflict do nothing');

function keyOf({ organization_id, created_at, request_id }: RequestRow): KeyRow {
  return { organization_id, created_at, request_id };
}

/** Makes the partitions that hold these moments. In a statement of its own: it locks, and need not do so for long. */
export async function ensurePartitions(sql: Sql, moments: readonly Date[]): Promise<void> {
  await sql`select assay.ensure_partitions(moment) from unnest(${moments.map((moment) => moment.toISOString())}::timestamptz[]) as moment`;
}
