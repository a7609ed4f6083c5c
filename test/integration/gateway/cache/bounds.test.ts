import t from 'tap';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { sweepExpired } from '../../../../gateway/cache/rows.ts';
import { connectAsApi, testDatabase } from '../../../support/postgres.ts';
import { askFor, cacheWorld } from './world.ts';

const ACME = '11111111-1111-4111-8111-111111111111';
const GLOBEX = '22222222-2222-4222-8222-222222222222';

/** Returns the bytes counted and those stored for an organization, which must be equal. */
async function bytesOf(
  sql: Sql,
  organizationId: string,
): Promise<{ counted: number; there: number; rows: number }> {
  const [row] = await sql<{ counted: number; there: number; rows: number }[]>`
    select coalesce((select bytes from assay.cached_bytes where organization_id = ${organizationId}), 0)::int as counted,
      coalesce(sum(bytes), 0)::int as there, count(*)::int as rows
    from assay.cached_answers where organization_id = ${organizationId}`;
  return row!;
}

t.test("a full cache evicts the oldest responses of the storing organization, and no other's", async (t) => {
  const world = await cacheWorld(t);
  const caches = [0, 1, 2, 3].map(() => world.cache({ maxOrganizationBytes: 50_000 }));
  const body = Buffer.alloc(1_500);
  for (let number = 0; number < 400; number += 1) {
    const organizationId = number % 4 === 0 ? GLOBEX : ACME;
    const ask = askFor(`${number}`, { organizationId });
    caches[number % 3]!.store(ask, world.answer('', { body, requestId: `${number}`.padStart(3, '0') }));
    world.advance(1);
  }
  await Promise.all(caches.map((cache) => cache.stop(20_000)));
  for (const organizationId of [ACME, GLOBEX]) {
    const { counted, there, rows } = await bytesOf(world.sql, organizationId);
    t.equal(counted, there);
    t.equal(rows, 25, 'of 2,000 bytes each');
    const [oldest] = await world.sql<{ id: string }[]>`
      select min(request_id) as id from assay.cached_answers where organization_id = ${organizationId}`;
    t.ok(Number(oldest?.id) > 250, `the oldest left is number ${oldest?.id} of 400`);
  }
});

t.test('one large response evicts as many small ones as it needs, however many', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ maxOrganizationBytes: 300_000 });
  for (let number = 0; number < 400; number += 1) cache.store(askFor(`${number}`), world.answer(''));
  await world.stored(400);
  world.advance(1_000);
  cache.store(askFor('large'), world.answer('', { body: Buffer.alloc(289_000) }));
  await cache.stop(20_000);
  t.same(await bytesOf(world.sql, ACME), { counted: 300_000, there: 300_000, rows: 22 });
});

t.test('expired responses are removed in small batches, also by several gateways at a time', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const old = { storedAtMs: world.clock.now() - 60_000 };
  for (let number = 0; number < 250; number += 1) {
    const organizationId = number % 2 === 0 ? ACME : GLOBEX;
    cache.store(askFor(`${number}`, { organizationId, maxAgeMs: 30_000 }), world.answer('', old));
  }
  cache.store(askFor('young'), world.answer(''));
  await cache.stop(20_000);
  t.equal(await sweepExpired(world.sql), true);
  t.equal((await bytesOf(world.sql, ACME)).rows + (await bytesOf(world.sql, GLOBEX)).rows, 151);
  const sweepAll = async () => {
    while (await sweepExpired(world.sql));
  };
  await Promise.all([sweepAll(), sweepAll(), sweepAll()]);
  await sweepAll();
  t.same(await bytesOf(world.sql, ACME), { counted: 500, there: 500, rows: 1 });
  t.same(await bytesOf(world.sql, GLOBEX), { counted: 0, there: 0, rows: 0 });
});

t.test('concurrent writers and sweepers of the cache neither block each other nor miscount', async (t) => {
  const world = await cacheWorld(t);
  const caches = [0, 1, 2].map(() => world.cache({ maxOrganizationBytes: 20_000 }));
  for (let number = 0; number < 600; number += 1) {
    const organizationId = number % 2 === 0 ? ACME : GLOBEX;
    const storedAtMs = world.clock.now() - (number % 3) * 60_000;
    const ask = askFor(`${number % 40}`, { organizationId, maxAgeMs: 30_000, bucketSize: 2 });
    caches[number % 3]!.store(ask, world.answer('', { storedAtMs, body: Buffer.alloc(number) }));
  }
  let isWriting = true;
  const sweeping = (async () => {
    while (isWriting) await sweepExpired(world.sql);
  })();
  await Promise.all(caches.map((cache) => cache.stop(30_000)));
  isWriting = false;
  await sweeping;
  for (const organizationId of [ACME, GLOBEX]) {
    const { counted, there } = await bytesOf(world.sql, organizationId);
    t.equal(counted, there);
    t.ok(there <= 20_000);
  }
  t.same(
    caches.map(({ counts }) => counts.dropped),
    [0, 0, 0],
  );
});

t.test('the role assay_api has no access to the cache', async (t) => {
  const { url, close } = await testDatabase();
  const api = connectAsApi(url);
  t.teardown(async () => {
    await api.end({ timeout: 1 });
    await close();
  });
  for (const table of ['cached_answers', 'cached_bytes', 'answer_claims']) {
    await t.rejects(
      inOrganization(api, ACME, (tx) => tx`select 1 from ${tx(`assay.${table}`)}`),
      { code: '42501' },
    );
  }
});
