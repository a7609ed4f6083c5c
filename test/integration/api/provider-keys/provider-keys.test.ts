import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { PROVIDER_NAMES } from '#core/contracts/provider.ts';
import { createKeyDirectory } from '#platform/keys/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import type { TestApi } from '../../../support/api.ts';
import { waitFor } from '../../../support/assay.ts';
import { natsIsMissing } from '../../../support/nats.ts';
import { changesOf, createWorld, silentLog } from '../../../support/world.ts';
import { list, PATH, put, secretKeyOf, startProviderKeyApi } from './world.ts';

const SECRET = 'sk-proj-4f9b1c7e2a8d6053-Zx9Q';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let api: TestApi;
t.before(async () => {
  api = await startProviderKeyApi(t);
});
t.beforeEach(() => api.database.sql`delete from assay.provider_keys`);

t.test('a provider key is stored, listed with its last characters only, and removed', async (t) => {
  t.same(await list(api), []);
  const stored = await put(api, 'openai', SECRET);
  t.match(stored, { provider: 'openai', hint: 'Zx9Q', readable: true, created_at: TIME, updated_at: TIME });
  t.same(Object.keys(stored), ['provider', 'hint', 'readable', 'created_at', 'updated_at']);
  await put(api, 'anthropic', 'sk-ant-0123456789abcdef');
  t.same(
    (await list(api)).map(({ provider, hint }) => [provider, hint]),
    [
      ['anthropic', 'cdef'],
      ['openai', 'Zx9Q'],
    ],
    'all of them, by name',
  );
  t.same((await api.call(`${PATH}/openai`)).body, { data: stored, error: null });
  t.same((await api.call(`${PATH}/openai/`)).body.data, stored, 'a slash at the end does not matter');

  const removed = await api.call(`${PATH}/openai`, { method: 'DELETE' });
  t.same([removed.status, removed.body], [200, { data: null, error: null }]);
  for (const method of ['GET', 'DELETE']) {
    const answer = await api.call(`${PATH}/openai`, { method });
    t.same(
      [answer.status, answer.body.error],
      [404, 'There is no stored key of the provider openai'],
      method,
    );
  }
  t.same(
    (await list(api)).map(({ provider }) => provider),
    ['anthropic'],
  );
});

t.test('a provider key can be replaced repeatedly, and keeps the time it was first stored', async (t) => {
  const first = await put(api, 'openai', SECRET);
  const again = await put(api, 'openai', SECRET);
  t.same({ ...again, updated_at: '' }, { ...first, updated_at: '' }, 'the same key twice is that key');
  const second = await put(api, 'openai', 'sk-proj-another-key-AbCd');
  t.match(second, { hint: 'AbCd', created_at: first.created_at });
  t.ok(second.updated_at >= again.updated_at);
  t.same(await list(api), [second]);
  const puts = await Promise.all(Array.from({ length: 10 }, () => put(api, 'openai', SECRET)));
  t.ok(
    puts.every(({ hint }) => hint === 'Zx9Q'),
    'also by many at once',
  );
  t.equal((await list(api)).length, 1);
});

t.test('every provider can have a provider key', async (t) => {
  for (const provider of PROVIDER_NAMES) await put(api, provider, `${SECRET}-${provider}`);
  t.same(
    (await list(api)).map(({ provider }) => provider),
    PROVIDER_NAMES.toSorted(),
  );
});

t.test('a short provider key has no hint', async (t) => {
  t.equal((await put(api, 'custom', 'x')).hint, null);
  t.equal((await put(api, 'custom', 'k'.repeat(19))).hint, null);
  t.equal((await put(api, 'custom', `${'k'.repeat(16)}last`)).hint, 'last');
  t.equal((await put(api, 'custom', 'k'.repeat(4_096))).hint, 'kkkk');
});

t.test('any stored provider key is decrypted unchanged by another process', async (t) => {
  const sql = connectPostgres({
    url: api.database.url,
    max: 1,
    applicationName: 'test',
    statementTimeoutMs: 5_000,
  });
  const directory = createKeyDirectory({
    sql,
    ...changesOf(sql),
    clock: systemClock,
    log: createLogger({ role: 'test', level: 'silent' }),
    secrets: createSecretBox([Buffer.alloc(32, 7)]),
  });
  t.teardown(async () => {
    await directory.stop();
    await sql.end();
  });
  const { organizationId, key: apiKey } = api.own;
  let slowestMs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PROVIDER_NAMES),
      fc.stringMatching(/^[!-~]{1,300}$/),
      async (provider, key) => {
        await put(api, provider, key);
        const startedAt = performance.now();
        await waitFor('the key', async () => {
          const found = (await directory.find(apiKey))?.providerKeys.get(provider);
          return found === key && (await directory.providerKeysOf(organizationId)).get(provider) === key;
        });
        slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      },
    ),
    { numRuns: 100 },
  );
  t.comment(`known elsewhere after ${slowestMs.toFixed(0)} ms at most`);
  t.ok(slowestMs < 5_000);
  await api.call(`${PATH}/openai`, { method: 'DELETE' });
  await waitFor(
    'the removal',
    async () => (await directory.find(apiKey))?.providerKeys.has('openai') === false,
  );
});

