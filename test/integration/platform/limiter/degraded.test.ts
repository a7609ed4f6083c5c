import t from 'tap';
import type { Decision } from '#platform/limiter/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { tcpProxy } from '../../../support/tcp-proxy.ts';
import { limitsWorld, makeCounter, makePolicy, queryOf } from './world.ts';

const world = await limitsWorld(t);
const admitted = (decisions: readonly Decision[]) => decisions.filter(({ isAdmitted }) => isAdmitted).length;

async function behindProxy(t: Test, options: { gateways?: number; patienceMs?: number } = {}) {
  const proxy = await tcpProxy(world.url);
  t.teardown(() => proxy.close());
  let degraded = 0;
  const onDegraded = () => {
    degraded += 1;
  };
  const limiter = world.limiter(t, { url: proxy.url, onDegraded, storeTimeoutMs: 250, ...options });
  return { proxy, limiter, degraded: () => degraded };
}
type Test = Parameters<typeof limitsWorld>[0];

t.test('while the store is away a gateway goes by its share, and says so; then all is counted', async (t) => {
  // A store that refuses is told from one that is slow: a busy machine is no outage.
  const { proxy, limiter, degraded } = await behindProxy(t, { gateways: 2, patienceMs: 5_000 });
  const counter = makeCounter();
  const policy = makePolicy(100, 3_600);
  t.match(await limiter.admit(counter, policy), { isAdmitted: true, isDegraded: false, remaining: 99 });
  await proxy.cut();
  const decisions = await Promise.all(Array.from({ length: 80 }, () => limiter.admit(counter, policy)));
  t.equal(admitted(decisions), 49, 'half of the quota, less what it had admitted before');
  t.ok(decisions.every(({ isDegraded }) => isDegraded));
  t.equal(degraded(), 80, 'each of them is told to the metrics');
  t.match(decisions[0], { remaining: 48 });
  const refused = decisions.at(-1)!;
  t.ok(!refused.isAdmitted && refused.remaining === 0 && refused.retryAfterMs > 3_500_000);
  t.ok(limiter.isDegraded());
  t.match(await limiter.peek(counter, policy), { isDegraded: true, isAdmitted: false });
  t.notOk(limiter.admit(counter, policy) instanceof Promise, 'nobody waits for a store that is away');

  await proxy.restore();
  await waitFor('the store is back', async () => !limiter.isDegraded());
  t.equal((await world.store().peek(queryOf(counter, policy))).used, 50);
  t.match(await limiter.admit(counter, policy), { isAdmitted: true, isDegraded: false, remaining: 49 });
});

t.test('a store that hangs keeps nobody waiting for longer than a moment', async (t) => {
  const { proxy, limiter } = await behindProxy(t);
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
  await waitFor('the store is back', async () => !limiter.isDegraded());
  // The question that nobody waited for was answered after all: its credit is given back, and the admission counted.
  await waitFor(
    'it is counted once',
    async () => (await world.store().peek(queryOf(counter, policy))).used === 1,
  );
});

t.test('the lease is spent before the share', async (t) => {
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

t.test('a gateway that starts while the store is away admits its share', async (t) => {
  const { proxy, limiter } = await behindProxy(t, { gateways: 4 });
  await proxy.cut();
  const counter = makeCounter();
  const decisions = await Promise.all(
    Array.from({ length: 10 }, () => limiter.admit(counter, makePolicy(8))),
  );
  t.equal(admitted(decisions), 2);
  t.ok(
    (await limiter.admit(makeCounter(), makePolicy(1))).isAdmitted,
    'one of a quota that is too small to share',
  );
});

t.test('costs are reserved by the share, and settled when the store is back', async (t) => {
  const { proxy, limiter } = await behindProxy(t, { gateways: 2 });
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000, 3_600, 'cents');
  const reserve = (estimateNano: number) => limiter.reserve(counter, policy, estimateNano);
  const before = await reserve(200);
  t.match(before, { isAdmitted: true, isDegraded: false, remaining: 800 });
  await proxy.cut();
  const away = await reserve(250);
  t.match(away, { isAdmitted: true, isDegraded: true, remaining: 50 });
  const awayAndOpen = await reserve(60);
  t.match(awayAndOpen, { isAdmitted: true, isDegraded: true, remaining: 0 });
  const refused = await reserve(1);
  t.match(refused, { isAdmitted: false, isDegraded: true });
  refused.settle(500);
  before.settle(120);
  away.settle(30);
  const last = await reserve(7);
  t.match(last, { isAdmitted: true, isDegraded: true }, 'now there is room');
  t.equal(limiter.unreportedCalls(), 2);

  await proxy.restore();
  await waitFor('all is told', async () => !limiter.isDegraded() && limiter.unreportedCalls() === 0);
  t.equal((await world.store().peek(queryOf(counter, policy))).used, 120 + 30 + 60 + 7);
  awayAndOpen.settle(10);
  last.settle(null);
  await waitFor('all is settled', async () => limiter.unreportedCalls() === 0);
  t.equal((await world.store().peek(queryOf(counter, policy))).used, 120 + 30 + 10 + 7);
});

t.test('what the store cannot hold is no outage, and keeps nothing else waiting', async (t) => {
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
  await waitFor('one is settled, and one given up', async () => limiter.unreportedCalls() === 0);
  t.equal((await world.store().peek(queryOf(counter, cents))).used, 5);
  t.notOk(limiter.isDegraded());
});

t.test('a limiter that stops while the store is away does so in time', async (t) => {
  const { proxy, limiter } = await behindProxy(t);
  const { settle } = await limiter.reserve(makeCounter({ unit: 'cents' }), makePolicy(9, 60, 'cents'), 1);
  proxy.freeze();
  settle(1);
  const start = performance.now();
  await limiter.stop(200);
  t.ok(performance.now() - start < 5_000);
});
