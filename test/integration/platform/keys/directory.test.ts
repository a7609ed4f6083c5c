import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { generateApiKey } from '#platform/keys/api-key.ts';
import { createKey, createOrganization, revokeKey, setTier } from '#platform/keys/mod.ts';
import { NO_PROVIDER_KEYS } from '#platform/provider-keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { leastOf } from '../../../support/least-of.ts';
import { databaseFor } from '../../../support/world.ts';
import { SCOPES, setting, warm } from './directory-world.ts';

// Keeps a server of this file's own running between tests, where there is no shared one.
await databaseFor(t);

/** Far below the 30 seconds after which a cached value is looked up again: the notification arrived. */
const SOON_MS = 4_000;

t.test('a valid API key is found, with its scopes and tier', async (t) => {
  const { directory, key, keyId, organizationId } = await setting(t);
  const found = await directory.find(key);
  t.same(found, {
    keyId,
    organizationId,
    scopes: new Set(SCOPES),
    tier: 'pro',
    logsPer5s: 8_334,
    countedAs: keyId,
    rateLimitPolicy: null,
    expiresAtMs: null,
    allowed: null,
    providerKeys: NO_PROVIDER_KEYS,
  });
  t.same(await warm(directory, key), found, 'and from then on at once');
});

t.test('an unknown API key is not found, and one of an impossible length is not looked up', async (t) => {
  const { directory, proxy } = await setting(t);
  t.equal(await directory.find(generateApiKey()), null);
  await proxy.cut();
  t.equal(directory.find('short'), null);
  t.equal(directory.find('x'.repeat(129)), null);
});

t.test('thousands of made-up API keys at once keep no valid one out', async (t) => {
  const { directory, key, keyId } = await setting(t);
  const madeUp = Promise.allSettled(Array.from({ length: 3_000 }, () => directory.find(generateApiKey())));
  t.match(await directory.find(key), { keyId });
  const found = await madeUp;
  t.ok(found.every((one) => one.status === 'fulfilled' && one.value === null));
});

t.test('a revoked API key is refused at once', async (t) => {
  const { directory, sql, key, keyId } = await setting(t);
  await warm(directory, key);
  await revokeKey(sql, keyId);
  const revokedAt = performance.now();
  await waitFor('the key to be refused', async () => (await directory.find(key)) === null);
  const tookMs = performance.now() - revokedAt;
  t.comment(`refused after ${tookMs.toFixed(1)} ms`);
  t.ok(tookMs < SOON_MS);
});

t.test('a new API key is valid at once, also if it was looked up just before its creation', async (t) => {
  const { directory, sql, organizationId, key } = await setting(t);
  await warm(directory, key);
  for (let round = 0; round < 30; round += 1) {
    const wanted = generateApiKey();
    let isMade = false;
    const asking = async () => {
      while (!isMade) {
        await directory.find(wanted);
        // A known key is found at once: without a turn of the loop, nobody would learn that it is made.
        await nextTurn();
      }
    };
    const askers = [asking(), asking(), asking()];
    try {
      t.equal(await directory.find(wanted), null);
      await createKey(sql, { organizationId, scopes: SCOPES, key: wanted });
      // Others ask at this very moment, and were answered a moment ago.
      t.ok(await directory.find(wanted), `round ${round}`);
    } finally {
      isMade = true;
    }
    await Promise.all(askers);
  }
});

t.test("a change of an organization's tier takes effect at once", async (t) => {
  const { directory, sql, key } = await setting(t);
  await warm(directory, key);
  await setTier(sql, 'acme', { tier: 'enterprise', logsPer5s: 50_000 });
  const changedAt = performance.now();
  await waitFor('the new tier', async () => (await directory.find(key))?.tier === 'enterprise');
  t.ok(performance.now() - changedAt < SOON_MS);
  t.equal((await directory.find(key))?.logsPer5s, 50_000);
});

