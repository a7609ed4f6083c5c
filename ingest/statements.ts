/** The statements that store a batch: one `insert … select from unnest` for each table, whatever the number of rows. */
import { randomBytes } from 'node:crypto';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { BodyRow, StorableRecord, StoredScore } from './build-record.ts';
import type { RequestRow } from './request-row.ts';

/** The first columns of every table. */
type KeyRow = Pick<RequestRow, 'organization_id' | 'created_at' | 'request_id'>;
type PropertyRow = KeyRow & { pair_hash: bigint };
/** `now` is the time of the transaction to Postgres. */
type ScoreRow = KeyRow & StoredScore & { updated_at: 'now' };

/** The SQL types of a table's columns, by column name. */
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
  cost_saved_nano: 'int8',
  price_source: 'text',
  usage_estimated: 'bool',
  user_id: 'text',
  session_id: 'text',
  session_path: 'text',
  session_name: 'text',
  prompt_id: 'text',
  prompt_version: 'text',
  inputs: 'jsonb',
  experiment_id: 'text',
  expected: 'text',
  request_properties: 'jsonb',
  properties_folded: 'jsonb',
  is_stream: 'bool',
  truncated: 'bool',
  error_code: 'text',
  cached_from: 'text',
  attempts: 'jsonb',
  preview_in: 'text',
  preview_out: 'text',
};

const BODIES: Columns<KeyRow & BodyRow> = {
  ...KEY,
  request_text: 'text',
  response_text: 'text',
  request_raw: 'bytea',
  response_raw: 'bytea',
};

const PROPERTIES: Columns<PropertyRow> = { ...KEY, pair_hash: 'int8' };

const SCORES: Columns<ScoreRow> = { ...KEY, key: 'text', value: 'float8', updated_at: 'timestamptz' };

/**
 * Separates the values of a column, which is sent as one text. It is random, so that no caller can write it into a value.
 * In an array literal, every quotation mark of every body would be escaped here and unescaped by Postgres.
 */
const SEPARATOR = `\x1f${randomBytes(9).toString('base64')}`;
/** Represents null; random as well. */
const NULL = `\x1e${randomBytes(9).toString('base64')}`;

function asText(value: unknown): string {
  if (value === null) return NULL;
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
}

/** Joins values to one text. It ends with a separator: without one, a single empty value would be no value. */
function pack(values: readonly unknown[]): string {
  const texts = values.map(asText);
  texts.push('');
  return texts.join(SEPARATOR);
}

type InsertStatement = { text: string; columns: string[] };

function insertInto(table: string, types: Readonly<Record<string, string>>): InsertStatement {
  const columns = Object.keys(types);
  const names = columns.join(', ');
  const values = columns.map((name) => (types[name] === 'text' ? name : `${name}::${types[name]}`));
  const packed = columns.map((_, index) => `string_to_array($${index + 4}, $1, $2)`);
  const text = `
    insert into assay.${table} (${names})
    select ${values.join(', ')} from unnest(${packed.join(', ')}) as rows (${names}) limit $3`;
  return { text, columns };
}

/**
 * Notes the rows of `insertion` in the change feed, a change for each organization, in the same statement: so the keys need not
 * be sent and parsed twice. Returns the keys; at most `limit` of them.
 */
function noted({ text, columns }: InsertStatement, limit: number | 'all', ending = ''): InsertStatement {
  const noting = `
    with added as (${text}${ending} returning organization_id, created_at, request_id
    ), noted as (
      insert into assay.changes (organization_id, kind, created_ats, request_ids)
      select organization_id, 'record', array_agg(created_at), array_agg(request_id) from added group by organization_id
    )
    select * from added limit ${limit}`;
  return { text: noting, columns };
}

const UNLESS_KNOWN = ' on conflict do nothing';

const INSERT_REQUESTS = noted(insertInto('requests', REQUESTS), 0);
const INSERT_UNKNOWN_REQUESTS = noted(insertInto('requests', REQUESTS), 'all', UNLESS_KNOWN);
const INSERT_BODIES = insertInto('request_bodies', BODIES);
const INSERT_FRESH_BODIES = insertInto('fresh_bodies', BODIES);
const INSERT_PROPERTIES = insertInto('request_properties', PROPERTIES);
const INSERT_SCORES = insertInto('request_scores', SCORES);

/** Inserts rows, and returns those that `ending` asks for. */
async function insert<Row extends object>(
  tx: TransactionSql,
  { text, columns }: InsertStatement,
  rows: readonly object[],
  ending = '',
): Promise<Row[]> {
  if (rows.length === 0) return [];
  const packed = columns.map((name) => pack(rows.map((row) => row[name as keyof typeof row])));
  const parameters = [SEPARATOR, NULL, rows.length, ...packed];
  return await tx.unsafe<Row[]>(text + ending, parameters, { prepare: true });
}

