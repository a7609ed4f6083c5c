import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Counter, type Limiter, readUsage } from '#platform/limiter/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { seededRandom } from '../../../support/random.ts';
import { startProgram } from './with-parent.ts';
import { limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
const { sql } = world;

/** Resolves once nothing of a counter is under way or held, and its gateway has told what calls cost. */
async function untilSettled(limiter: Limiter, { organizationId }: Counter): Promise<void> {
  await waitFor('all is settled', async () => {
    const [usage] = await readUsage(sql, organizationId, 10);
    return limiter.unreportedCalls() === 0 && usage?.reserved === 0;
  });
}

t.test(
  'two hundred calls at once: what is settled is what they cost, and no more is spent than estimates err',
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
      // What an aborted call has cost is not known: its estimate stands. The others cost anything.
      const cost = isAborted ? ESTIMATE : Math.floor(random() * 1.6 * ESTIMATE);
      spent += cost;
      error += Math.max(0, cost - ESTIMATE);
      settle(isAborted ? null : cost);
      if (random() < 0.2) settle(9_999_999);
    };
    await Promise.all(Array.from({ length: 200 }, call));
    await untilSettled(limiter, counter);
    t.ok(admitted >= 100, `${admitted} admitted: by what some did not cost, others are`);
    t.match(await readUsage(sql, counter.organizationId, 10), [{ used: spent, reserved: 0, quota }]);
    t.ok(spent < quota + ESTIMATE + error, `${spent} of ${quota} spent, estimates erred by ${error}`);
  },
);

t.test('what calls did not cost is there for the next ones', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000, 3_600, 'cents');
  for (let call = 0; call < 20; call += 1) {
    const { isAdmitted, settle } = await limiter.reserve(counter, policy, 900);
    t.ok(isAdmitted, `call ${call}`);
    settle(10);
  }
  await waitFor('all is settled', async () => limiter.unreportedCalls() === 0);
  t.equal((await world.store().peek(queryOf(counter, policy))).used, 200);
});

t.test(
  'a counter that is asked often is reserved ahead, and the store soon knows what was spent',
  async (t) => {
    const limiter = world.limiter(t);
    const counter = makeCounter({ unit: 'cents' });
    const quota = 50_000_000;
    const policy = makePolicy(quota, 3_600, 'cents');
    const random = seededRandom(22);
    const DEAREST = 1_100;
    let used = 0;
    /** 3,000 calls: how many of them were decided at once, and how many the store has not heard the end of. */
    const callOften = async () => {
      let atOnce = 0;
      for (let call = 0; call < 3_000; call += 1) {
        // What is not settled yet may have cost so much more than was reserved for it.
        const unheard = limiter.unreportedCalls() * (DEAREST - 1_000);
        const reserved = limiter.reserve(counter, policy, 1_000);
        if (!(reserved instanceof Promise)) atOnce += 1;
        const { isAdmitted, remaining, settle } = await reserved;
        used += 1_000;
        if (!isAdmitted || remaining > quota - used + unheard || remaining < 0) {
          t.fail(`call ${call}: ${remaining} left of ${quota}, and ${used} used`);
        }
        const cost = Math.floor(random() * DEAREST);
        settle(cost);
        used += cost - 1_000;
        // The loop turns, as that of a gateway does.
        if (call % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return { atOnce, unsettled: limiter.unreportedCalls() };
    };
    const reservations = async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from assay.limit_reservations where organization_id = ${counter.organizationId}`;
      return row!.count;
    };
    // What is held lives for a second, which a busy machine may sleep through: then the next 3,000 show it.
    await waitFor('nearly all are decided at once, by few reservations', async () => {
      const before = await reservations();
      const { atOnce, unsettled } = await callOften();
      return atOnce > 2_500 && unsettled > 0 && (await reservations()) - before < 100;
    });
    await waitFor('all is settled', async () => limiter.unreportedCalls() === 0);
    // What is held for calls to come is given back when its hold ends, a moment later.
    await waitFor('nothing is held', async () => {
      const [counted] = await readUsage(sql, counter.organizationId, 10);
      return counted?.reserved === 0;
    });
    t.match(await readUsage(sql, counter.organizationId, 10), [{ used, reserved: 0 }]);
  },
);

t.test('what is reserved ahead and not needed is given back', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000_000, 86_400, 'cents');
  const used = async () => (await world.store().peek(queryOf(counter, policy))).used;
  const calls: Awaited<ReturnType<Limiter['reserve']>>[] = [];
  // What is held lives for a second, which a busy machine may sleep through.
  await waitFor('more is reserved than the calls need', async () => {
    calls.push(
      ...(await Promise.all(Array.from({ length: 100 }, () => limiter.reserve(counter, policy, 100)))),
    );
    return (await used()) > calls.length * 100;
  });
  await waitFor('it is given back', async () => (await used()) === calls.length * 100);
  for (const { settle } of calls) settle(1);
  await waitFor('all is settled', async () => (await used()) === calls.length);
});

t.test('two limiters together admit calls for exactly the quota', async (t) => {
  const limiters = [world.limiter(t, { processId: 'a' }), world.limiter(t, { processId: 'b' })];
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(40_000, 3_600, 'cents');
  let admitted = 0;
  const ask = async (limiter: Limiter) => {
    const { isAdmitted, settle } = await limiter.reserve(counter, policy, 100);
    if (!isAdmitted) return;
    admitted += 1;
    settle(null);
  };
  for (let round = 0; round < 60; round += 1) {
    await Promise.all(limiters.flatMap((limiter) => Array.from({ length: 5 }, () => ask(limiter))));
  }
  // What one of them holds and does not need, the other gets.
  await waitFor('all is admitted', async () => {
    for (const limiter of limiters) await ask(limiter);
    return admitted >= 400;
  });
  for (const limiter of limiters) await ask(limiter);
  t.equal(admitted, 400);
});

t.test('a limiter that stops settles first', async (t) => {
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

t.test('wherever a process is killed, the counter holds each cost, or else its estimate', async (t) => {
  const random = seededRandom(23);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(400_000, 3_600, 'cents');
  const limit = JSON.stringify({ counter, policy });
  const start = (seed: number) => startProgram('./spender.ts', [world.url, `${seed}`, limit]);
  const used = async () => (await readUsage(sql, counter.organizationId, 10))[0]?.used ?? 0;
  for (let round = 0; round < 4; round += 1) {
    const children = [start(2 * round), start(2 * round + 1)];
    const before = await used();
    await waitFor('it spends', async () => (await used()) > before + 40 * 1_000);
    await sleep(random() * 100);
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
  }
  // What the killed ones had sent may still be under way.
  await waitFor('nothing is under way', async () => {
    const [row] = await sql`
      select count(*)::int as busy from pg_stat_activity where application_name = 'spender' and state <> 'idle'`;
    return row?.busy === 0;
  });
  const [held] = await sql`
    select sum(coalesce(settled_nano, estimate_nano))::float8 as charged, count(*)::int as calls,
           count(*) filter (where settled_nano is null)::int as unsettled
      from assay.limit_reservations where organization_id = ${counter.organizationId}`;
  const usage = await readUsage(sql, counter.organizationId, 10);
  t.equal(usage[0]?.used, held?.charged, `${held?.calls} calls, ${held?.unsettled} of them not settled`);
  t.ok(held!.unsettled > 0, 'some were killed between');
  await sql`update assay.limit_reservations set expires_at = now()`;
  t.match(await readUsage(sql, counter.organizationId, 10), [{ used: held!.charged, reserved: 0 }]);
});
