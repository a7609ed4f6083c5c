import type { Config } from '#platform/config/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { checkSchema, connectPostgres, migrate, type Sql } from '#platform/postgres/mod.ts';
import { findStore, lockDataDir } from './data-dir.ts';
import { ensureFirstKey } from './first-key.ts';
import { startEmbeddedPostgres } from './postgres/server.ts';

export type StoreOptions = { config: Config; log: Logger };

const STATEMENT_TIMEOUT_MS = 30_000;
/** Long enough for a first start, which initializes a cluster and migrates before it announces the server. */
const WAIT_FOR_START_MS = 30_000;

async function withConnection<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connectPostgres({
    url,
    max: 1,
    applicationName: 'assay-cli',
    actor: 'command_line',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    await checkSchema(sql);
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

type Store = {
  url: string;
  /** True when the server runs for this command alone, so that its schema may not have been migrated. */
  isOwn: boolean;
};

/**
 * Calls `use` with Assay's database: DATABASE_URL if set; else the embedded PostgreSQL that runs in DATA_DIR; else that
 * PostgreSQL, started for the duration of the call.
 */
async function withDatabase<T>({ config, log }: StoreOptions, use: (store: Store) => Promise<T>): Promise<T> {
  if (config.databaseUrl !== null) return await use({ url: config.databaseUrl, isOwn: false });
  const lock = lockDataDir(config.dataDir);
  if (lock === null) {
    const url = await findStore(config.dataDir, WAIT_FOR_START_MS);
    if (url !== null) return await use({ url, isOwn: false });
    throw new Error(`Another process of Assay uses DATA_DIR ${config.dataDir}: try again when it is done`);
  }
  try {
    const server = await startEmbeddedPostgres({ dataDir: config.dataDir, log });
    try {
      return await use({ url: server.url, isOwn: true });
    } finally {
      await server.stop();
    }
  } finally {
    lock.release();
  }
}

/** Runs a command's work on Assay's database: the configured one, or the embedded one. */
export function withStore<T>(options: StoreOptions, work: (sql: Sql) => Promise<T>): Promise<T> {
  return withDatabase(options, async ({ url, isOwn }) => {
    if (isOwn) await migrate(url);
    return await withConnection(url, work);
  });
}

/**
 * Applies the missing migrations and returns their names. Also creates BOOTSTRAP_API_KEY where it is set, so that the key
 * works before the first separately run role is ready.
 */
export function migrateStore(options: StoreOptions): Promise<{ applied: string[] }> {
  return withDatabase(options, async ({ url }) => {
    const migrated = await migrate(url);
    const { bootstrapApiKey } = options.config;
    if (bootstrapApiKey !== null) await withConnection(url, (sql) => ensureFirstKey(sql, bootstrapApiKey));
    return migrated;
  });
}
