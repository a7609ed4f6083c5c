import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { describeError } from '#core/contracts/errors.ts';
import { settlesWithin } from '../process/deadline.ts';
import { connectPostgres, isStoreUnavailable, type Sql } from './connect.ts';

/** Everything of Assay's lives in this schema, the list of applied migrations too: it can share a database. */
const SCHEMA = 'assay';
const MIGRATIONS_TABLE = 'migrations';
const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('./migrations', import.meta.url));
/** "assay" in ASCII. Assay's own lock, so that another user of node-pg-migrate in this cluster waits for nobody. */
const LOCK_VALUE = 0x6173736179;

/** The database's schema does not fit this build; the message is a sentence for the operator. */
export class SchemaMismatchError extends Error {
  override readonly name = 'SchemaMismatchError';
}

/** The migrations of this build, in order. */
function migrationsOfThisBuild(): string[] {
  return readdirSync(MIGRATIONS_DIRECTORY)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

async function appliedMigrations(sql: Sql): Promise<string[]> {
  const [table] = await sql`select to_regclass(${`${SCHEMA}.${MIGRATIONS_TABLE}`}) is not null as exists`;
  if (table?.exists !== true) return [];
  const rows = await sql<
    { name: string }[]
  >`select name from ${sql(SCHEMA)}.${sql(MIGRATIONS_TABLE)} order by id`;
  return rows.map((row) => row.name);
}

function refuseNewer(applied: string[], known: string[]): void {
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new SchemaMismatchError(
    `The database's schema is newer than this build of Assay (it has ${unknown.join(', ')}): run a newer build`,
  );
}

/** A connection that is accepted and closed again is tried anew by the driver, for ever. */
const FIRST_ANSWER_MS = 10_000;

/** What the first statement answers, or an error that names the server that did not. */
async function firstAnswer<T>(sql: Sql, answer: Promise<T>): Promise<T> {
  const where = sql.options.host.map((host, index) => `${host}:${sql.options.port[index]}`).join(', ');
  let reason = `no answer within ${FIRST_ANSWER_MS} ms`;
  try {
    if (await settlesWithin(answer, FIRST_ANSWER_MS)) return await answer;
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error;
    reason = describeError(error);
  }
  throw new Error(`PostgreSQL at ${where} (DATABASE_URL) cannot be used: ${reason}`);
}

/**
 * Checks that the database has exactly the migrations of this build.
 * @throws SchemaMismatchError with a sentence that says what to do; Error with one when the server cannot be used
 */
export async function checkSchema(sql: Sql): Promise<void> {
  const known = migrationsOfThisBuild();
  const applied = await firstAnswer(sql, appliedMigrations(sql));
  refuseNewer(applied, known);
  const missing = known.filter((name) => !applied.includes(name));
  if (missing.length === 0) return;
  throw new SchemaMismatchError(
    `The database's schema is older than this build of Assay (it lacks ${missing.join(', ')}): run \`npm start migrate\``,
  );
}

/**
 * Applies the migrations that are missing, all in one transaction. Waits for another process that is doing the same.
 * @throws SchemaMismatchError when the schema is newer than this build
 */
export async function migrate(url: string): Promise<{ applied: string[] }> {
  const sql = connectPostgres({ url, max: 1, applicationName: 'assay-migrate', statementTimeoutMs: 0 });
  try {
    refuseNewer(await appliedMigrations(sql), migrationsOfThisBuild());
  } finally {
    await sql.end();
  }
  const silent = () => {};
  const client = new pg.Client({ connectionString: url, application_name: 'assay-migrate' });
  // A server that goes away between two statements says so by an event, which would end the process if nobody heard it;
  // the next statement fails by itself.
  client.on('error', silent);
  try {
    await client.connect();
    const migrations = await runner({
      dbClient: client,
      dir: MIGRATIONS_DIRECTORY,
      direction: 'up',
      schema: SCHEMA,
      createSchema: true,
      migrationsTable: MIGRATIONS_TABLE,
      singleTransaction: true,
      advisoryLockMode: 'wait',
      lockValue: LOCK_VALUE,
      logger: { info: silent, warn: silent, error: silent },
    });
    return { applied: migrations.map(({ name }) => name) };
  } catch (cause) {
    throw new Error(`Cannot migrate the database: ${describeError(cause)}`, { cause });
  } finally {
    await client.end().catch(silent);
  }
}
