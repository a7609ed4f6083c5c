import t from 'tap';
import { readUsage } from '#platform/limiter/mod.ts';
import { holdRequest, limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
const { sql } = world;
/** Returns a settlement of a reservation whose calls have all ended. */
const settled = (organizationId: string, reservationId: string, costNano: number, revision = 1) => ({
  organizationId,
  reservationId,
  costNano,
  revision,
  isOpen: false,
});

t.test('calls are admitted as long as less than the quota is settled or reserved', async (t) => {
  const store = world.store();
  const counter = makeCounter({ unit: 'cents' });
  const { organizationId } = counter;
  const query = queryOf(counter, makePolicy(1_000, 60, 'cents'));
  const first = await store.reserve(query, holdRequest('a', [5_000]));
  t.equal(first.granted, 1, 'the first call of a window always passes');
  t.equal(first.used, 5_000);
  t.match(await store.reserve(query, holdRequest('b', [1, 1])), { granted: 0, used: 5_000 });
  await store.settle([settled(organizationId, 'a', 300)]);
  const next = await store.reserve(query, holdRequest('c', [600, 600, 600]));
  t.equal(next.granted, 2, 'the second is admitted by the remaining 100, the third is not');
  t.equal(next.used, 1_500);
  t.equal(
    (await store.reserve(query, holdRequest('d', [0]))).granted,
    0,
    'a call that costs nothing is refused too',
  );
});

t.test('a prefetch of money is at most a share of what is left, or nothing', async (t) => {
  const store = world.store();
  const counter = makeCounter({ unit: 'cents' });
  const query = queryOf(counter, makePolicy(1_000, 60, 'cents'));
  const prefetch = { prefetchNano: 300, minPrefetchNano: 100, shares: 2 };
  const first = await store.reserve(query, holdRequest('a', [100, 100], prefetch));
  t.match(first, { granted: 2, prefetchedNano: 300, used: 500 });
  t.ok(first.spendableMs >= 0 && first.spendableMs < 1_000, 'to be spent within the sub-bucket');
  t.match(await store.reserve(query, holdRequest('b', [], prefetch)), {
    granted: 0,
    prefetchedNano: 250,
    used: 750,
  });
  t.match(await store.reserve(query, holdRequest('c', [100], prefetch)), {
    granted: 1,
    prefetchedNano: 0,
    used: 850,
  });
  t.match(await store.reserve(query, holdRequest('d', [], prefetch)), { prefetchedNano: 0, used: 850 });
  t.match(await store.reserve(query, holdRequest('e', [200], prefetch)), {
    granted: 1,
    prefetchedNano: 0,
    used: 1_050,
  });
  t.match(await store.reserve(query, holdRequest('f', [1], { ...prefetch, minPrefetchNano: 0 })), {
    granted: 0,
    prefetchedNano: 0,
    used: 1_050,
  });
  const rows = await sql`
    select reservation_id, estimate_nano::int as reserved from assay.limit_reservations
     where organization_id = ${counter.organizationId} order by reservation_id`;
  t.same(
    rows.map(({ reservation_id, reserved }) => [reservation_id, reserved]),
    [
      ['a', 500],
      ['b', 250],
      ['c', 100],
      ['e', 200],
    ],
    'everything reserved by one request is one reservation',
  );
});

t.test('a reservation follows its latest settlement, in whatever order settlements arrive', async (t) => {
  const store = world.store();
  const counter = makeCounter({ unit: 'cents' });
  const { organizationId } = counter;
  const query = queryOf(counter, makePolicy(10_000, 60, 'cents'));
  await store.reserve(query, holdRequest('a', [100, 100], { prefetchNano: 600 }));
  const settle = async (costNano: number, revision: number, isOpen: boolean) => {
    await store.settle([{ organizationId, reservationId: 'a', costNano, revision, isOpen }]);
    const [usage] = await readUsage(sql, organizationId, 10);
    return [usage?.used, usage?.reserved];
  };
  t.same(await settle(350, 1, true), [350, 350], 'the rest is returned');
  t.same(await settle(420, 3, true), [420, 420], 'a call cost more than was reserved');
  t.same(await settle(380, 2, true), [420, 420], 'an older revision changes nothing');
  t.same(await settle(900, 3, false), [420, 420], 'a repeated revision changes nothing');
  t.same(await settle(400, 4, false), [400, 0], 'all calls have ended');
  t.same(await settle(999, 5, true), [400, 0], 'a settled reservation stays settled');
});

t.test(
  'a settlement that arrives before its reservation is ignored, and applies when it is sent again',
  async (t) => {
    const store = world.store();
    const counter = makeCounter({ unit: 'cents' });
    const query = queryOf(counter, makePolicy(1_000, 60, 'cents'));
    const settlement = settled(counter.organizationId, 'late', 0);
    await store.settle([settlement]);
    await store.reserve(query, holdRequest('late', [70]));
    t.equal((await store.peek(query)).used, 70);
    await store.settle([settlement]);
    t.equal((await store.peek(query)).used, 0);
  },
);

t.test('gateways of the previous release can still reserve and settle', async (t) => {
  const store = world.store();
  const counter = makeCounter({ unit: 'cents' });
  const { organizationId } = counter;
  const query = queryOf(counter, makePolicy(1_000, 60, 'cents'));
  await store.reserveDegraded(query, [
    { reservationId: 'a', estimateNano: 100, ageMs: 0 },
    { reservationId: 'b', estimateNano: 200, ageMs: 0 },
  ]);
  const settle = (costs: (number | null)[]) =>
    sql`select assay.limit_settle(${[organizationId, organizationId]}::uuid[], ${['a', 'b']}::text[], ${costs}::bigint[])`;
  await settle([30, null]);
  await settle([40, 50]);
  t.match(await readUsage(sql, organizationId, 10), [{ used: 230, reserved: 0 }]);
});

t.test(
  'a call admitted while degraded is reserved once and settled once, however often it is reported',
  async (t) => {
    const store = world.store();
    const counter = makeCounter({ unit: 'cents' });
    const { organizationId } = counter;
    const query = queryOf(counter, makePolicy(1_000, 60, 'cents'));
    const used = async () => (await store.peek(query)).used;
    const calls = [{ reservationId: 'a', estimateNano: 900, ageMs: 5 }];
    await store.reserve(query, holdRequest('full', [1_000]));
    await store.reserveDegraded(query, calls);
    await store.reserveDegraded(query, calls);
    t.equal(await used(), 1_900, 'a degraded call is counted whatever the quota');
    await Promise.all(Array.from({ length: 20 }, () => store.settle([settled(organizationId, 'a', 250)])));
    await store.settle([settled(organizationId, 'a', 700, 2), settled(organizationId, 'unknown', 3)]);
    t.equal(await used(), 1_250);
    await store.reserveDegraded(query, calls);
    t.equal(await used(), 1_250, 'a settled call is not reserved again');
  },
);

t.test('reservations of two organizations with the same id are separate', async (t) => {
  const store = world.store();
  const [mine, theirs] = [makeCounter({ unit: 'cents' }), makeCounter({ unit: 'cents' })];
  const policy = makePolicy(1_000, 60, 'cents');
  for (const counter of [mine, theirs])
    await store.reserve(queryOf(counter, policy), holdRequest('same', [10]));
  await store.settle([settled(theirs.organizationId, 'same', 90)]);
  t.equal((await store.peek(queryOf(mine, policy))).used, 10);
  t.equal((await store.peek(queryOf(theirs, policy))).used, 90);
});

t.test(
  'an expired reservation stays charged, is no longer reported as open, and can still be settled',
  async (t) => {
    const store = world.store({ reservationTtlMs: 60_000 });
    const counter = makeCounter({ unit: 'cents' });
    const { organizationId } = counter;
    const query = queryOf(counter, makePolicy(1_000, 60, 'cents'));
    await store.reserve(query, holdRequest('late', [600]));
    t.match(await readUsage(sql, organizationId, 10), [{ used: 600, reserved: 600 }]);
    await sql`update assay.limit_reservations set expires_at = now() where organization_id = ${organizationId}`;
    t.match(await readUsage(sql, organizationId, 10), [{ used: 600, reserved: 0 }]);
    await store.deleteExpired(100);
    await store.settle([settled(organizationId, 'late', 40)]);
    t.match(await readUsage(sql, organizationId, 10), [{ used: 40, reserved: 0 }]);
    await sql`update assay.limit_reservations set kept_until = now()`;
    await store.deleteExpired(1_000);
    t.same(await sql`select 1 from assay.limit_reservations`, [], 'the reservation is deleted later');
  },
);

t.test('concurrent settlements of many counters add up to the costs', async (t) => {
  const store = world.store();
  const policy = makePolicy(1_000_000_000, 3_600, 'cents');
  const { organizationId, apiKeyId } = makeCounter();
  const queries = Array.from({ length: 5 }, (_, user) =>
    queryOf(
      makeCounter({ organizationId, apiKeyId, unit: 'cents', segment: 'user', value: `${user}` }),
      policy,
    ),
  );
  const ids = Array.from({ length: 400 }, (_, id) => `${id}`);
  await Promise.all(ids.map((id, place) => store.reserve(queries[place % 5]!, holdRequest(id, [1_000]))));
  // Each is settled twice, by concurrent statements that lock all counters in different orders.
  const halves = [ids, [...ids].reverse(), ids.filter((_, place) => place % 2 === 0)];
  await Promise.all(
    halves.map((half) => store.settle(half.map((id) => settled(organizationId, id, Number(id))))),
  );
  for (const [user, query] of queries.entries()) {
    const costs = ids.map(Number).filter((id) => id % 5 === user);
    t.equal(
      (await store.peek(query)).used,
      costs.reduce((sum, cost) => sum + cost, 0),
    );
  }
});