t.test(
  'with another SECRET_KEY a stored provider key is listed as not readable, and can be replaced',
  async (t) => {
    await put(api, 'openai', SECRET);
    await put(api, 'groq', SECRET);
    // As another API on the same database; the key of `api` is good for it too.
    const later = await startProviderKeyApi(t, secretKeyOf(8), { database: await sameDatabase(api) });
    const seenLater = await list(later, api.own.key);
    t.match(seenLater, [
      { provider: 'groq', hint: null, readable: false },
      { provider: 'openai', hint: null, readable: false },
    ]);
    t.match(await put(later, 'openai', SECRET, api.own.key), { hint: 'Zx9Q', readable: true });
    t.match(await list(api), [
      { provider: 'groq', readable: true },
      { provider: 'openai', readable: false },
    ]);
    t.equal((await later.call(`${PATH}/groq`, { method: 'DELETE', key: api.own.key })).status, 200);
  },
);

t.test('with both SECRET_KEYs configured all provider keys are readable', async (t) => {
  await put(api, 'openai', SECRET);
  const both = `${secretKeyOf(8)},${secretKeyOf(7)}`;
  const later = await startProviderKeyApi(t, both, { database: await sameDatabase(api) });
  t.match(await list(later, api.own.key), [{ hint: 'Zx9Q', readable: true }]);
});

t.test(
  'without SECRET_KEY no provider key can be stored, and stored ones can be listed and removed',
  async (t) => {
    await put(api, 'openai', SECRET);
    const bare = await startProviderKeyApi(t, '', { database: await sameDatabase(api) });
    const refused = await bare.call(`${PATH}/groq`, { method: 'PUT', body: { key: SECRET } });
    t.same(
      [refused.status, refused.body],
      [400, { data: null, error: 'Provider keys cannot be stored here, because SECRET_KEY is not set' }],
    );
    t.match(await list(bare, api.own.key), [{ provider: 'openai', readable: false }]);
    t.equal((await bare.call(`${PATH}/openai`, { method: 'DELETE', key: api.own.key })).status, 200);
  },
);

t.test(
  'a change of provider keys is announced over NATS, where it is configured',
  { skip: natsIsMissing() },
  async (t) => {
    const database = await sameDatabase(api);
    const nats = await (await createWorld(t, database)).nats();
    const behindPooler = await startProviderKeyApi(t, secretKeyOf(7), {
      database,
      environment: { NATS_URL: nats.url },
    });
    const directory = createKeyDirectory({
      sql: database.sql,
      ...changesOf(database.sql, { servers: [nats.url], credentialsFile: null }),
      clock: systemClock,
      log: silentLog,
      secrets: createSecretBox([Buffer.alloc(32, 7)]),
    });
    t.teardown(async () => {
      await directory.stop();
      await api.database.sql`alter table assay.provider_keys enable trigger provider_keys_changed`;
    });
    // As behind a pooler in transaction mode: no notification arrives.
    await api.database.sql`alter table assay.provider_keys disable trigger provider_keys_changed`;
    const { organizationId } = api.own;
    await waitFor('the directory to be listening', async () => {
      await directory.providerKeysOf(organizationId);
      return !(directory.providerKeysOf(organizationId) instanceof Promise);
    });
    const startedAt = performance.now();
    await waitFor('the first announcement to be heard', async () => {
      await put(behindPooler, 'openai', SECRET, api.own.key);
      return (await directory.providerKeysOf(organizationId)).get('openai') === SECRET;
    });
    t.ok(performance.now() - startedAt < 5_000);
    await behindPooler.call(`${PATH}/openai`, { method: 'DELETE', key: api.own.key });
    const removedAt = performance.now();
    await waitFor('the removal', async () => (await directory.providerKeysOf(organizationId)).size === 0);
    t.ok(performance.now() - removedAt < 5_000);

    await nats.kill();
    const withoutNats = performance.now();
    t.match(await put(behindPooler, 'openai', SECRET, api.own.key), { readable: true });
    t.ok(performance.now() - withoutNats < 3_000, 'without it a change is none the worse');
  },
);

t.test('the example in docs/guides/provider-keys.md has the fields of the response', async (t) => {
  const document = readFileSync(
    join(import.meta.dirname, '../../../../docs/guides/provider-keys.md'),
    'utf8',
  );
  const example = JSON.parse(/```json\n(.*?)```/s.exec(document)![1]!);
  const stored = await put(api, 'openai', SECRET);
  t.same(Object.keys(example.data), Object.keys(stored));
});

/** Returns the database of an API, for another one. */
async function sameDatabase({ database }: TestApi) {
  // The other one creates organizations of these names.
  await database.sql`update assay.organizations set name = gen_random_uuid()::text where name in ('own', 'other')`;
  return database;
}