t.test(
  'while Postgres is unavailable a cached API key is valid, and others are not reported as invalid',
  async (t) => {
    const { directory, proxy, key, advance } = await setting(t);
    const known = await warm(directory, key);
    await proxy.cut();
    await sleep(50);
    t.same(await directory.find(key), known);
    const startedAt = performance.now();
    for (let call = 0; call < 1_000; call += 1) await directory.find(key);
    t.ok(performance.now() - startedAt < 5_000, 'a second each would be a quarter of an hour');
    await t.rejects(Promise.resolve(directory.find(generateApiKey())), { code: 'store_unavailable' });

    advance(3_500_000);
    t.same(await directory.find(key), known, 'for the best part of an hour');
    advance(200_000);
    await t.rejects(Promise.resolve(directory.find(key)), { code: 'store_unavailable' }, 'not longer');
  },
);

t.test('an API key revoked during a disconnection is refused after it', async (t) => {
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
  t.ok(tookMs < SOON_MS);
});

t.test('the key directory listens for changes again after each outage', async (t) => {
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
  t.ok(performance.now() - revokedAt < SOON_MS);
});

t.test('a revocation takes effect at once while the listening connection is lost', async (t) => {
  const { directory, sql, proxy, key, keyId } = await setting(t);
  await warm(directory, key);
  proxy.refuse();
  const [line] = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and query ilike 'listen %'`;
  await sql`select pg_terminate_backend(${line!.pid})`;
  // The pool keeps its connection; the lost one cannot be replaced, so each look-up asks Postgres.
  await waitFor('the loss to be noticed', async () => {
    const found = directory.find(key);
    // A look-up still under way would be shared by the call after the revocation.
    await found;
    return found instanceof Promise;
  });
  await sql`alter table assay.api_keys disable trigger keys_changed`;
  await revokeKey(sql, keyId);
  t.equal(await directory.find(key), null);
});

t.test('a hanging Postgres delays a call with a cached API key by a second at most', async (t) => {
  const { directory, proxy, key, advance } = await setting(t);
  const known = await warm(directory, key);
  proxy.freeze();
  const leastMs = await leastOf(
    3,
    async () => {
      advance(31_000);
      const startedAt = performance.now();
      t.same(await directory.find(key), known);
      return performance.now() - startedAt;
    },
    1_500,
  );
  t.ok(leastMs > 900 && leastMs < 1_500, `${leastMs} ms`);
  proxy.thaw();
});

t.test('a lost notification of a change takes effect within 30 seconds', async (t) => {
  const { directory, sql, key, keyId, advance } = await setting(t);
  await warm(directory, key);
  await sql`alter table assay.api_keys disable trigger keys_changed`;
  await revokeKey(sql, keyId);
  await sleep(100);
  t.ok(await directory.find(key), 'nobody has told it');
  advance(30_000);
  t.equal(await directory.find(key), null);
});

t.test('a change of one organization leaves the API keys of others cached', async (t) => {
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

t.test('a key that is cached before its creation is announced stays cached', async (t) => {
  const { directory, sql, proxy, organizationId, key } = await setting(t);
  await warm(directory, key);
  const news: string[] = [];
  const listening = await sql.listen('assay_keys', (payload) => news.push(payload));
  const { key: made } = await createKey(sql, { organizationId, scopes: SCOPES });
  const other = await createOrganization(sql, { name: 'globex' });
  const { key: otherKey } = await createKey(sql, { organizationId: other.organizationId, scopes: SCOPES });
  await waitFor('the news of both', () => news.length === 2);
  await listening.unlisten();
  await warm(directory, made);
  await warm(directory, otherKey);

  await sql.notify('assay_keys', news[0]!);
  await setTier(sql, 'globex', { tier: 'pro', logsPer5s: null });
  await waitFor('what was told later', async () => (await directory.find(otherKey))?.tier === 'pro');
  await proxy.cut();
  t.ok(await directory.find(made), 'an outage in this very moment is none for it');
});
