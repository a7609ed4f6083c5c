import t from 'tap';
import { readUsage } from '#platform/limiter/mod.ts';
import { connectPostgres, inOrganization } from '#platform/postgres/mod.ts';
import { holdRequest, limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
const { sql } = world;
const ONE = { needed: 1, prefetch: 0, shares: 2 };

t.test(
  'prefetched credits are at most a share of what is left, and repeated leases grant exactly the quota',
  async (t) => {
    const store = world.store();
    const query = queryOf(makeCounter(), makePolicy(100));
    const first = await store.leaseCredits(query, { needed: 2, prefetch: 1_000, shares: 8 });
    t.equal(first.granted, 2 + Math.floor(98 / 8));
    t.ok(first.spendableMs >= 0 && first.spendableMs < 1_000, 'to be spent within the sub-bucket');
    t.ok(first.resetMs > 60_000 && first.resetMs <= 61_000);
    let granted = first.granted;
    for (let left = 100 - granted; left > 0; left = 100 - granted) {
      const more = await store.leaseCredits(query, { needed: 1, prefetch: 1_000, shares: 8 });
      granted += more.granted;
      t.equal(more.used, granted);
    }
    const refused = await store.leaseCredits(query, { needed: 5, prefetch: 5, shares: 8 });
    t.equal(refused.granted, 0);
    t.ok(refused.retryMs > 58_000 && refused.retryMs <= 61_000);
  },
);

t.test(
  'hundreds of concurrent leases grant exactly the quota, also of a counter that does not exist yet',
  async (t) => {
    const store = world.store();
    for (const quota of [1, 7, 50]) {
      const query = queryOf(makeCounter({ segment: 'user', value: 'all at once' }), makePolicy(quota));
      const grants = await Promise.all(Array.from({ length: 200 }, () => store.leaseCredits(query, ONE)));
      t.equal(
        grants.reduce((sum, { granted }) => sum + granted, 0),
        quota,
      );
    }
  },
);

t.test('returned credits go back to the sub-bucket they were charged to', async (t) => {
  const store = world.store();
  const counter = makeCounter();
  const query = queryOf(counter, makePolicy(10));
  const taken = await store.leaseCredits(query, { needed: 10, prefetch: 0, shares: 2 });
  const unused = { organizationId: counter.organizationId, key: taken.key, atMs: taken.atMs };
  await store.returnCredits([{ ...unused, amount: 4 }]);
  t.equal((await store.peek(query)).used, 6);
  const again = await store.leaseCredits(
    query,
    { needed: 10, prefetch: 0, shares: 2 },
    { ...unused, amount: 3 },
  );
  t.equal(again.granted, 7, 'credits returned before and with the request can be granted again');
  const elsewhere = { ...unused, key: Buffer.alloc(16), amount: 10 };
  t.equal(
    (await store.leaseCredits(query, ONE, elsewhere)).granted,
    0,
    "another counter's credits free nothing here",
  );
  await store.returnCredits([{ ...unused, amount: 1_000 }]);
  t.ok((await store.peek(query)).used >= 0, 'a counter never falls below 0');
});

t.test(
  'an admission counts in all windows of its counter, and a change of quota keeps what was used',
  async (t) => {
    const store = world.store();
    const counter = makeCounter();
    await store.leaseCredits(queryOf(counter, makePolicy(10, 60)), { needed: 4, prefetch: 0, shares: 2 });
    t.equal(
      (await store.leaseCredits(queryOf(counter, makePolicy(5, 3_600)), ONE)).used,
      5,
      'the new window includes earlier admissions',
    );
    t.equal((await store.leaseCredits(queryOf(counter, makePolicy(5, 3_600)), ONE)).granted, 0);
    t.equal(
      (await store.leaseCredits(queryOf(counter, makePolicy(10, 60)), ONE)).used,
      6,
      'the other window has counted it too',
    );
    t.equal(
      (await store.leaseCredits(queryOf(counter, makePolicy(6, 60)), ONE)).granted,
      0,
      'a smaller quota is used up',
    );
    t.equal(
      (await store.leaseCredits(queryOf(counter, makePolicy(9, 3_600)), ONE)).used,
      7,
      'a larger quota is not used up',
    );
  },
);

t.test(
  'a counter keeps at most eight windows, among them the longest, which refills new windows',
  async (t) => {
    const store = world.store();
    const counter = makeCounter();
    await store.leaseCredits(queryOf(counter, makePolicy(100, 86_400)), {
      needed: 9,
      prefetch: 0,
      shares: 2,
    });
    for (let windowS = 60; windowS < 80; windowS += 1) {
      await store.leaseCredits(queryOf(counter, makePolicy(100, windowS)), ONE);
    }
    const [row] = await sql`
    select array(select (w).window_s from unnest(windows) w) as kept from assay.limit_counters
     where organization_id = ${counter.organizationId}`;
    t.equal(row?.kept.length, 8);
    t.same(row?.kept.slice(0, 2), [79, 86_400], 'the latest window comes first');
    t.equal(
      (await store.leaseCredits(queryOf(counter, makePolicy(100, 60)), ONE)).used,
      30,
      'a window that was dropped is rebuilt from the longest',
    );
  },
);

t.test('a window that is not used for longer than its own length is dropped', async (t) => {
  const store = world.store();
  const counter = makeCounter();
  await store.leaseCredits(queryOf(counter, makePolicy(100, 1)), ONE);
  await store.leaseCredits(queryOf(counter, makePolicy(100, 60)), ONE);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await store.leaseCredits(queryOf(counter, makePolicy(100, 60)), ONE);
  const [row] = await sql`
    select cardinality(windows) as windows from assay.limit_counters where organization_id = ${counter.organizationId}`;
  t.equal(row?.windows, 1);
});

t.test(
  'values beyond the maximum of counters share the overflow counter, and existing counters keep their use',
  async (t) => {
    const store = world.store({ maxCounters: 3 });
    const { organizationId, apiKeyId } = makeCounter();
    const user = (value: string) =>
      queryOf(makeCounter({ organizationId, apiKeyId, segment: 'user', value }), makePolicy(2));
    for (const value of 'abc') t.equal((await store.leaseCredits(user(value), ONE)).used, 1);
    t.equal((await store.leaseCredits(user('d'), ONE)).used, 1);
    t.equal((await store.leaseCredits(user('e'), ONE)).used, 2, 'e shares the overflow counter with d');
    t.equal((await store.leaseCredits(user('f'), ONE)).granted, 0);
    t.equal((await store.peek(user('g'))).used, 2);
    t.equal((await store.leaseCredits(user('a'), ONE)).used, 2, 'a value that has a counter keeps it');
    const global = queryOf(makeCounter({ organizationId, apiKeyId }), makePolicy(2));
    t.equal((await store.leaseCredits(global, ONE)).used, 1, 'the counter of a whole key never overflows');
    const other = queryOf(makeCounter({ segment: 'user', value: 'd' }), makePolicy(2));
    t.equal((await store.leaseCredits(other, ONE)).used, 1, 'another organization has its own maximum');

    await sql`update assay.limit_counters set expires_at = now() - interval '1 second'
             where organization_id = ${organizationId} and value = 'b'`;
    t.equal(await store.deleteExpired(100), 1);
    t.equal(
      (await store.leaseCredits(user('f'), ONE)).granted,
      0,
      'f stays in the overflow counter as long as that counts something',
    );
    await sql`update assay.limit_counters set expires_at = now() - interval '1 second'
             where organization_id = ${organizationId} and segment = '*'`;
    t.equal(
      (await store.leaseCredits(user('f'), ONE)).used,
      1,
      'once the overflow counter has expired, f gets a counter of its own',
    );
    const [row] =
      await sql`select counters from assay.limit_cardinality where organization_id = ${organizationId}`;
    t.equal(row?.counters, 3);
  },
);

t.test('expired counters are deleted in batches, by one gateway at a time', async (t) => {
  const store = world.store();
  const { organizationId, apiKeyId } = makeCounter();
  for (let user = 0; user < 30; user += 1) {
    const counter = makeCounter({ organizationId, apiKeyId, segment: 'user', value: `user ${user}` });
    await store.leaseCredits(queryOf(counter, makePolicy(5)), ONE);
  }
  await store.deleteExpired(100);
  t.equal(await store.deleteExpired(10), 0, 'nothing has expired yet');
  await sql`update assay.limit_counters set expires_at = now() - interval '1 second'
             where organization_id = ${organizationId}`;
  t.equal(await store.deleteExpired(10), 10);
  const swept = await Promise.all([
    store.deleteExpired(100),
    store.deleteExpired(100),
    store.deleteExpired(100),
  ]);
  t.equal(Math.max(...swept), 20);
  t.equal(
    swept.reduce((sum, rows) => sum + rows),
    20,
  );
  const [row] =
    await sql`select counters from assay.limit_cardinality where organization_id = ${organizationId}`;
  t.equal(row?.counters, 0);
});

t.test('the heartbeat counts the gateways seen within ten seconds', async (t) => {
  const store = world.store();
  t.equal(await store.heartbeat('one'), 1);
  t.equal(await store.heartbeat('two'), 2);
  t.equal(await store.heartbeat('one'), 2);
  t.equal(await store.heartbeat(null), 2, 'a process that is no gateway is not counted');
  await sql`update assay.limit_gateways set seen_at = now() - interval '11 seconds' where process_id = 'two'`;
  t.equal(await store.heartbeat('one'), 1);
  await store.unregister('one');
  t.equal(await store.heartbeat('three'), 1);
});

t.test(
  'the role assay_api reads only the counters of its organization, and cannot change them',
  async (t) => {
    const store = world.store();
    const mine = makeCounter({ segment: 'user', value: 'ada\u0000\ud800' });
    const theirs = makeCounter();
    await store.leaseCredits(queryOf(mine, makePolicy(10)), { needed: 3, prefetch: 0, shares: 2 });
    await store.leaseCredits(queryOf(theirs, makePolicy(10)), ONE);
    const cents = queryOf(makeCounter({ ...mine, unit: 'cents' }), makePolicy(1_000, 60, 'cents'));
    await store.reserve(cents, holdRequest('r', [400]));

    const asApi = connectPostgres({
      url: world.url,
      max: 1,
      role: 'assay_api',
      applicationName: 'api',
      statementTimeoutMs: 5_000,
    });
    t.teardown(() => asApi.end());
    const usage = await inOrganization(asApi, mine.organizationId, (tx) =>
      readUsage(tx, mine.organizationId, 10),
    );
    t.match(usage, [
      { unit: 'cents', segment: 'user', windowS: 60, quota: 1_000, used: 400, reserved: 400 },
      {
        unit: 'request',
        segment: 'user',
        value: 'ada\ufffd\ufffd',
        windowS: 60,
        quota: 10,
        used: 3,
        reserved: 0,
      },
    ]);
    const ofValue = (value: string) =>
      inOrganization(asApi, mine.organizationId, (tx) => readUsage(tx, mine.organizationId, 10, { value }));
    t.match(await ofValue('ada\u0000\ud800'), [{ unit: 'cents' }, { unit: 'request' }]);
    t.same(await ofValue('ad'), []);
    t.ok(usage.every(({ resetMs }) => resetMs > 58_000 && resetMs <= 61_000));
    t.same(
      await inOrganization(asApi, mine.organizationId, (tx) => readUsage(tx, theirs.organizationId, 10)),
      [],
    );
    await t.rejects(
      inOrganization(asApi, mine.organizationId, (tx) => tx`update assay.limit_counters set seen_ms = 0`),
      { code: '42501' },
    );
  },
);

/** Moves a counter's time, as if all that it counts had been counted by another clock. */
async function moveTime(key: Buffer, byMs: number): Promise<void> {
  await sql`
    update assay.limit_counters
       set seen_ms = seen_ms + ${byMs}::bigint, expires_at = expires_at + ${byMs} * interval '1 millisecond',
           windows = array(
             select row(w.window_s, w.width_ms, w.depth, w.quota, w.asked_ms + ${byMs}::bigint,
                        w.newest + (seen_ms + ${byMs}::bigint) / w.width_ms - seen_ms / w.width_ms, w.counts)::assay.limit_window
               from unnest(windows) w)
     where counter_key = ${key}`;
}

t.test(
  'a counter that was used while the clock of Postgres was hours ahead is free a window later',
  async (t) => {
    const store = world.store();
    const query = queryOf(makeCounter(), makePolicy(5));
    const { key } = await store.leaseCredits(query, { needed: 5, prefetch: 0, shares: 2 });
    await moveTime(key, 400 * 3_600_000);
    const refused = await store.leaseCredits(query, ONE);
    t.equal(refused.granted, 0, 'what was counted stays for a window');
    t.ok(refused.retryMs > 58_000 && refused.retryMs <= 61_000);
    await moveTime(key, -30_000);
    t.equal((await store.leaseCredits(query, ONE)).granted, 0);
    await moveTime(key, -31_000);
    t.equal((await store.peek(query)).used, 0);
    t.equal((await store.leaseCredits(query, ONE)).granted, 1);
    const [row] =
      await sql`select expires_at < now() + interval '5 minutes' as soon from assay.limit_counters where counter_key = ${key}`;
    t.equal(row!.soon, true, 'and its row does not outlive the wrong time');
  },
);

t.test('a counter whose Postgres is a little behind stands still', async (t) => {
  const store = world.store();
  const query = queryOf(makeCounter(), makePolicy(5));
  const { key, atMs } = await store.leaseCredits(query, { needed: 5, prefetch: 0, shares: 2 });
  await moveTime(key, 30_000);
  t.equal((await store.leaseCredits(query, ONE)).atMs, atMs + 30_000);
});
