import t from 'tap';
import { readUsage } from '#core/limits/mod.ts';
import { askOf, limitsWorld, makeCounter, makePolicy } from './world.ts';

const world = await limitsWorld(t);
const { sql } = world;
const reservation = (reservationId: string, estimateNano: number) => ({
  reservationId,
  estimateNano,
  ageMs: 0,
});

t.test('calls are admitted while less than the quota is settled or reserved', async (t) => {
  const store = world.store();
  const counter = makeCounter({ unit: 'cents' });
  const { organizationId } = counter;
  const ask = askOf(counter, makePolicy(1_000, 60, 'cents'));
  const first = await store.reserve(ask, [reservation('a', 5_000)], false);
  t.equal(first.granted, 1, 'the first call of a window always passes');
  t.equal(first.used, 5_000);
  t.equal((await store.reserve(ask, [reservation('b', 1)], false)).granted, 0);
  await store.settle([{ organizationId, reservationId: 'a', costNano: 300 }]);
  const next = await store.reserve(
    ask,
    [reservation('b', 600), reservation('c', 600), reservation('d', 600)],
    false,
  );
  t.equal(next.granted, 2, 'c is admitted by the 100 that are left, d is not');
  t.equal(next.used, 1_500);
});

t.test('a reservation counts once, and its first settlement counts, however often they come', async (t) => {
  const store = world.store();
  const counter = makeCounter({ unit: 'cents' });
  const { organizationId } = counter;
  const ask = askOf(counter, makePolicy(1_000, 60, 'cents'));
  const used = async () => (await store.peek(ask)).used;
  await store.reserve(ask, [reservation('a', 900)], false);
  await store.reserve(ask, [reservation('a', 900)], false);
  await store.reserve(ask, [reservation('a', 900)], true);
  t.equal(await used(), 900);
  const settle = (costNano: number | null) =>
    store.settle([{ organizationId, reservationId: 'a', costNano }]);
  await Promise.all(Array.from({ length: 20 }, () => settle(250)));
  await settle(700);
  await store.settle([
    { organizationId, reservationId: 'a', costNano: 1 },
    { organizationId, reservationId: 'a', costNano: 2 },
    { organizationId, reservationId: 'unknown', costNano: 3 },
  ]);
  t.equal(await used(), 250);
  await store.reserve(ask, [reservation('a', 900)], true);
  t.equal(await used(), 250, 'nor does it come back');
  await store.reserve(ask, [reservation('b', 100)], false);
  await store.settle([{ organizationId, reservationId: 'b', costNano: null }]);
  await store.settle([{ organizationId, reservationId: 'b', costNano: 5 }]);
  t.equal(await used(), 350, 'an estimate that stands is settled');
});

t.test('the id of another organization is another reservation', async (t) => {
  const store = world.store();
  const [mine, theirs] = [makeCounter({ unit: 'cents' }), makeCounter({ unit: 'cents' })];
  const policy = makePolicy(1_000, 60, 'cents');
  for (const counter of [mine, theirs])
    await store.reserve(askOf(counter, policy), [reservation('same', 10)], false);
  await store.settle([{ organizationId: theirs.organizationId, reservationId: 'same', costNano: 90 }]);
  t.equal((await store.peek(askOf(mine, policy))).used, 10);
  t.equal((await store.peek(askOf(theirs, policy))).used, 90);
});

t.test(
  'a reservation that nobody settles stays charged, is open no longer, and can still be corrected',
  async (t) => {
    const store = world.store({ openMs: 50 });
    const counter = makeCounter({ unit: 'cents' });
    const { organizationId } = counter;
    const ask = askOf(counter, makePolicy(1_000, 60, 'cents'));
    await store.reserve(ask, [reservation('late', 600)], false);
    t.match(await readUsage(sql, organizationId, 10), [{ used: 600, reserved: 600 }]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    t.match(await readUsage(sql, organizationId, 10), [{ used: 600, reserved: 0 }]);
    await store.sweep(100);
    await store.settle([{ organizationId, reservationId: 'late', costNano: 40 }]);
    t.match(await readUsage(sql, organizationId, 10), [{ used: 40, reserved: 0 }]);
    await sql`update assay.limit_reservations set kept_until = now()`;
    await store.sweep(100);
    t.same(await sql`select 1 from assay.limit_reservations`, [], 'later it is gone');
  },
);

t.test('settlements of many counters and many at once add up', async (t) => {
  const store = world.store();
  const policy = makePolicy(1_000_000_000, 3_600, 'cents');
  const { organizationId, apiKeyId } = makeCounter();
  const asks = Array.from({ length: 5 }, (_, user) =>
    askOf(
      makeCounter({ organizationId, apiKeyId, unit: 'cents', segment: 'user', value: `${user}` }),
      policy,
    ),
  );
  const ids = Array.from({ length: 400 }, (_, id) => `${id}`);
  await Promise.all(ids.map((id, place) => store.reserve(asks[place % 5]!, [reservation(id, 1_000)], false)));
  // Each is settled twice, by statements that hold all counters and meet in different orders.
  const halves = [ids, [...ids].reverse(), ids.filter((_, place) => place % 2 === 0)];
  await Promise.all(
    halves.map((half) =>
      store.settle(half.map((id) => ({ organizationId, reservationId: id, costNano: Number(id) }))),
    ),
  );
  for (const [user, ask] of asks.entries()) {
    const costs = ids.map(Number).filter((id) => id % 5 === user);
    t.equal(
      (await store.peek(ask)).used,
      costs.reduce((sum, cost) => sum + cost, 0),
    );
  }
});
