import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Counter, type Limiter, readUsage } from '#platform/limiter/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { seededRandom } from '../../../support/random.ts';
import { startProgram } from './with-parent.ts';
import { limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
const { sql } = world;

/** Resolves once no money of a counter is held, and all ended calls of its gateway are reported. */
async function untilSettled(limiter: Limiter, { organizationId }: Counter): Promise<void> {
  await waitFor('all calls to be settled', async () => {
    const [usage] = await readUsage(sql, organizationId, 10);
    return limiter.unreportedCalls() === 0 && usage?.reserved === 0;
  });
}

t.test(
  'two hundred concurrent calls settle to exactly what they cost, and exceed the quota only by what estimates were too low',
  async (t) => {
    const limiter = world.limiter(t);
    const random = seededRandom(21);
    const counter = makeCounter({ unit: 'cents' });
    const quota = 100_000;
    const policy = makePolicy(quota, 3_600, 'cents');
    const ESTIMATE = 1_000;
    let spent = 0;
    let error = 0;
    let admitted = 0;
    const call = async () => {
      const { isAdmitted, settle } = await limiter.reserve(counter, policy, ESTIMATE);
      if (!isAdmitted) return;
      admitted += 1;
      await sleep(random() * 50);
      const isAborted = random() < 0.3;
      // The cost of an aborted call is unknown: its estimate stands. The others cost anything.
      const cost = isAborted ? ESTIMATE : Math.floor(random() * 1.6 * ESTIMATE);
      spent += cost;
      error += Math.max(0, cost - ESTIMATE);
      settle(isAborted ? null : cost);
      if (random() < 0.2) settle(9_999_999);
    };
    await Promise.all(Array.from({ length: 200 }, call));
    await untilSettled(limiter, counter);
    t.ok(admitted >= 100, `${admitted} admitted: money that some calls did not use admits others`);
    t.match(await readUsage(sql, counter.organizationId, 10), [{ used: spent, reserved: 0, quota }]);
    t.ok(spent < quota + ESTIMATE + error, `${spent} of ${quota} spent, estimates erred by ${error}`);
  },
);

t.test('money that a call reserved and did not use is available to the next call', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000, 3_600, 'cents');
  for (let call = 0; call < 20; call += 1) {
    const { isAdmitted, settle } = await limiter.reserve(counter, policy, 900);
    t.ok(isAdmitted, `call ${call}`);
    settle(10);
  }
  await waitFor('all calls to be settled', async () => limiter.unreportedCalls() === 0);
  t.equal((await world.store().peek(queryOf(counter, policy))).used, 200);
});

