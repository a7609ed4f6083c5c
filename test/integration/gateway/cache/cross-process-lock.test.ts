import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { claimHolders, follow, noClaims, settle } from './callers.ts';
import { askFor, type CacheWorld, cacheWorld } from './world.ts';

const renewed = (world: CacheWorld) =>
  waitFor('the claim to be renewed', async () => {
    const [row] =
      await world.sql`select expires_at > now() + interval '7 seconds' as renewed from assay.answer_claims`;
    return row?.renewed === true;
  });

t.test('when a gateway’s leader fails, another gateway leads', async (t) => {
  const world = await cacheWorld(t);
  const [here, there] = [world.cache(), world.cache()];
  const ask = askFor('hello');
  const first = follow(here, ask, 1);
  await waitFor('the first', () => first.leads.length === 1);
  const others = follow(there, ask, 5);
  await settle(world);
  t.equal(others.leads.length, 0);
  first.leads[0]!.done(null);
  await waitFor('the second', () => others.leads.length === 1);
  others.leads[0]!.done(world.answer('hello'));
  await waitFor('all', () => others.answers.length === 4);
});

t.test('the lock of a gateway that died is waited for until it expires', async (t) => {
  const world = await cacheWorld(t);
  const ask = askFor('hello');
  // From before the lock begins: however long its insertion takes, it must have been waited for until then.
  const startedAt = performance.now();
  await world.sql`
    insert into assay.answer_claims values
      (${ask.organizationId}, ${Buffer.from(ask.key, 'hex')}, gen_random_uuid(), now() + interval '1 second')`;
  const lead = await world.cache().coalesce(ask);
  const tookMs = performance.now() - startedAt;
  t.equal(lead.isLeader, true);
  t.ok(tookMs > 900 && tookMs < 20_000, `${tookMs.toFixed(0)} ms`);
});

t.test('the lock of a live gateway is waited for until waitMs, and stays with that gateway', async (t) => {
  const world = await cacheWorld(t);
  const ask = askFor('hello');
  await world.sql`
    insert into assay.answer_claims values
      (${ask.organizationId}, ${Buffer.from(ask.key, 'hex')}, gen_random_uuid(), now() + interval '1 hour')`;
  const startedAt = performance.now();
  const lead = await world.cache({ waitMs: 500 }).coalesce(ask);
  const tookMs = performance.now() - startedAt;
  t.equal(lead.isLeader, true);
  t.ok(tookMs > 450 && tookMs < 20_000, `${tookMs.toFixed(0)} ms`);
  if (lead.isLeader) lead.done(null);
  await settle(world);
  t.equal((await claimHolders(world)).length, 1, 'and keeps the claim, which was not ours to give back');
});

t.test('a lock is renewed while its call is under way, and released when the gateway stops', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache();
  await cache.coalesce(askFor('hello'));
  // Not expired before it is renewed: that would be for the sweeper, which comes at random.
  await world.sql`update assay.answer_claims set expires_at = now() + interval '6 seconds'`;
  await renewed(world);
  await cache.stop(1_000);
  t.same(await claimHolders(world), []);
});

t.test('a lock that Postgres granted after the timeout is renewed and released like any other', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ patienceMs: 250 });
  await cache.find(askFor('warm'));
  // A first connection that came late counts as a store that is away, for a second.
  world.advance(1_000);
  world.proxy.freeze();
  const lead = await cache.coalesce(askFor('hello'));
  t.equal(lead.isLeader, true);
  world.proxy.thaw();
  await waitFor('the claim', async () => (await claimHolders(world)).length === 1);
  // The gateway sends nothing to a Postgres that has just been unavailable.
  world.advance(1_000);
  await world.sql`update assay.answer_claims set expires_at = now() + interval '6 seconds'`;
  await renewed(world);
  // Now it does not expire: it goes when it is given back.
  await world.sql`update assay.answer_claims set expires_at = now() + interval '1 hour'`;
  if (lead.isLeader) lead.done(null);
  await noClaims(world);
});

t.test('a call that ends before its lock is granted releases it afterwards', async (t) => {
  const world = await cacheWorld(t);
  const cache = world.cache({ patienceMs: 250 });
  await cache.find(askFor('warm'));
  world.advance(1_000);
  await world.sql.unsafe(`
    create table made (answer_key bytea);
    create function made_late() returns trigger language plpgsql as $$ begin
      perform pg_advisory_xact_lock(7);
      insert into made values (new.answer_key);
      new.expires_at := 'infinity';
      return new;
    end $$;
    create trigger made_late before insert on assay.answer_claims for each row execute function made_late()`);
  const late = await openTransaction(world.sql, (tx) => tx`select pg_advisory_xact_lock(7)`);
  const lead = await cache.coalesce(askFor('hello'));
  world.advance(1_000);
  if (lead.isLeader) lead.done(null);
  await settle(world);
  await late.end();
  await waitFor('the claim', async () => (await world.sql`select 1 from made`).length === 1);
  await noClaims(world);
});
