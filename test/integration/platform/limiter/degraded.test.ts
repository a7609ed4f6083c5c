import t from 'tap';
import type { Decision } from '#platform/limiter/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { tcpProxy } from '../../../support/tcp-proxy.ts';
import { limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
const admitted = (decisions: readonly Decision[]) => decisions.filter(({ isAdmitted }) => isAdmitted).length;

async function behindProxy(t: Test, options: { gateways?: number; storeTimeoutMs?: number } = {}) {
  const proxy = await tcpProxy(world.url);
  t.teardown(() => proxy.close());
  let degraded = 0;
  const onDegraded = () => {
    degraded += 1;
  };
  const limiter = world.limiter(t, { url: proxy.url, onDegraded, ...options });
  return { proxy, limiter, degraded: () => degraded };
}
type Test = Parameters<typeof limitsWorld>[0];

t.test(
  'while Postgres is unavailable a gateway admits its share, marks decisions as degraded, and reports the calls afterwards',
  async (t) => {
    const { proxy, limiter, degraded } = await behindProxy(t, { gateways: 2 });
    const counter = makeCounter();
    const policy = makePolicy(100, 3_600);
    t.match(await limiter.admit(counter, policy), { isAdmitted: true, isDegraded: false, remaining: 99 });
    await proxy.cut();
    const decisions = await Promise.all(Array.from({ length: 80 }, () => limiter.admit(counter, policy)));
    t.equal(admitted(decisions), 49, 'half of the quota, less the call admitted before');
    t.ok(decisions.every(({ isDegraded }) => isDegraded));
    t.equal(degraded(), 80, 'onDegraded is called for each of them');
    t.match(decisions[0], { remaining: 48 });
    const refused = decisions.at(-1)!;
    t.ok(!refused.isAdmitted && refused.remaining === 0 && refused.retryAfterMs > 3_500_000);
    t.ok(limiter.isDegraded());
    t.match(await limiter.peek(counter, policy), { isDegraded: true, isAdmitted: false });
    t.notOk(
      limiter.admit(counter, policy) instanceof Promise,
      'no call waits for a store that is unavailable',
    );

    await proxy.restore();
    await waitFor('the store to be available', async () => !limiter.isDegraded());
    t.equal((await world.store().peek(queryOf(counter, policy))).used, 50);
    t.match(await limiter.admit(counter, policy), { isAdmitted: true, isDegraded: false, remaining: 49 });
  },
);

t.test(
  'a call waits only for the store timeout when Postgres hangs, and later calls do not wait at all',
  async (t) => {
    const { proxy, limiter } = await behindProxy(t, { storeTimeoutMs: 250 });
    const policy = makePolicy(1_000, 3_600);
    await limiter.admit(makeCounter(), policy);
    proxy.freeze();
    const start = performance.now();
    const counter = makeCounter();
    t.match(await limiter.admit(counter, policy), { isAdmitted: true, isDegraded: true });
    t.ok(performance.now() - start < 5_000);
    const next = limiter.admit(makeCounter(), policy);
    t.notOk(next instanceof Promise, 'the next call does not wait at all');
    proxy.thaw();
    await waitFor('the store to be available', async () => !limiter.isDegraded());
    // The lease that timed out was granted after all: its credit is returned, and the admission counted.
    await waitFor(
      'the call to be counted once',
      async () => (await world.store().peek(queryOf(counter, policy))).used === 1,
    );
  },
);

t.test('a gateway spends its lease before it decides as degraded', async (t) => {
  const { proxy, limiter } = await behindProxy(t);
  const counter = makeCounter();
  const policy = makePolicy(100_000, 86_400);
  await Promise.all(Array.from({ length: 200 }, () => limiter.admit(counter, policy)));
  await limiter.admit(counter, policy);
  await proxy.cut();
  await limiter.admit(makeCounter(), policy);
  t.ok(limiter.isDegraded());
  t.match(await limiter.admit(counter, policy), { isAdmitted: true, isDegraded: false });
});

t.test('a gateway that starts while Postgres is unavailable admits its share of the quota', async (t) => {
  const { proxy, limiter } = await behindProxy(t, { gateways: 4 });
  await proxy.cut();
  const counter = makeCounter();
  const decisions = await Promise.all(
    Array.from({ length: 10 }, () => limiter.admit(counter, makePolicy(8))),
  );
  t.equal(admitted(decisions), 2);
  t.ok(
    (await limiter.admit(makeCounter(), makePolicy(1))).isAdmitted,
    'a quota too small to share admits one call',
  );
});

t.test(
  'costs are reserved by the share while degraded, and settled once Postgres is available',
  async (t) => {
    const { proxy, limiter } = await behindProxy(t, { gateways: 2 });
    const counter = makeCounter({ unit: 'cents' });
    const policy = makePolicy(1_000, 3_600, 'cents');
    const reserve = (estimateNano: number) => limiter.reserve(counter, policy, estimateNano);
    const before = await reserve(200);
    t.match(before, { isAdmitted: true, isDegraded: false, remaining: 800 });
    await proxy.cut();
    const degradedCall = await reserve(250);
    t.match(degradedCall, { isAdmitted: true, isDegraded: true, remaining: 50 });
    const degradedAndOpen = await reserve(60);
    t.match(degradedAndOpen, { isAdmitted: true, isDegraded: true, remaining: 0 });
    const refused = await reserve(1);
    t.match(refused, { isAdmitted: false, isDegraded: true });
    refused.settle(500);
    before.settle(120);
    degradedCall.settle(30);
    const last = await reserve(7);
    t.match(last, { isAdmitted: true, isDegraded: true }, 'the settled costs make room');
    t.equal(limiter.unreportedCalls(), 2);

    await proxy.restore();
    await waitFor(
      'all ended calls to be reported',
      async () => !limiter.isDegraded() && limiter.unreportedCalls() === 0,
    );
    t.equal((await world.store().peek(queryOf(counter, policy))).used, 120 + 30 + 60 + 7);
    degradedAndOpen.settle(10);
    last.settle(null);
    await waitFor('all calls to be settled', async () => limiter.unreportedCalls() === 0);
    t.equal((await world.store().peek(queryOf(counter, policy))).used, 120 + 30 + 10 + 7);
  },
);

t.test(
  'a call that the counters cannot store is no outage, and other settlements still arrive',
  async (t) => {
    const { limiter } = await behindProxy(t);
    const policy = makePolicy(1_000, 3_600);
    const impossible = makeCounter({ organizationId: 'no organization' });
    t.match(await limiter.admit(impossible, policy), { isAdmitted: true, isDegraded: true });
    t.notOk(limiter.isDegraded());

    const counter = makeCounter({ unit: 'cents' });
    const cents = makePolicy(1_000, 3_600, 'cents');
    const lost = await limiter.reserve({ ...impossible, unit: 'cents' }, cents, 500);
    t.match(lost, { isAdmitted: true, isDegraded: true });
    const { settle } = await limiter.reserve(counter, cents, 500);
    lost.settle(5);
    settle(5);
    await waitFor(
      'one call to be settled and one to be dropped',
      async () => limiter.unreportedCalls() === 0,
    );
    t.equal((await world.store().peek(queryOf(counter, cents))).used, 5);
    t.notOk(limiter.isDegraded());
  },
);

t.test('a limiter stops within its timeout while Postgres hangs', async (t) => {
  const { proxy, limiter } = await behindProxy(t, { storeTimeoutMs: 250 });
  const { settle } = await limiter.reserve(makeCounter({ unit: 'cents' }), makePolicy(9, 60, 'cents'), 1);
  proxy.freeze();
  settle(1);
  const start = performance.now();
  await limiter.stop(200);
  t.ok(performance.now() - start < 5_000);
});
