import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { CacheQuery } from '../../../../gateway/cache/bucket.ts';
import type { ResponseCache, StoredResponse } from '../../../../gateway/cache/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { claimHolders, follow, noClaims, settle } from './callers.ts';
import { askFor, cacheWorld } from './world.ts';

/** A call as a gateway makes it; `call` is the provider. */
async function make(cache: ResponseCache, ask: CacheQuery, call: () => Promise<StoredResponse | null>) {
  const found = await cache.find(ask);
  if (found !== null) return found;
  const lead = await cache.coalesce(ask);
  if (!lead.isLeader) return lead.response;
  const answer = await call();
  lead.done(answer);
  return answer;
}

t.test('10,000 concurrent calls for one key make one provider request', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  let calls = 0;
  const call = async () => {
    calls += 1;
    await sleep(100);
    return world.answer('once');
  };
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 10_000 }, () => make(cache, askFor('hello'), call)));
  t.comment(`${(performance.now() - startedAt).toFixed(0)} ms, 100 of them the provider's`);
  t.equal(calls, 1);
  t.ok(answers.every((answer) => answer?.body.toString() === 'once'));
  t.equal(cache.counts.coalesced, 9_999);
  await noClaims(world);
});

t.test('overlapping calls of several gateways for one key make one provider request', async (t) => {
  const world = await cacheWorld(t);
  const caches = [world.cache(), world.cache(), world.cache(), world.cache()];
  for (let round = 0; round < 10; round += 1) {
    let calls = 0;
    const call = async () => {
      calls += 1;
      await sleep(50);
      return world.answer(`${round}`);
    };
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, caller) => {
        await sleep(caller / 2);
        return make(caches[caller % caches.length]!, askFor(`${round}`), call);
      }),
    );
    t.equal(calls, 1, 'also of those that come when it has just ended');
    t.ok(answers.every((answer) => answer?.body.toString() === `${round}`));
  }
  await noClaims(world);
});

t.test('different keys, and different organizations, do not wait for each other', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const organizationId = '22222222-2222-4222-8222-222222222222';
  for (const ask of [askFor('a'), askFor('b'), askFor('a', { organizationId })])
    t.equal((await cache.coalesce(ask)).isLeader, true);
});

t.test('a failed leader is replaced by one follower, then by two, then by four', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const ask = askFor('hello');
  await world.sql`create table given_back (answer_key bytea)`;
  await world.sql`
    create rule noted as on delete to assay.answer_claims do also insert into given_back values (old.answer_key)`;
  const { leads, answers } = follow(cache, ask, 20);
  await waitFor('the first', () => leads.length === 1);
  for (const size of [1, 2, 4]) {
    const failing = leads.splice(0);
    for (const lead of failing.slice(1)) lead.done(null);
    await settle(world);
    t.equal(leads.length, 0, 'as long as one is under way, nobody leads in its place');
    failing[0]!.done(null);
    await waitFor(`${size} to lead`, () => leads.length === size);
    await settle(world);
    t.equal(leads.length, size);
    t.equal((await claimHolders(world)).length, 1);
  }
  t.same(
    [...(await world.sql`select from given_back`)],
    [],
    'at no time could another gateway get in between',
  );
  leads[2]!.done(world.answer('at last'));
  await waitFor('all others', () => answers.length === 20 - 8);
  t.ok(answers.every(({ body }) => body.toString() === 'at last'));
  for (const lead of leads) lead.done(null);
  await noClaims(world);
});

t.test('a follower that has left is not promoted and does not count as a failed leader', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const ask = askFor('hello');
  const first = await cache.coalesce(ask);
  if (!first.isLeader) throw new Error('not the leader');
  const leaving = new AbortController();
  const left = Array.from({ length: 20 }, () => cache.coalesce(ask, leaving.signal));
  const { leads, answers } = follow(cache, ask, 10);
  leaving.abort(new Error('gone'));
  t.ok((await Promise.allSettled(left)).every(({ status }) => status === 'rejected'));
  await t.rejects(cache.coalesce(ask, leaving.signal), { message: 'gone' }, 'nor who had left before');
  for (const size of [1, 2]) {
    for (const lead of [first, ...leads.splice(0)]) lead.done(null);
    await waitFor(`${size} to lead`, () => leads.length === size);
    await settle(world);
    t.equal(leads.length, size);
  }
  leads[0]!.done(world.answer('at last'));
  await waitFor('all others', () => answers.length === 10 - 3);
  for (const lead of leads) lead.done(null);
  await noClaims(world);
});

