/** A directory of keys over a real database, behind a door that a test can shut. */
import type { Test } from 'tap';
import {
  type ApiKey,
  createKey,
  createKeyDirectory,
  type KeyDirectory,
  type Scope,
} from '#platform/keys/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { SecretBox } from '#platform/secrets/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import type { TcpProxy } from '../../../support/tcp-proxy.ts';
import { changesOf, createWorld, movableClock, silentLog } from '../../../support/world.ts';

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

/** Creates one organization with one key, and a directory that has not been asked yet. */
export async function setting(t: Test, options: SettingOptions = {}): Promise<Setting> {
  const world = await createWorld(t);
  const { organizationId } = await world.organization({ name: 'acme', tier: 'pro' });
  const { key, record } = await createKey(world.sql, { organizationId, scopes: SCOPES });
  const proxy = await world.proxy();
  const sql = world.connect({ url: proxy.url, statementTimeoutMs: 2_000 });
  const { clock, advance } = movableClock();
  const { secrets = null, log = silentLog } = options;
  const directory = createKeyDirectory({ sql, ...changesOf(sql), clock, log, secrets });
  t.teardown(() => directory.stop());
  return { directory, sql: world.sql, proxy, organizationId, key, keyId: record.keyId, advance };
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
