/** The provider keys that come with an API key, and those of calls that are made without one. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import type { ProviderName } from '#core/contracts/provider.ts';
import { createKey, createOrganization, type KeyDirectory, revokeKey } from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { NO_PROVIDER_KEYS, type ProviderKeys, sealProviderKey } from '#platform/provider-keys/mod.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { databaseFor } from '../../../support/world.ts';
import { SCOPES, type Setting, setting, warm } from '../keys/directory-world.ts';

// Keeps a server of this file's own running between tests, where there is no shared one.
await databaseFor(t);

const secretKey = randomBytes(32);
const secrets = createSecretBox([secretKey]);

/** As the API does it. */
async function store(
  sql: Sql,
  organizationId: string,
  keys: { [provider in ProviderName]?: string },
  box = secrets,
): Promise<void> {
  for (const [provider, key] of Object.entries(keys)) {
    const sealed = sealProviderKey(box, { organizationId, provider }, key);
    await sql`
      insert into assay.provider_keys (organization_id, provider, sealed, created_at, updated_at)
      values (${organizationId}, ${provider}, ${sealed}, now(), now())
      on conflict (organization_id, provider) do update set sealed = excluded.sealed`;
  }
}

async function keysOf(directory: KeyDirectory, key: string): Promise<ProviderKeys> {
  return (await directory.find(key))!.providerKeys;
}

/** Asks until the answer comes at once. */
async function warmOrganization(directory: KeyDirectory, organizationId: string): Promise<ProviderKeys> {
  await waitFor('the provider keys to be known', async () => {
    const answer = directory.providerKeysOf(organizationId);
    await answer;
    return !(answer instanceof Promise);
  });
  return directory.providerKeysOf(organizationId);
}

/** Returns the milliseconds until `probe` is true. */
async function measure(what: string, probe: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now();
  await waitFor(what, probe);
  return performance.now() - startedAt;
}

/** Stores a key of OpenAI's, and waits until the directory was told: news that come later would make it forget what it knows. */
async function storeTold({ directory, sql, organizationId, key }: Setting, openai: string): Promise<void> {
  await warm(directory, key);
  await warmOrganization(directory, organizationId);
  await store(sql, organizationId, { openai });
  await measure('the news', async () => (await keysOf(directory, key)).get('openai') === openai);
  await warm(directory, key);
  await warmOrganization(directory, organizationId);
}

t.test(
  'API keys that are looked up together have the provider keys of their own organizations',
  async (t) => {
    const { directory, sql, organizationId, key } = await setting(t, { secrets });
    const other = await createOrganization(sql, { name: 'globex' });
    const ofOther = await createKey(sql, { organizationId: other.organizationId, scopes: SCOPES });
    const revoked = await createKey(sql, { organizationId, scopes: SCOPES });
    await revokeKey(sql, revoked.record.keyId);
    await store(sql, organizationId, { openai: 'sk-acme', anthropic: 'sk-ant-acme' });
    await store(sql, other.organizationId, { openai: 'sk-globex' });
    // The first two are asked for alone, the others in one statement.
    const wanted = [
      'unknown'.repeat(4),
      'made up'.repeat(4),
      revoked.key,
      key,
      'none'.repeat(8),
      ofOther.key,
    ];
    const found = await Promise.all(wanted.map((one) => directory.find(one)));
    t.same(
      found.map((one) => (one === null ? null : Object.fromEntries(one.providerKeys))),
      [null, null, null, { openai: 'sk-acme', anthropic: 'sk-ant-acme' }, null, { openai: 'sk-globex' }],
    );
  },
);

t.test('an API key is found with the provider keys of its organization', async (t) => {
  const { directory, sql, organizationId, key } = await setting(t, { secrets });
  const other = await createOrganization(sql, { name: 'globex' });
  const { key: otherKey } = await createKey(sql, { organizationId: other.organizationId, scopes: SCOPES });
  await store(sql, organizationId, { openai: 'sk-acme-openai', mistral: 'sk-acme-mistral' });
  const keys = await keysOf(directory, key);
  t.same(Object.fromEntries(keys), { openai: 'sk-acme-openai', mistral: 'sk-acme-mistral' });
  t.equal(await directory.providerKeysOf(organizationId), keys, 'the very same without the API key');
  const second = await createKey(sql, { organizationId, scopes: SCOPES });
  t.equal(await keysOf(directory, second.key), keys, 'and with another one');
  t.equal(await keysOf(directory, otherKey), NO_PROVIDER_KEYS, 'another organization has none of them');
  t.equal(await directory.providerKeysOf(other.organizationId), NO_PROVIDER_KEYS);
});

t.test('a stored, replaced or removed provider key takes effect within a second', async (t) => {
  const { directory, sql, organizationId, key } = await setting(t, { secrets });
  const changes: [what: string, change: () => Promise<unknown>, openai: string | undefined][] = [
    ['stored', () => store(sql, organizationId, { openai: 'sk-first' }), 'sk-first'],
    ['replaced', () => store(sql, organizationId, { openai: 'sk-second' }), 'sk-second'],
    ['removed', () => sql`delete from assay.provider_keys`, undefined],
  ];
  for (const [what, change, openai] of changes) {
    await warm(directory, key);
    await warmOrganization(directory, organizationId);
    await change();
    const tookMs = await measure(what, async () => {
      const keys = await keysOf(directory, key);
      return keys.get('openai') === openai && (await directory.providerKeysOf(organizationId)) === keys;
    });
    t.comment(`${what}: known after ${tookMs.toFixed(1)} ms`);
    t.ok(tookMs < 1_000, what);
  }
});