const requestsOf = (records: readonly StorableRecord[]) => records.map(({ request }) => request);
const bodiesOf = (records: readonly StorableRecord[]) =>
  records.map((record) => ({ ...keyOf(record.request), ...record.bodies }));
const propertiesOf = (records: readonly StorableRecord[]): PropertyRow[] =>
  records.flatMap(({ request, propertyHashes }) =>
    propertyHashes.map((pair_hash) => ({ ...keyOf(request), pair_hash })),
  );
const scoresOf = (records: readonly StorableRecord[]): ScoreRow[] =>
  records.flatMap(({ request, scores }) =>
    scores.map((score) => ({ ...keyOf(request), ...score, updated_at: 'now' })),
  );

/** How large bodies are stored: compressed at once, or as they are, to be compressed later (compress-bodies.ts). */
export type LargeBodies = 'compressed' | 'fresh';

/** Characters of a record's bodies from which on they are large: for fewer, pglz takes less than the rest of the record does. */
const LEAST_LARGE = 8 * 1024;

const sizeOf = ({ bodies }: StorableRecord) => bodies.request_text.length + bodies.response_text.length;

/** Returns whether the bodies of a record are large. */
export function hasLargeBodies(record: StorableRecord): boolean {
  return sizeOf(record) >= LEAST_LARGE;
}

/**
 * Most characters of bodies in one statement, unless a single record has more. For larger ones PostgreSQL and Node take memory
 * from the system and give it back each time, which costs more than a further statement.
 */
const STATEMENT_CHARACTERS = 1_000_000;

function groupBySize(records: readonly StorableRecord[]): StorableRecord[][] {
  const groups: StorableRecord[][] = [];
  let room = 0;
  for (const record of records) {
    const size = sizeOf(record);
    if (size > room) {
      groups.push([]);
      room = STATEMENT_CHARACTERS;
    }
    groups.at(-1)!.push(record);
    room -= size;
  }
  return groups;
}

/** Inserts the bodies of records that have none yet. */
async function insertBodies(
  tx: TransactionSql,
  records: readonly StorableRecord[],
  largeBodies: LargeBodies,
): Promise<void> {
  const isFresh = (record: StorableRecord) => largeBodies === 'fresh' && hasLargeBodies(record);
  const insertInGroups = (statement: InsertStatement, some: readonly StorableRecord[]) =>
    groupBySize(some).map((group) => insert(tx, statement, bodiesOf(group)));
  await Promise.all([
    ...insertInGroups(
      INSERT_BODIES,
      records.filter((record) => !isFresh(record)),
    ),
    ...insertInGroups(INSERT_FRESH_BODIES, records.filter(isFresh)),
  ]);
}

/** Inserts records, notes the new ones in the change feed, and returns them, each once. */
export type InsertRecords = (
  tx: TransactionSql,
  records: readonly StorableRecord[],
  largeBodies?: LargeBodies,
) => Promise<readonly StorableRecord[]>;

/**
 * Inserts records that are expected to be new: an eighth less work for Postgres, which need not look for each one first.
 * @throws PostgresError with code 23505 when one of them exists
 */
export const insertNewRecords: InsertRecords = async (tx, records, largeBodies = 'compressed') => {
  // Sent together: Postgres continues with the next statement without waiting for this process.
  await Promise.all([
    insert(tx, INSERT_REQUESTS, requestsOf(records)),
    insertBodies(tx, records, largeBodies),
    insert(tx, INSERT_PROPERTIES, propertiesOf(records)),
    insert(tx, INSERT_SCORES, scoresOf(records)),
  ]);
  return records;
};

/**
 * Inserts the records that do not exist yet. An existing one is the same entry, delivered again: its key holds organization,
 * time and id, all of them from the entry itself. Its properties and scores may have been changed since, and are left as
 * they are.
 */
export const insertRecords: InsertRecords = async (tx, records, largeBodies = 'compressed') => {
  const keys = await insert<KeyRow>(tx, INSERT_UNKNOWN_REQUESTS, requestsOf(records));
  // Backwards, so that the first of two records with the same key counts: it is the one that was inserted.
  const byKey = new Map(records.toReversed().map((record) => [keyText(record.request), record]));
  const added = keys.map((key) => byKey.get(keyText(key))!);
  await Promise.all([
    // Only for records that were added: the bodies of a known one may have moved to the other table.
    insertBodies(tx, added, largeBodies),
    insert(tx, INSERT_PROPERTIES, propertiesOf(added), UNLESS_KNOWN),
    insert(tx, INSERT_SCORES, scoresOf(added), UNLESS_KNOWN),
  ]);
  return added;
};

function keyText({ organization_id, created_at, request_id }: KeyRow): string {
  return `${organization_id} ${created_at.getTime()} ${request_id}`;
}

function keyOf({ organization_id, created_at, request_id }: RequestRow): KeyRow {
  return { organization_id, created_at, request_id };
}
