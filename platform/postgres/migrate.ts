/**
 * The schema: numbered migrations, each applied once, and files of functions, each applied whenever it has changed.
 *
 * A migration is frozen when it has been released. The functions it made have their current text in `functions/`, in one
 * place only, and each change of such a file raises the revision in its first line. `create or replace` keeps a
 * function's signature; a signature changes by a migration that drops the old one, and only when no gateway that calls
 * it can still be running. A trigger that needs a new function is made in the function's file.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describeError } from '#core/contracts/errors.ts';
import { settlesWithin } from '../process/deadline.ts';
import { serverOf } from './address/mod.ts';
import {
  connectPostgres,
  ignoredSettings,
  isFromStandby,
  isStoreUnavailable,
  type Sql,
  type TransactionSql,
} from './connect.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);
const FUNCTIONS = new URL('./functions/', import.meta.url);
/** "assay" in ASCII. Builds with node-pg-migrate take the same lock, so that they and this one wait for each other. */
const LOCK_VALUE = 0x6173736179;

/** The database's schema does not fit this build; the message is a sentence for the operator. */
export class SchemaMismatchError extends Error {
  override readonly name = 'SchemaMismatchError';
}

/** A file of functions, of this build or as applied; `digest` is the SHA-256 of its text. */
type FunctionFile = { name: string; revision: number; digest: string };
/** The names of migrations, in order, and the files of functions. */
type Schema = { migrations: string[]; functions: FunctionFile[] };

function sqlFiles(directory: URL): { name: string; text: string }[] {
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'));
  return files.sort().map((file) => ({
    name: file.slice(0, -'.sql'.length),
    text: readFileSync(new URL(file, directory), 'utf8'),
  }));
}

function schemaOfThisBuild(): Schema {
  const functions = sqlFiles(FUNCTIONS).map(({ name, text }) => {
    const revision = /^-- Revision ([1-9]\d*)\n/.exec(text)?.[1];
    if (revision === undefined) throw new Error(`functions/${name}.sql does not begin with its revision`);
    return { name, revision: Number(revision), digest: createHash('sha256').update(text).digest('hex') };
  });
  return { migrations: sqlFiles(MIGRATIONS).map(({ name }) => name), functions };
}

/** Returns the applied schema: empty in an empty database, without functions where node-pg-migrate migrated. */
async function appliedSchema(sql: Sql | TransactionSql): Promise<Schema> {
  // From the tables: `to_regclass` may answer from a cache of the time before this connection waited for the lock.
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'assay' and c.relname in ('migrations', 'function_files')`;
  const has = (table: string) => tables.some(({ name }) => name === table);
  const migrations = has('migrations')
    ? await sql<{ name: string }[]>`select name from assay.migrations order by id`
    : [];
  const functions = has('function_files')
    ? await sql<FunctionFile[]>`select name, revision, digest from assay.function_files`
    : [];
  return { migrations: migrations.map(({ name }) => name), functions };
}

function refuseNewer(applied: Schema, known: Schema): void {
  const newer = applied.migrations.filter((name) => !known.migrations.includes(name));
  for (const { name, revision } of applied.functions) {
    const own = known.functions.find((file) => file.name === name);
    if (own === undefined || own.revision < revision) newer.push(`functions/${name} of revision ${revision}`);
  }
  if (newer.length === 0) return;
  throw new SchemaMismatchError(
    `The database's schema is newer than this build of Assay (it has ${newer.join(', ')}): run a newer build`,
  );
}

/** Returns the names of the migrations and of the files of functions that are still to be applied. */
function missingFrom(applied: Schema, known: Schema): { migrations: string[]; functions: string[] } {
  const isApplied = (file: FunctionFile) =>
    applied.functions.some(
      ({ name, revision, digest }) =>
        name === file.name && revision === file.revision && digest === file.digest,
    );
  return {
    migrations: known.migrations.filter((name) => !applied.migrations.includes(name)),
    functions: known.functions.filter((file) => !isApplied(file)).map(({ name }) => name),
  };
}

/** The first version with views that have the rights of whoever reads. */
const OLDEST_SERVER = { number: 150_000, name: '15' };

/**
 * Refuses a server that is too old.
 * @param number as `server_version_num` has it: 140012 is 14.12
 * @internal Exported so that a test needs no old server.
 */