t.test('a change of one organization leaves the provider keys of others cached', async (t) => {
  const { directory, sql, proxy, organizationId } = await setting(t, { secrets });
  const { organizationId: otherId } = await createOrganization(sql, { name: 'globex' });
  const changeOther = async (keys: { [provider in ProviderName]?: string }, count: number) => {
    await warmOrganization(directory, otherId);
    await store(sql, otherId, keys);
    const isKnown = async () => (await directory.providerKeysOf(otherId)).size === count;
    await waitFor('the change to arrive', isKnown);
  };
  await warmOrganization(directory, otherId);
  await store(sql, organizationId, { openai: 'sk-acme' });
  // Notifications come in the order of the changes: with this one, that of the store before has arrived.
  await changeOther({ openai: 'sk-globex' }, 1);
  const known = await warmOrganization(directory, organizationId);
  await changeOther({ mistral: 'sk-globex' }, 2);
  await proxy.cut();
  t.equal(await directory.providerKeysOf(organizationId), known);
});

t.test(
  'while Postgres is unavailable cached provider keys are used, and others rejected as unavailable',
  async (t) => {
    const world = await setting(t, { secrets });
    const { directory, sql, proxy, organizationId, key, advance } = world;
    const other = await createOrganization(sql, { name: 'globex' });
    await storeTold(world, 'sk-acme');
    const known = await warmOrganization(directory, organizationId);
    await proxy.cut();
    await sleep(50);
    t.equal(await keysOf(directory, key), known);
    t.equal(await directory.providerKeysOf(organizationId), known);
    await t.rejects(
      Promise.resolve(directory.providerKeysOf(other.organizationId)),
      { code: 'store_unavailable', message: /provider keys of the organization cannot be read now/ },
      'one that is not known may have a key of its own',
    );
    advance(3_500_000);
    t.equal(await directory.providerKeysOf(organizationId), known, 'for the best part of an hour');
    advance(200_000);
    await t.rejects(Promise.resolve(directory.providerKeysOf(organizationId)), { code: 'store_unavailable' });
  },
);

t.test('a change of provider keys missed during a disconnection takes effect after it', async (t) => {
  const world = await setting(t, { secrets });
  const { directory, sql, proxy, organizationId, key } = world;
  await storeTold(world, 'sk-old');
  await proxy.cut();
  await sleep(100);
  await store(sql, organizationId, { openai: 'sk-new' });
  t.equal((await keysOf(directory, key)).get('openai'), 'sk-old', 'it cannot know yet');
  await proxy.restore();
  const tookMs = await measure('the new key', async () => {
    const keys = await keysOf(directory, key);
    return keys.get('openai') === 'sk-new' && (await directory.providerKeysOf(organizationId)) === keys;
  });
  t.ok(tookMs < 3_000);
});

t.test('a lost notification of a change takes effect within 30 seconds', async (t) => {
  const world = await setting(t, { secrets });
  const { directory, sql, organizationId, key, advance } = world;
  await storeTold(world, 'sk-old');
  await sql`alter table assay.provider_keys disable trigger provider_keys_changed`;
  await store(sql, organizationId, { openai: 'sk-new' });
  await sleep(100);
  t.equal((await keysOf(directory, key)).get('openai'), 'sk-old', 'nobody has told it');
  advance(30_000);
  t.equal((await keysOf(directory, key)).get('openai'), 'sk-new');
  t.equal((await directory.providerKeysOf(organizationId)).get('openai'), 'sk-new');
});

t.test(
  'a provider key that cannot be decrypted differs from a missing one, and its API key is valid',
  async (t) => {
    const lines: string[] = [];
    const log = pino({ base: null }, { write: (line) => void lines.push(line) });
    const { directory, sql, organizationId, key } = await setting(t, { secrets, log });
    await store(sql, organizationId, { openai: 'sk-good' });
    await store(sql, organizationId, { mistral: 'sk-lost' }, createSecretBox([randomBytes(32)]));
    const other = await createOrganization(sql, { name: 'globex' });
    await sql`
    insert into assay.provider_keys
    select ${other.organizationId}, provider, sealed, created_at, updated_at from assay.provider_keys
    where provider = 'openai'`;
    const keys = await keysOf(directory, key);
    t.same(Object.fromEntries(keys), { openai: 'sk-good', mistral: null });
    const copied = await directory.providerKeysOf(other.organizationId);
    t.same(Object.fromEntries(copied), { openai: null }, "a row copied from another organization's");
    await warm(directory, key);
    const told = lines.map((line) => JSON.parse(line)).filter(({ provider }) => provider !== undefined);
    t.same(
      told.map((line) => [line.organizationId, line.provider]),
      [
        [organizationId, 'mistral'],
        [other.organizationId, 'openai'],
      ],
      'each is logged once, by name',
    );
    t.notMatch(lines.join(''), /sk-good|sk-lost/);
  },
);

t.test('provider keys sealed with an earlier SECRET_KEY open while it is still configured', async (t) => {
  const rotated = createSecretBox([randomBytes(32), secretKey]);
  const { directory, sql, organizationId, key } = await setting(t, { secrets: rotated });
  await store(sql, organizationId, { openai: 'sk-of-before' });
  t.equal((await keysOf(directory, key)).get('openai'), 'sk-of-before');
});

t.test('a process that calls no provider gets no provider keys', async (t) => {
  const { directory, sql, organizationId, key } = await setting(t);
  await store(sql, organizationId, { openai: 'sk-acme' });
  t.equal(await keysOf(directory, key), NO_PROVIDER_KEYS);
});
