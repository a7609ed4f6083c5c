/** Responses to erased requests: no gateway serves them again, from memory or from Postgres. */
import t from 'tap';
import { ERASURES_SUBJECT } from '#core/contracts/channels.ts';
import { announceChange } from '#platform/nats/mod.ts';
import { watchErasures } from '../../../../gateway/cache/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { erase } from '../../../support/erase.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { changesOf, silentLog } from '../../../support/world.ts';
import { fresh, startCachedWorld } from './calls-world.ts';
import { askFor, cacheWorld } from './world.ts';

t.test('a cached response is served by no gateway once its request is erased', async (t) => {
  const world = await startCachedWorld(t);
  const { call, key, sql, gateway } = world;
  const second = await world.start();
  world.countAnswers();
  const body = fresh();
  const other = fresh();
  const first = await call(body);
  await call(other);
  await world.written(first);
  await world.records(key, 2);
  const hits = [await call(body), await call(body, {}, key, second), await call(body, {}, key, second)];
  t.same(
    hits.map(({ cache, text }) => [cache, text]),
    Array(3).fill(['HIT', first.text]),
  );
  const [row] = await sql<{ organization_id: string }[]>`
    select organization_id from assay.requests where request_id = ${first.id}`;
  await erase(sql, row!.organization_id, first.id);
  for (const at of [gateway, second]) {
    await waitFor('another answer', async () => (await call(body, {}, key, at)).text !== first.text);
  }
  t.equal(await world.cacheOf(other), 'HIT', 'other responses are still served');
});

/** A cache that listens for erasures, and the request whose response it holds. */
async function listening(t: Parameters<typeof cacheWorld>[0], nats: { servers: string[] } | null = null) {
  const world = await cacheWorld(t);
  const { sql, proxy } = world;
  const cache = world.cache();
  const address = nats === null ? null : { ...nats, credentialsFile: null };
  const watching = watchErasures({ cache, ...changesOf(sql, address) });
  t.teardown(() => watching.stop());
  const query = askFor('question');
  const [row] = await insertRequests(sql, query.organizationId, [{}]);
  const response = world.answer('answer', { requestId: row!.request_id });
  const isListening = () =>
    waitFor('the cache to listen', async () => {
      const rows = await sql`
        select 1 from pg_stat_activity where datname = current_database() and query like 'listen%assay_erasures%'`;
      return rows.length > 0;
    });
  return { ...world, proxy, cache, query, response, isListening };
}

t.test(
  'a response that waits to be written when its request is erased is not written, nor served',
  async (t) => {
    const { sql, cache, query, response, isListening, proxy } = await listening(t);
    await isListening();
    await proxy.cut();
    cache.store(query, response);
    t.match(await cache.find(query), { requestId: response.requestId });
    await erase(sql, query.organizationId, response.requestId);
    await waitFor('the response to be forgotten', async () => (await cache.find(query)) === null);
    await proxy.restore();
    // Writes what waits.
    await cache.stop(10_000);
    t.same(await sql`select 1 from assay.cached_answers`, []);
    t.equal(cache.counts.dropped, 0, 'it was written, and refused');
  },
);

t.test('a look-up that began before an erasure does not bring the response back', async (t) => {
  const { cache, query, response, stored, sql } = await listening(t);
  cache.store(query, response);
  await stored(1);
  cache.forget([response.requestId]);
  t.equal(await cache.find(query), null, 'it is still in Postgres, as for a look-up that was under way');
  cache.store(query, response);
  t.equal(await cache.find(query), null, 'nor does the end of a call under way');
  t.equal((await sql`select 1 from assay.cached_answers`).length, 1);
});

t.test(
  'a gateway that missed announcements checks each response in Postgres before it serves it',
  async (t) => {
    const { cache, query, response, stored, sql } = await listening(t);
    cache.store(query, response);
    await stored(1);
    cache.setListening(false);
    await sql`delete from assay.cached_answers`;
    t.equal(await cache.find(query), null, 'while it does not listen');
    cache.store(query, response);
    await stored(1);
    cache.setListening(true);
    const { memoryHits } = cache.counts;
    t.match(await cache.find(query), { requestId: response.requestId });
    t.equal(cache.counts.memoryHits, memoryHits, 'checked once when it listens again');
    await cache.find(query);
    t.equal(cache.counts.memoryHits, memoryHits + 1, 'and then trusted');
  },
);

t.test(
  'where notifications are dropped, an announcement over NATS has every response checked',
  {
    skip: natsIsMissing(),
  },
  async (t) => {
    const nats = await startNats();
    t.teardown(() => nats[Symbol.asyncDispose]());
    const { cache, query, response, stored, sql } = await listening(t, { servers: [nats.url] });
    cache.store(query, response);
    await stored(1);
    await waitFor('the response to be trusted', async () => {
      const { memoryHits } = cache.counts;
      await cache.find(query);
      return cache.counts.memoryHits > memoryHits;
    });
    // As behind a pooler in transaction mode: nothing is notified.
    await sql`delete from assay.cached_answers`;
    t.match(await cache.find(query), { requestId: response.requestId });
    await waitFor('the announcement to arrive', async () => {
      await announceChange({
        subject: ERASURES_SUBJECT,
        address: { servers: [nats.url], credentialsFile: null },
        name: 'test',
        log: silentLog,
      });
      return (await cache.find(query)) === null;
    });
  },
);