export function refuseOldServer(number: number): void {
  if (number >= OLDEST_SERVER.number) return;
  const version = `${Math.floor(number / 10_000)}.${number % 10_000}`;
  throw new SchemaMismatchError(
    `PostgreSQL ${version} (DATABASE_URL) is too old: Assay needs ${OLDEST_SERVER.name} or newer`,
  );
}

async function readServerVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ number: number }[]>`select current_setting('server_version_num')::int4 as number`;
  return row!.number;
}

/** Refuses a database that cannot hold every text, or takes bytes for characters. */
async function refuseOtherEncoding(sql: Sql): Promise<void> {
  const [row] = await sql<{ encoding: string }[]>`select current_setting('server_encoding') as encoding`;
  if (row!.encoding === 'UTF8') return;
  throw new SchemaMismatchError(
    `The database (DATABASE_URL) has the encoding ${row!.encoding}, but Assay needs UTF8: create it with \`encoding 'UTF8' template template0\``,
  );
}

/**
 * Refuses a migrated database without the rights of the role that confines the API: a dump holds them, but no role, and a restore
 * into a server without it leaves them out.
 */
async function refuseHalfRestored(sql: Sql): Promise<void> {
  const [row] = await sql<{ isWhole: boolean }[]>`
    select exists (select 1 from pg_policies where schemaname = 'assay' and 'assay_api' = any (roles))
       and exists (select 1 from pg_roles
                    where rolname = 'assay_api' and has_schema_privilege(oid, 'assay', 'usage')) as "isWhole"`;
  if (row!.isWhole) return;
  throw new SchemaMismatchError(
    'The database (DATABASE_URL) lacks the rights of the role assay_api, as after a restore into a server without that role: restore it anew, with the role made first (docs/deployment.md)',
  );
}

/** Bound on the first statement: the driver retries a connection that is accepted and closed again for ever. */
const FIRST_RESPONSE_MS = 10_000;

/** Advice to the operator about a pooler such as PgBouncer, in whatever mode. */
const NO_POOLER = 'connect to PostgreSQL itself, without a pooler in between (docs/deployment.md)';

function readOnlyError(sql: Sql): Error {
  return new Error(
    `PostgreSQL at ${serverOf(sql.options)} (DATABASE_URL) is read-only, as a standby is: connect to the primary`,
  );
}

/** Resolves as the first statement does. Throws an error that names the server if it does not respond. */
async function firstResponse<T>(sql: Sql, response: Promise<T>): Promise<T> {
  let reason = `no answer within ${FIRST_RESPONSE_MS} ms`;
  try {
    if (await settlesWithin(response, FIRST_RESPONSE_MS)) return await response;
  } catch (error) {
    if (isFromStandby(error)) throw readOnlyError(sql);
    if (!isStoreUnavailable(error)) throw error;
    reason = describeError(error);
    if (/startup parameter/.test(reason)) reason += `: ${NO_POOLER}`;
    // A server without TLS says so, and closes the connection when it is asked for it all the same.
    if (/before secure TLS/.test(reason)) reason += ': sslmode asks for TLS, which the server may not have';
  }
  throw new Error(`PostgreSQL at ${serverOf(sql.options)} (DATABASE_URL) cannot be used: ${reason}`);
}

/**
 * Refuses a server that is read-only, as a standby is, and a pooler that ignores the settings of a connection: the API would run
 * as the owner of all rows.
 * @throws Error with a sentence for the operator
 */
export async function checkSettings(sql: Sql): Promise<void> {
  const ignored = await firstResponse(sql, ignoredSettings(sql));
  const [row] = await sql<{ isReadOnly: boolean }[]>`
    select current_setting('transaction_read_only') = 'on' as "isReadOnly"`;
  if (row!.isReadOnly) throw readOnlyError(sql);
  if (ignored.length === 0) return;
  throw new Error(
    `PostgreSQL at ${serverOf(sql.options)} (DATABASE_URL) ignores settings of connections (${ignored.join(', ')}): ${NO_POOLER}`,
  );
}

/**
 * Checks that the database has exactly the migrations and functions of this build.
 * @throws SchemaMismatchError with a sentence that says what to do; Error with one when the server cannot be used
 */
export async function checkSchema(sql: Sql): Promise<void> {
  const known = schemaOfThisBuild();
  const applied = await firstResponse(sql, appliedSchema(sql));
  await checkSettings(sql);
  refuseNewer(applied, known);
  const missing = missingFrom(applied, known);
  const names = [...missing.migrations, ...missing.functions.map((name) => `functions/${name}`)];
  if (names.length === 0) return await refuseHalfRestored(sql);
  throw new SchemaMismatchError(
    `The database's schema is older than this build of Assay (it lacks ${names.join(', ')}): run \`npm start migrate\``,
  );
}

