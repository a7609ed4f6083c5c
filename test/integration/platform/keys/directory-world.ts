/** A directory of keys over a real database, behind a door that a test can shut. */
import type { Test } from 'tap';
import {
  type ApiKey,
  createKey,
  createKeyDirectory,
  createOrganization,
  type KeyDirectory,
  type Scope,
} from '#platform/keys/mod.ts';
import { createLogger, type Logger } from '#platform/observability/log.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { SecretBox } from '#platform/secrets/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { testDatabase } from '../../../support/postgres.ts';
import { type TcpProxy, tcpProxy } from '../../../support/tcp-proxy.ts';

export const SCOPES: Scope[] = ['gateway', 'read'];

export type Setting = {
  /** The directory under test, behind the proxy. */
  directory: KeyDirectory;
  /** What the operator uses, past the proxy. */
  sql: Sql;
  proxy: TcpProxy;
  organizationId: string;
  key: string;
  keyId: string;
  /** Moves the directory's clock on. */
  advance(ms: number): void;
};

export type SettingOptions = {
  /** Opens provider keys; none unless given. */
  secrets?: SecretBox;
  log?: Logger;
};

/** Keeps one server running for all settings of a file, when it runs by itself: starting one takes a second and more. */
export function keepServer(t: Test): void {
  const kept = testDatabase();
  t.before(() => kept);
  t.teardown(async () => (await kept).close());
}

/** One organization with one key, and a directory that nobody has asked yet. */
export async function setting(t: Test, options: SettingOptions = {}): Promise<Setting> {
  const database = await testDatabase();
  const { organizationId } = await createOrganization(database.sql, { name: 'acme', tier: 'pro' });
  const { key, record } = await createKey(database.sql, { organizationId, scopes: SCOPES });
  const proxy = await tcpProxy(database.url);
  const sql = connectPostgres({ url: proxy.url, max: 2, applicationName: 'test', statementTimeoutMs: 2_000 });
  let ahead = 0;
  const clock: Clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() + ahead };
  const { secrets = null, log = createLogger({ role: 'test', level: 'silent' }) } = options;
  const directory = createKeyDirectory({ sql, clock, log, nats: null, secrets });
  t.teardown(async () => {
    await directory.stop();
    await sql.end({ timeout: 1 });
    await proxy.close();
    await database.close();
  });
  const advance = (ms: number) => {
    ahead += ms;
  };
  return { directory, sql: database.sql, proxy, organizationId, key, keyId: record.keyId, advance };
}

/** Asks until the answer comes at once, from memory: so it is there, and the directory listens. */
export async function warm(directory: KeyDirectory, key: string): Promise<ApiKey> {
  let answer: ApiKey | null | Promise<ApiKey | null> = null;
  await waitFor('the key to be known', async () => {
    answer = directory.find(key);
    const isKnown = !(answer instanceof Promise);
    await answer;
    return isKnown;
  });
  if (answer === null) throw new Error('the key is not valid');
  return answer;
}
