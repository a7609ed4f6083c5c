import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Clock } from '#core/clock.ts';
import {
  type ApiKey,
  createKey,
  createKeyDirectory,
  createOrganization,
  generateApiKey,
  type KeyDirectory,
  revokeKey,
  type Scope,
  setTier,
} from '#core/keys/mod.ts';
import { createLogger } from '#core/log.ts';
import { connectPostgres, type Sql } from '#core/postgres/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { testDatabase } from '../../support/postgres.ts';
import { type TcpProxy, tcpProxy } from '../../support/tcp-proxy.ts';

const SCOPES: Scope[] = ['gateway', 'read'];

type Setting = {
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

async function setting(t: Test): Promise<Setting> {
  const database = await testDatabase();
  const { organizationId } = await createOrganization(database.sql, { name: 'acme', tier: 'pro' });
  const { key, record } = await createKey(database.sql, { organizationId, scopes: SCOPES });
  const proxy = await tcpProxy(database.url);
  const sql = connectPostgres({ url: proxy.url, max: 2, applicationName: 'test', statementTimeoutMs: 2_000 });
  let ahead = 0;
  const clock: Clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() + ahead };
  const log = createLogger({ role: 'test', level: 'silent' });
  const directory = createKeyDirectory({ sql, clock, log, nats: null });
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
async function warm(directory: KeyDirectory, key: string): Promise<ApiKey> {
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

t.test('a valid key is found, with what it may do and its tier', async (t) => {
  const { directory, key, keyId, organizationId } = await setting(t);
  const found = await directory.find(key);
  t.same(found, {
    keyId,
    organizationId,
    scopes: new Set(SCOPES),
    tier: 'pro',
    logsPer5s: 8_334,
    rateLimitPolicy: null,
  });
  t.same(await warm(directory, key), found, 'and from then on at once');
});

t.test('an unknown key is not found, and one of an impossible length is not even looked up', async (t) => {
  const { directory, proxy } = await setting(t);
  t.equal(await directory.find(generateApiKey()), null);
  await proxy.cut();
  t.equal(directory.find('short'), null);
  t.equal(directory.find('x'.repeat(129)), null);
});

t.test('a revoked key is refused within a second', async (t) => {
  const { directory, sql, key, keyId } = await setting(t);
  await warm(directory, key);
  await revokeKey(sql, keyId);
  const revokedAt = performance.now();
  await waitFor('the key to be refused', async () => (await directory.find(key)) === null);
  const tookMs = performance.now() - revokedAt;
  t.comment(`refused after ${tookMs.toFixed(1)} ms`);
  t.ok(tookMs < 1_000);
});

t.test('a new key is good at once, though it was asked for before it was made', async (t) => {
  const { directory, sql, organizationId, key } = await setting(t);
  await warm(directory, key);
  const wanted = generateApiKey();
  t.equal(await directory.find(wanted), null);
  await createKey(sql, { organizationId, scopes: SCOPES, key: wanted });
  const madeAt = performance.now();
  await waitFor('the key to be accepted', async () => (await directory.find(wanted)) !== null);
  t.ok(performance.now() - madeAt < 1_000);
});

t.test('a change of tier counts within a second', async (t) => {
  const { directory, sql, key } = await setting(t);
  await warm(directory, key);
  await setTier(sql, 'acme', { tier: 'enterprise', logsPer5s: 50_000 });
  const changedAt = performance.now();
  await waitFor('the new tier', async () => (await directory.find(key))?.tier === 'enterprise');
  t.ok(performance.now() - changedAt < 1_000);
  t.equal((await directory.find(key))?.logsPer5s, 50_000);
});

t.test('while Postgres is away a known key goes on, and an unknown one is not called wrong', async (t) => {
  const { directory, proxy, key, advance } = await setting(t);
  const known = await warm(directory, key);
  await proxy.cut();
  await sleep(50);
  t.same(await directory.find(key), known);
  const startedAt = performance.now();
  for (let call = 0; call < 1_000; call += 1) await directory.find(key);
  t.ok(performance.now() - startedAt < 500, 'the outage does not slow calls with a known key');
  await t.rejects(Promise.resolve(directory.find(generateApiKey())), { code: 'store_unavailable' });

  advance(3_500_000);
  t.same(await directory.find(key), known, 'for the best part of an hour');
  advance(200_000);
  await t.rejects(Promise.resolve(directory.find(key)), { code: 'store_unavailable' }, 'not longer');
});

t.test('a key that is revoked while the directory is cut off is refused when it is back', async (t) => {
  const { directory, sql, proxy, key, keyId } = await setting(t);
  await warm(directory, key);
  await proxy.cut();
  await sleep(600);
  await revokeKey(sql, keyId);
  t.ok(await directory.find(key), 'it cannot know yet');
  await proxy.restore();
  const restoredAt = performance.now();
  await waitFor('the key to be refused', async () => (await directory.find(key)) === null);
  const tookMs = performance.now() - restoredAt;
  t.comment(`refused ${tookMs.toFixed(0)} ms after the line was back`);
  t.ok(tookMs < 3_000);
});

t.test('after an outage of any length it listens again', async (t) => {
  const { directory, sql, proxy, key, keyId } = await setting(t);
  await warm(directory, key);
  for (let outage = 0; outage < 2; outage += 1) {
    await proxy.cut();
    await sleep(1_500);
    await proxy.restore();
    await warm(directory, key);
  }
  await revokeKey(sql, keyId);
  const revokedAt = performance.now();
  await waitFor('the key to be refused', async () => (await directory.find(key)) === null);
  t.ok(performance.now() - revokedAt < 1_000);
});

t.test('a Postgres that hangs holds a call with a known key for a second at most', async (t) => {
  const { directory, proxy, key, advance } = await setting(t);
  const known = await warm(directory, key);
  proxy.freeze();
  advance(31_000);
  const startedAt = performance.now();
  t.same(await directory.find(key), known);
  t.ok(performance.now() - startedAt < 1_500);
  proxy.thaw();
});

t.test('a notification that gets lost is made up for within 30 seconds', async (t) => {
  const { directory, sql, key, keyId, advance } = await setting(t);
  await warm(directory, key);
  await sql`alter table assay.api_keys disable trigger keys_changed`;
  await revokeKey(sql, keyId);
  await sleep(100);
  t.ok(await directory.find(key), 'nobody has told it');
  advance(30_000);
  t.equal(await directory.find(key), null);
});

t.test('a change of one organization leaves the keys of the others known', async (t) => {
  const { directory, sql, proxy, key } = await setting(t);
  const other = await createOrganization(sql, { name: 'globex' });
  const { key: otherKey } = await createKey(sql, { organizationId: other.organizationId, scopes: SCOPES });
  await sleep(100);
  await warm(directory, key);
  await warm(directory, otherKey);
  await setTier(sql, 'globex', { tier: 'pro', logsPer5s: null });
  await waitFor('the change to arrive', async () => (await directory.find(otherKey))?.tier === 'pro');
  await proxy.cut();
  t.ok(await directory.find(key), 'an outage in this very moment is none for them');
});
