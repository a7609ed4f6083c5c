import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { logPolicy } from '#core/rate-limit/mod.ts';
import type { Decision } from '#platform/limiter/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { waitFor } from '../../../support/assay.ts';
import { limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
const admitted = (decisions: readonly Decision[]) => decisions.filter(({ isAdmitted }) => isAdmitted).length;

t.test('concurrent calls are admitted up to exactly the quota, each with the remaining quota', async (t) => {
  const limiter = world.limiter(t);
  for (const quota of [1, 3, 20]) {
    const counter = makeCounter();
    const decisions = await Promise.all(
      Array.from({ length: 50 }, () => limiter.admit(counter, makePolicy(quota))),
    );
    t.equal(admitted(decisions), quota);
    const left = decisions.slice(0, quota).map(({ remaining }) => remaining);
    t.same(
      left,
      Array.from({ length: quota }, (_, place) => quota - 1 - place),
    );
    const refused = decisions.at(-1)!;
    t.match(refused, { isAdmitted: false, remaining: 0, isDegraded: false });
    t.ok(refused.retryAfterMs > 58_000 && refused.retryAfterMs <= refused.resetMs);
    // The back-off lasts 50 ms, which a busy machine may sleep through.
    await waitFor('a refusal without a round trip', async () => {
      const again = limiter.admit(counter, makePolicy(quota));
      t.match(await again, { isAdmitted: false });
      return !(again instanceof Promise);
    });
  }
});

t.test(
  'the first call of a counter leases no credit but its own, in a process that has just begun, too',
  async (t) => {
    const beganAt = performance.now() - 10;
    const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() - beganAt };
    const counter = makeCounter();
    const policy = makePolicy(4, 3_600);
    const young = await world.limiter(t, { processId: 'young', clock }).admit(counter, policy);
    t.match(young, { isAdmitted: true, remaining: 3 });
    const other = await world.limiter(t, { processId: null }).admit(counter, policy);
    t.match(other, { isAdmitted: true, remaining: 2 });
  },
);

t.test('two limiters on one database together admit exactly the quota of calls', async (t) => {
  const limiters = [world.limiter(t, { processId: 'a' }), world.limiter(t, { processId: 'b' })];
  const counter = makeCounter();
  const policy = makePolicy(300, 3_600);
  let total = 0;
  for (let round = 0; round < 60; round += 1) {
    const decisions = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 5 }, () => limiter.admit(counter, policy))),
    );
    total += admitted(decisions);
  }
  // What one limiter holds and does not need, the other gets.
  await waitFor('the whole quota to be admitted', async () => {
    for (const limiter of limiters) total += admitted([await limiter.admit(counter, policy)]);
    return total >= 300;
  });
  t.equal(total, 300);
});

t.test(
  'inside a lease a decision is synchronous, and unspent credits are returned at the stop',
  async (t) => {
    const limiter = world.limiter(t);
    const counter = makeCounter();
    const policy = makePolicy(1_000_000, 3_600);
    let atOnce = 0;
    let previous = Number.POSITIVE_INFINITY;
    for (let call = 0; call < 5_000; call += 1) {
      const decision = limiter.admit(counter, policy);
      if (decision instanceof Promise) {
        t.ok((await decision).isAdmitted);
      } else {
        atOnce += 1;
        if (decision.remaining > previous) t.fail('the remaining quota grew');
        previous = decision.remaining;
      }
      // Yields to the event loop, as a gateway does.
      if (call % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(atOnce > 4_500, `${atOnce} of 5,000`);
    await limiter.stop(1_000);
    t.equal(
      (await world.store().peek(queryOf(counter, policy))).used,
      5_000,
      'credits that were not spent are returned',
    );
  },
);

t.test('prefetched credits that a gateway does not use are returned to the counter', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter();
  const policy = makePolicy(1_000, 86_400);
  const decisions = await Promise.all(Array.from({ length: 100 }, () => limiter.admit(counter, policy)));
  t.equal(admitted(decisions), 100);
  await limiter.admit(counter, policy);
  const store = world.store();
  const used = async () => (await store.peek(queryOf(counter, policy))).used;
  t.ok((await used()) > 101, 'the gateway prefetched');
  await waitFor('the credits to be returned', async () => (await used()) === 101);
});

t.test('the credits of a refill that is under way at the stop are returned', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter();
  const policy = makePolicy(1_000_000, 86_400);
  // A burst makes the gateway lease in advance.
  let calls = 100;
  await Promise.all(Array.from({ length: calls }, () => limiter.admit(counter, policy)));
  let last: Decision | Promise<Decision>;
  do {
    last = limiter.admit(counter, policy);
    calls += 1;
  } while (!(last instanceof Promise));
  await limiter.stop(5_000);
  t.ok((await last).isAdmitted);
  t.equal((await world.store().peek(queryOf(counter, policy))).used, calls);
});

t.test('peek uses no quota', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter();
  t.match(await limiter.peek(counter, makePolicy(3)), {
    isAdmitted: true,
    remaining: 3,
    resetMs: 0,
    retryAfterMs: 0,
  });
  for (let call = 0; call < 3; call += 1) await limiter.admit(counter, makePolicy(3));
  for (let peeks = 0; peeks < 5; peeks += 1) {
    t.match(await limiter.peek(counter, makePolicy(3)), {
      isAdmitted: false,
      remaining: 0,
      isDegraded: false,
    });
  }
  t.match(await limiter.peek(counter, makePolicy(5)), { isAdmitted: true, remaining: 2 });
});

t.test('a counter keeps its use when its gateway stops', async (t) => {
  const counter = makeCounter({ segment: 'user', value: 'ada' });
  for (const left of [2, 1, 0]) {
    const limiter = world.limiter(t);
    t.equal((await limiter.admit(counter, makePolicy(3))).remaining, left);
    await limiter.stop(1_000);
  }
  t.notOk((await world.limiter(t).admit(counter, makePolicy(3))).isAdmitted);
});

t.test('the limit on logs admits its quota in five seconds, and again after the window', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ apiKeyId: null, unit: 'log' });
  const decisions = await Promise.all(
    Array.from({ length: 900 }, () => limiter.admit(counter, logPolicy(834))),
  );
  t.equal(admitted(decisions), 834);
  t.ok(decisions.at(-1)!.retryAfterMs <= 5_050);
  await sleep(decisions.at(-1)!.resetMs);
  t.ok((await limiter.admit(counter, logPolicy(834))).isAdmitted, 'a new window admits again');
});

t.test(
  'an unlimited number of users takes a limited number of counters, with shortened values',
  async (t) => {
    const limiter = world.limiter(t, { maxCounters: 50 });
    const { organizationId, apiKeyId } = makeCounter();
    const of = (value: string) => makeCounter({ organizationId, apiKeyId, segment: 'user', value });
    const long = 'x'.repeat(10_000);
    for (let user = 0; user < 300; user += 1) await limiter.admit(of(`${long}${user}`), makePolicy(1));
    const [row] = await world.sql`
    select count(*)::int as counters, max(length(value)) as longest from assay.limit_counters
     where organization_id = ${organizationId}`;
    t.same(row, { counters: 51, longest: 256 });
  },
);