/** The tables that record the applied schema; `assay.migrations` is as node-pg-migrate created it. */
const OWN_TABLES = `
  do $$ begin
    -- Not \`if not exists\`: it asks for the right to create schemas also where somebody else has made this one.
    if to_regnamespace('assay') is null then create schema assay; end if;
  end $$;
  create table if not exists assay.migrations (
    id     serial primary key,
    name   varchar(255) not null,
    run_on timestamp not null
  );
  create table if not exists assay.function_files (
    name       text primary key,
    revision   integer not null,
    digest     text not null,
    applied_at timestamptz not null default now()
  )`;

/** The SQLSTATE of a statement that its user may not run. */
const PERMISSION_DENIED = '42501';

/** Runs the statements of a file. An error names the file, and the line if the server reports a position. */
async function runFile(tx: TransactionSql, directory: URL, name: string): Promise<void> {
  const text = readFileSync(new URL(`${name}.sql`, directory), 'utf8');
  try {
    // Without parameters this is the simple protocol, which takes several statements at once.
    await tx.unsafe(text);
  } catch (cause) {
    const { position } = cause as { position?: string };
    const line = position === undefined ? '' : `:${text.slice(0, Number(position)).split('\n').length}`;
    throw Object.assign(new Error(`${name}.sql${line}: ${describeError(cause)}`, { cause }), {
      code: (cause as { code?: unknown }).code,
    });
  }
}

/** Refuses a missing migration before an applied one: it was written for tables that have changed since. */
function refuseGap(applied: string[], missing: string[]): void {
  const last = applied.at(-1) ?? '';
  const late = missing.find((name) => name < last);
  if (late !== undefined)
    throw new Error(`${late} is missing, but ${last}, which follows it, has been applied`);
}

async function applyMissing(tx: TransactionSql): Promise<string[]> {
  // Not a setting of the connection, because servers before 17 would refuse it.
  await tx`select set_config(name, '0', true) from pg_settings where name = 'transaction_timeout'`;
  await tx`select pg_advisory_xact_lock(${LOCK_VALUE})`;
  const known = schemaOfThisBuild();
  const applied = await appliedSchema(tx);
  refuseNewer(applied, known);
  const missing = missingFrom(applied, known);
  if (missing.migrations.length + missing.functions.length === 0) return [];
  refuseGap(applied.migrations, missing.migrations);
  await tx.unsafe(OWN_TABLES);
  for (const name of missing.migrations) {
    await tx`insert into assay.migrations (name, run_on) values (${name}, now())`;
    await runFile(tx, MIGRATIONS, name);
  }
  for (const { name, revision, digest } of known.functions) {
    if (!missing.functions.includes(name)) continue;
    await tx`insert into assay.function_files (name, revision, digest) values (${name}, ${revision}, ${digest})
             on conflict (name) do update
               set revision = excluded.revision, digest = excluded.digest, applied_at = now()`;
    await runFile(tx, FUNCTIONS, name);
  }
  return [...missing.migrations, ...missing.functions.map((name) => `functions/${name}`)];
}

/**
 * Applies the migrations and functions that are missing, all in one transaction, and returns their names. Waits for
 * another process that is doing the same.
 * @throws SchemaMismatchError when the schema is newer than this build, or the server older than it can use
 */
export async function migrate(url: string): Promise<{ applied: string[] }> {
  const sql = connectPostgres({ url, max: 1, applicationName: 'assay-migrate', statementTimeoutMs: 0 });
  try {
    refuseOldServer(await firstResponse(sql, readServerVersion(sql)));
    await checkSettings(sql);
    const applied = await appliedSchema(sql);
    refuseNewer(applied, schemaOfThisBuild());
    await (applied.migrations.length === 0 ? refuseOtherEncoding(sql) : refuseHalfRestored(sql));
    return { applied: await sql.begin('isolation level read committed', applyMissing) };
  } catch (cause) {
    if (cause instanceof SchemaMismatchError) throw cause;
    const isDenied = (cause as { code?: unknown }).code === PERMISSION_DENIED;
    const remedy = isDenied ? '; docs/deployment.md says which rights its user needs' : '';
    throw new Error(`Cannot migrate the database: ${describeError(cause)}${remedy}`, { cause });
  } finally {
    await sql.end({ timeout: 1 });
  }
}