t.test(
  'most calls of a busy counter draw from a prefetched hold, and the counter ends up with exactly what they cost',
  async (t) => {
    const limiter = world.limiter(t);
    const counter = makeCounter({ unit: 'cents' });
    const quota = 50_000_000;
    const policy = makePolicy(quota, 3_600, 'cents');
    const random = seededRandom(22);
    const DEAREST = 1_100;
    let used = 0;
    /** Makes 3,000 calls. Returns how many were decided synchronously, and how many are unreported after them. */
    const callOften = async () => {
      let atOnce = 0;
      for (let call = 0; call < 3_000; call += 1) {
        // Unreported calls may have cost so much more than was reserved for them.
        const unreported = limiter.unreportedCalls() * (DEAREST - 1_000);
        const reserved = limiter.reserve(counter, policy, 1_000);
        if (!(reserved instanceof Promise)) atOnce += 1;
        const { isAdmitted, remaining, settle } = await reserved;
        used += 1_000;
        if (!isAdmitted || remaining > quota - used + unreported || remaining < 0) {
          t.fail(`call ${call}: ${remaining} left of ${quota}, and ${used} used`);
        }
        const cost = Math.floor(random() * DEAREST);
        settle(cost);
        used += cost - 1_000;
        // Yields to the event loop, as a gateway does.
        if (call % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return { atOnce, unsettled: limiter.unreportedCalls() };
    };
    const reservations = async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from assay.limit_reservations where organization_id = ${counter.organizationId}`;
      return row!.count;
    };
    // A hold lives for a second, which a busy machine may sleep through: then the next 3,000 calls show it.
    await waitFor('nearly all calls to be decided synchronously, by few reservations', async () => {
      const before = await reservations();
      const { atOnce, unsettled } = await callOften();
      return atOnce > 2_500 && unsettled > 0 && (await reservations()) - before < 100;
    });
    await waitFor('all calls to be settled', async () => limiter.unreportedCalls() === 0);
    // The unused rest of a prefetch is returned when its hold expires, a moment later.
    await waitFor('no money to be held', async () => {
      const [counted] = await readUsage(sql, counter.organizationId, 10);
      return counted?.reserved === 0;
    });
    t.match(await readUsage(sql, counter.organizationId, 10), [{ used, reserved: 0 }]);
  },
);

t.test('the unused rest of a prefetched hold returns to the counter', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000_000, 86_400, 'cents');
  const used = async () => (await world.store().peek(queryOf(counter, policy))).used;
  const calls: Awaited<ReturnType<Limiter['reserve']>>[] = [];
  // A hold lives for a second, which a busy machine may sleep through.
  await waitFor('more to be reserved than the calls need', async () => {
    calls.push(
      ...(await Promise.all(Array.from({ length: 100 }, () => limiter.reserve(counter, policy, 100)))),
    );
    return (await used()) > calls.length * 100;
  });
  await waitFor('the rest to be returned', async () => (await used()) === calls.length * 100);
  for (const { settle } of calls) settle(1);
  await waitFor('all calls to be settled', async () => (await used()) === calls.length);
});

t.test('two limiters on one database together admit calls for exactly the quota of money', async (t) => {
  const limiters = [world.limiter(t, { processId: 'a' }), world.limiter(t, { processId: 'b' })];
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(40_000, 3_600, 'cents');
  let admitted = 0;
  const reserve = async (limiter: Limiter) => {
    const { isAdmitted, settle } = await limiter.reserve(counter, policy, 100);
    if (!isAdmitted) return;
    admitted += 1;
    settle(null);
  };
  for (let round = 0; round < 60; round += 1) {
    await Promise.all(limiters.flatMap((limiter) => Array.from({ length: 5 }, () => reserve(limiter))));
  }
  // What one limiter holds and does not need, the other gets.
  await waitFor('the whole quota to be admitted', async () => {
    for (const limiter of limiters) await reserve(limiter);
    return admitted >= 400;
  });
  for (const limiter of limiters) await reserve(limiter);
  t.equal(admitted, 400);
});

t.test('a limiter that stops sends its settlements first', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000_000, 3_600, 'cents');
  const calls = await Promise.all(
    Array.from({ length: 700 }, async () => limiter.reserve(counter, policy, 100)),
  );
  for (const { settle } of calls) settle(3);
  await limiter.stop(5_000);
  t.equal((await world.store().peek(queryOf(counter, policy))).used, 2_100);
});

t.test('money that is on its way at the stop is given back, but for what a running call needs', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000_000, 86_400, 'cents');
  let settled = 0;
  for (let burst = 0; burst < 3; burst += 1) {
    const calls = await Promise.all(
      Array.from({ length: 50 }, async () => limiter.reserve(counter, policy, 100)),
    );
    for (const { settle } of calls) settle(1);
    settled += calls.length;
  }
  let running = limiter.reserve(counter, policy, 100);
  while (!(running instanceof Promise)) {
    running.settle(1);
    settled += 1;
    running = limiter.reserve(counter, policy, 100);
  }
  await limiter.stop(5_000);
  t.ok((await running).isAdmitted);
  t.equal((await world.store().peek(queryOf(counter, policy))).used, settled + 100);
});

t.test(
  'after processes are killed at random moments, the counter holds the cost or the estimate of each reservation',
  async (t) => {
    const random = seededRandom(23);
    const counter = makeCounter({ unit: 'cents' });
    const policy = makePolicy(400_000, 3_600, 'cents');
    const limit = JSON.stringify({ counter, policy });
    const start = (seed: number) => startProgram('./spender.ts', [world.url, `${seed}`, limit]);
    const used = async () => (await readUsage(sql, counter.organizationId, 10))[0]?.used ?? 0;
    for (let round = 0; round < 4; round += 1) {
      const children = [start(2 * round), start(2 * round + 1)];
      const before = await used();
      await waitFor('the children to spend', async () => (await used()) > before + 40 * 1_000);
      await sleep(random() * 100);
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
    }
    // Statements of the killed processes may still be running.
    await waitFor('no statement to be running', async () => {
      const [row] = await sql`
      select count(*)::int as busy from pg_stat_activity where application_name = 'spender' and state <> 'idle'`;
      return row?.busy === 0;
    });
    const [held] = await sql`
    select sum(coalesce(settled_nano, estimate_nano))::float8 as charged, count(*)::int as calls,
           count(*) filter (where settled_nano is null)::int as unsettled
      from assay.limit_reservations where organization_id = ${counter.organizationId}`;
    const usage = await readUsage(sql, counter.organizationId, 10);
    t.equal(
      usage[0]?.used,
      held?.charged,
      `${held?.calls} reservations, ${held?.unsettled} of them not settled`,
    );
    t.ok(held!.unsettled > 0, 'some processes were killed between reservation and settlement');
    await sql`update assay.limit_reservations set expires_at = now()`;
    t.match(await readUsage(sql, counter.organizationId, 10), [{ used: held!.charged, reserved: 0 }]);
  },
);
