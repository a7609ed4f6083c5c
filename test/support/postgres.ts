/**
 * Real PostgreSQL for tests: a fresh database each time, copied from a migrated template. `npm test` runs one server for
 * all files and passes its url in ASSAY_TEST_POSTGRES_URL; a file run by itself starts a server of its own.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres, migrate, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../supervisor/postgres/server.ts';
import { makeMemoryDirectory } from './memory-directory.ts';
import { tether } from './tether.ts';

export type TestDatabase = {
  /** Connects as the owner of everything in it. */
  url: string;
  sql: Sql;
  /** Closes `sql` and drops the database. */
  close(): Promise<void>;
};

export type TestServer = { url: string; stop(): Promise<void> };

/** What is written need not outlive a power cut here. */
const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '256MB',
};

/** The process id of the PostgreSQL server of a data directory, as it has written it down. */
export function postgresPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** A PostgreSQL server in a temporary directory, which goes when the server stops or this process ends. */
export async function startTestServer(): Promise<TestServer & { server: EmbeddedPostgres }> {
  const dataDir = makeMemoryDirectory('assay-test-postgres-');
  const log = createLogger({ role: 'test', level: 'error' });
  const server = await startEmbeddedPostgres({ dataDir, log, settings: FAST_SETTINGS });
  tether({ pid: postgresPid(dataDir), ended: server.exited, signal: 'QUIT', directory: dataDir });
  return {
    url: server.url,
    server,
    async stop() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

let ownServer: { url: string; users: number; starting: Promise<TestServer> } | undefined;

/** The server that all tests share, or this process's own, which the last user stops. */
async function acquireServer(): Promise<TestServer> {
  const shared = process.env.ASSAY_TEST_POSTGRES_URL;
  if (shared !== undefined && shared !== '') return { url: shared, stop: async () => {} };
  ownServer ??= { url: '', users: 0, starting: startTestServer() };
  const current = ownServer;
  current.users += 1;
  const { url, stop } = await current.starting;
  return {
    url,
    async stop() {
      current.users -= 1;
      if (current.users > 0) return;
      ownServer = undefined;
      await stop();
    },
  };
}

const SCHEMA = ['migrations', 'functions'].map(
  (name) => new URL(`../../platform/postgres/${name}/`, import.meta.url),
);

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** The template's name follows the migrations and functions, so a changed one is never met by an old template. */
function templateName(): string {
  const digest = createHash('sha256');
  for (const directory of SCHEMA) {
    for (const file of readdirSync(directory).sort()) digest.update(readFileSync(new URL(file, directory)));
  }
  return `assay_template_${digest.digest('hex').slice(0, 12)}`;
}

/** Makes the template unless it is there; one process at a time, the others wait. */
async function ensureTemplate(admin: Sql, url: string): Promise<string> {
  const template = templateName();
  const unfinished = `${template}_new`;
  // Databases are not made inside a transaction: it holds the lock, and they are made beside it.
  await admin.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('assay test template'))`;
    const [existing] = await admin`select 1 from pg_database where datname = ${template}`;
    if (existing !== undefined) return;
    await admin`drop database if exists ${admin(unfinished)} with (force)`;
    await admin`create database ${admin(unfinished)}`;
    await migrate(withDatabase(url, unfinished));
    await admin`alter database ${admin(unfinished)} rename to ${admin(template)}`;
  });
  return template;
}

/** A transaction that has done `work`, and stays open until it is ended: committed. */
export async function openTransaction(
  sql: Sql,
  work: (tx: TransactionSql) => Promise<unknown>,
): Promise<{ end(): Promise<void> }> {
  const ending = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const done = sql.begin(async (tx) => {
    await work(tx);
    begun.resolve();
    await ending.promise;
  });
  done.catch(begun.reject);
  await begun.promise;
  return {
    async end() {
      ending.resolve();
      await done;
    },
  };
}

/** Connects as the role of the management API, which sees one organization at a time. To be ended. */
export function connectAsApi(
  url: string,
  { max = 1, statementTimeoutMs = 5_000 }: { max?: number; statementTimeoutMs?: number } = {},
): Sql {
  return connectPostgres({ url, max, role: 'assay_api', applicationName: 'test-api', statementTimeoutMs });
}

/** A fresh, migrated database (`migrated: false`: an empty one). Close it when done. */
export async function testDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const server = await acquireServer();
  const admin = connectPostgres({
    url: server.url,
    max: 2,
    applicationName: 'test-admin',
    statementTimeoutMs: 60_000,
  });
  const database = `assay_test_${randomBytes(6).toString('hex')}`;
  if (options.migrated === false) {
    await admin`create database ${admin(database)}`;
  } else {
    const template = await ensureTemplate(admin, server.url);
    // By file copy: with fsync off it is quicker than by WAL.
    await admin`create database ${admin(database)} template ${admin(template)} strategy file_copy`;
  }
  const url = withDatabase(server.url, database);
  const sql = connectPostgres({ url, max: 5, applicationName: 'test', statementTimeoutMs: 60_000 });
  return {
    url,
    sql,
    async close() {
      await sql.end({ timeout: 5 });
      await admin`drop database ${admin(database)} with (force)`;
      await admin.end({ timeout: 5 });
      await server.stop();
    },
  };
}
