/**
 * Builds what a test runs on, in this process and in any combination: a database, providers, proxies and roles. Each part
 * is stopped with its test, the last one first.
 *
 * @example
 * const world = await createWorld(t);
 * const { keyWith } = await world.organization();
 * const provider = await world.provider();
 * const gateway = await world.start('gateway', { OPENAI_BASE_URL: provider.url });
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '#platform/config/mod.ts';
import { createKey, createOrganization, type Scope } from '#platform/keys/mod.ts';
import { type ChangeWatcher, createChangeWatcher, type NatsAddress } from '#platform/nats/mod.ts';
import { createLogger, type Logger } from '#platform/observability/log.ts';
import { connectPostgres, createListener, type Listener, type Sql } from '#platform/postgres/mod.ts';
import { type Clock, systemClock } from '#platform/process/clock.ts';
import type { Role } from '#platform/process/lifecycle.ts';
import type { StartApiOptions } from '../../api/mod.ts';
import { type NatsOptions, type NatsServer, startNats } from './nats.ts';
import { type TestDatabase, testDatabase } from './postgres.ts';
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts';
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts';

/** A test, or anything else that ends, as far as its parts have to know. */
export type Owner = { teardown(stop: () => Promise<unknown> | unknown): void };

type Environment = Record<string, string>;

/** A database, as far as its users have to know. */
export type Database = Pick<TestDatabase, 'url' | 'sql'>;

export type TestOrganization = {
  organizationId: string;
  /** Creates an API key. */
  keyWith(scopes: readonly Scope[]): Promise<string>;
};

export type RunningRole = {
  /** `http://127.0.0.1:port`; empty for a role that does not listen. */
  url: string;
  dataDir: string;
  /** Stops it before its test ends. */
  stop(): Promise<void>;
};

export type World = {
  database: Database;
  /** Owns everything in the database. */
  sql: Sql;
  /** Opens a pool, on the database unless `url` names another way to it. */
  connect(options?: Partial<Parameters<typeof connectPostgres>[0]>): Sql;
  /** Puts a proxy before the database. */
  proxy(): Promise<TcpProxy>;
  provider(): Promise<ScriptedProvider>;
  nats(options?: NatsOptions): Promise<NatsServer>;
  /** Creates a directory. */
  directory(): string;
  organization(options?: Partial<Parameters<typeof createOrganization>[1]>): Promise<TestOrganization>;
  /**
   * Starts a role on free ports with a data directory of its own; `environment` overrides configuration variables.
   * @throws Error with the problems of the configuration
   */
  start(name: RoleName, environment?: Environment, log?: Logger): Promise<RunningRole>;
};

export const silentLog = createLogger({ role: 'test', level: 'silent' });

/** Starts the API as main.ts does. */
async function startTestApi(options: Omit<StartApiOptions, 'retryDeadLetter'>): Promise<Role> {
  const { startApi } = await import('../../api/mod.ts');
  return await startApi({
    ...options,
    retryDeadLetter: async (...retry) => (await import('../../ingest/mod.ts')).retryDeadLetter(...retry),
  });
}

/** Imported when they are started: most tests need one or two. */
const ROLES = {
  gateway: async () => (await import('../../gateway/mod.ts')).startGateway,
  api: async () => startTestApi,
  ingest: async () => (await import('../../ingest/mod.ts')).startIngest,
  evaluators: async () => (await import('../../evaluators/mod.ts')).startEvaluators,
};
type RoleName = keyof typeof ROLES;

/**
 * Reads a configuration.
 * @throws Error with its problems
 */
export function configOf(environment: Environment): Config {
  const read = readConfig(environment);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.config;
}

/** Creates a directory that goes with its test. */
export function temporaryDirectory(owner: Owner): string {
  const directory = mkdtempSync(join(tmpdir(), 'assay-test-'));
  owner.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Starts a provider that goes with its test. */
export async function scriptedProvider(owner: Owner): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider();
  owner.teardown(() => provider.stop());
  return provider;
}

/** Creates a database that goes with its test. */
export async function databaseFor(owner: Owner, options?: { migrated?: boolean }): Promise<TestDatabase> {
  const database = await testDatabase(options);
  owner.teardown(() => database.close());
  return database;
}

/** Returns what a directory or a cache learns of changes by: Postgres and, if there is an address, NATS. */
export function changesOf(
  sql: Sql,
  address: NatsAddress | null = null,
): { listener: Listener; watcher: ChangeWatcher } {
  return {
    listener: createListener({ sql, log: silentLog }),
    watcher: createChangeWatcher({ address, name: 'test', log: silentLog }),
  };
}

/** Returns the machine's clock, which `advance` moves on. */
export function movableClock(): { clock: Clock; advance(ms: number): void } {
  let aheadMs = 0;
  const { now, monotonic } = systemClock;
  return {
    clock: { now: () => now() + aheadMs, monotonic: () => monotonic() + aheadMs },
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

/** Creates a world on a fresh database, or on one that its creator closes. */
export async function createWorld(owner: Owner, given?: Database): Promise<World> {
  const database = given ?? (await databaseFor(owner));
  const { sql, url } = database;
  const directory = () => temporaryDirectory(owner);
  let organizations = 0;

  async function organization({ name = '', ...rest } = {}): Promise<TestOrganization> {
    organizations += 1;
    const named = { ...rest, name: name === '' ? `organization ${organizations}` : name };
    const { organizationId } = await createOrganization(sql, named);
    const keyWith = async (scopes: readonly Scope[]) =>
      (await createKey(sql, { organizationId, scopes })).key;
    return { organizationId, keyWith };
  }

  async function start(
    name: RoleName,
    environment: Environment = {},
    log: Logger = silentLog,
  ): Promise<RunningRole> {
    const startRole = await ROLES[name]();
    const config = configOf({
      DATA_DIR: environment.DATA_DIR ?? directory(),
      DATABASE_URL: url,
      GATEWAY_PORT: '0',
      API_PORT: '0',
      // Whatever a test has left open.
      SHUTDOWN_TIMEOUT_MS: '500',
      ...environment,
    });
    const role = await startRole({ config, log, clock: systemClock });
    let stopping: Promise<void> | undefined;
    const stop = () => {
      stopping ??= role.stop();
      return stopping;
    };
    owner.teardown(stop);
    return { url: role.address ?? '', dataDir: config.dataDir, stop };
  }

  return {
    database,
    sql,
    directory,
    organization,
    start,
    provider: () => scriptedProvider(owner),
    connect: ({ max = 2, statementTimeoutMs = 5_000, ...options } = {}) => {
      const pool = connectPostgres({ url, max, applicationName: 'test', statementTimeoutMs, ...options });
      owner.teardown(() => pool.end({ timeout: 1 }));
      return pool;
    },
    proxy: async () => {
      const proxy = await tcpProxy(url);
      owner.teardown(() => proxy.close());
      return proxy;
    },
    nats: async (options) => {
      const nats = await startNats(options);
      owner.teardown(() => nats[Symbol.asyncDispose]());
      return nats;
    },
  };
}