t.test('a call that disconnects while it waits for another gateway passes the lead on', async (t) => {
  const world = await cacheWorld(t);
  const [here, there] = [world.cache(), world.cache()];
  const ask = askFor('hello');
  const holder = await there.coalesce(ask);
  if (!holder.isLeader) throw new Error('not the leader');
  const leaving = new AbortController();
  const left = here.coalesce(ask, leaving.signal);
  await settle(world);
  const { leads } = follow(here, ask, 1);
  leaving.abort(new Error('gone'));
  await t.rejects(left, { message: 'gone' });
  holder.done(null);
  await waitFor('the other to lead', () => leads.length === 1);
  leads[0]!.done(null);
  await noClaims(world);
});

t.test('a leader without followers leaves no lock and no response behind', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const ask = askFor('hello');
  for (let time = 0; time < 2; time += 1) {
    const lead = await cache.coalesce(ask);
    if (!lead.isLeader) throw new Error('not the leader');
    lead.done(null);
    lead.done(world.answer('too late'));
    await noClaims(world);
    t.equal(await cache.find(ask), null, 'only the first word counts');
  }
});

t.test('a follower whose wait is over leads, and calls after it do not wait', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ waitMs: 10_000 });
  const ask = askFor('hello');
  const stuck = await cache.coalesce(ask);
  t.equal(stuck.isLeader, true);
  const startedAt = performance.now();
  const patient = await cache.coalesce(ask);
  const tookMs = performance.now() - startedAt;
  t.equal(patient.isLeader, true);
  t.ok(tookMs > 9_950 && tookMs < 60_000, `${tookMs.toFixed(0)} ms`);
  const freshAt = performance.now();
  const fresh = await cache.coalesce(ask);
  t.ok(performance.now() - freshAt < 8_000, 'it does not wait once more');
  t.equal(fresh.isLeader, true);
  if (!patient.isLeader || !fresh.isLeader || !stuck.isLeader) return;
  const behind = cache.coalesce(ask);
  fresh.done(world.answer('hello'));
  const served = await behind;
  t.equal(served.isLeader, false);
  patient.done(null);
  stuck.done(null);
});

t.test('followers that still wait get the response of a follower whose wait was over', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ waitMs: 4_000 });
  const ask = askFor('hello');
  await cache.coalesce(ask);
  const first = cache.coalesce(ask);
  await sleep(2_000);
  const second = cache.coalesce(ask);
  const impatient = await first;
  if (!impatient.isLeader) throw new Error('not the leader');
  impatient.done(world.answer('hello'));
  t.equal((await second).isLeader, false);
});

t.test('a response too large to store is still given to its followers', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  const ask = askFor('hello');
  const { leads, answers } = follow(cache, ask, 3);
  await waitFor('a leader', () => leads.length === 1);
  leads[0]!.done(world.answer('', { body: Buffer.alloc(9 * 1024 * 1024) }));
  await waitFor('the others', () => answers.length === 2);
  t.equal(answers[0]?.body.length, 9 * 1024 * 1024);
  await noClaims(world);
});

t.test('gateways that fill a bucket do not wait for each other', async (t) => {
  const world = await cacheWorld(t);
  const ask = askFor('hello', { bucketSize: 2 });
  const [here, there] = [world.cache(), world.cache()];
  t.equal((await here.coalesce(ask)).isLeader, true);
  t.equal((await there.coalesce(ask)).isLeader, true);
});

t.test('without Postgres, concurrent calls of one gateway still make one provider request', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  await world.proxy.cut();
  let calls = 0;
  const call = async () => {
    calls += 1;
    await sleep(100);
    return world.answer('once');
  };
  await Promise.all(Array.from({ length: 100 }, () => make(cache, askFor('hello'), call)));
  t.equal(calls, 1);
});
