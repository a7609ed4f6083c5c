/** Calls under two limits: both are charged, or neither. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { createWindow, parsePolicy, windowShape } from '#core/rate-limit/mod.ts';
import { used } from '#core/rate-limit/window.ts';
import { type Counter, type Limit, type Limiter, readUsage } from '#platform/limiter/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { tcpProxy } from '../../../support/tcp-proxy.ts';
import { admit } from '../../../support/window-model.ts';
import { limitsWorld } from './world.ts';

const world = await limitsWorld(t);

/** The limits of a fresh key, and of calls that name a policy. */
function limits(own: string, named: string): { own: Limit; named: Limit; organizationId: string } {
  const organizationId = randomUUID();
  const apiKeyId = randomUUID();
  const limit = (text: string, isOfKey: boolean): Limit => {
    const policy = parsePolicy(text);
    const counter: Counter = { organizationId, apiKeyId, unit: policy.unit, segment: '', value: '' };
    return { policy, counter: isOfKey ? { ...counter, isOfKey: true } : counter };
  };
  return { own: limit(own, true), named: limit(named, false), organizationId };
}

/** What counts in the two counters, once their gateways have let go of what they hold. */
async function usedOf(organizationId: string): Promise<{ own: number; named: number }> {
  const usage = await readUsage(world.sql, organizationId, 10);
  const of = (isOfKey: boolean) => usage.find((counter) => counter.isOfKey === isOfKey)?.used ?? 0;
  return { own: of(true), named: of(false) };
}

const decide = async (limiter: Limiter, { own, named }: { own: Limit; named: Limit }, estimate = 0) =>
  limiter.admitByBoth(own, named, estimate);

t.test('calls under two policies pass as in two windows of which both are charged or neither', async (t) => {
  const limiter = world.limiter(t);
  // Hours: nothing slides out of a window while the test runs.
  const quota = fc.integer({ min: 1, max: 9 });
  const calls = fc.array(fc.constantFrom('both', 'own', 'named'), { minLength: 1, maxLength: 14 });
  const check = fc.asyncProperty(quota, quota, calls, async (ownQuota, namedQuota, kinds) => {
    const { own, named, organizationId } = limits(`${ownQuota};w=7200`, `${namedQuota};w=3600`);
    const windows = { own: createWindow(windowShape(7_200)), named: createWindow(windowShape(3_600)) };
    const now = 10_000_000;
    for (const kind of kinds) {
      const hasRoom = (of: 'own' | 'named', most: number) => used(windows[of], now) < most;
      const expected =
        (kind === 'named' || hasRoom('own', ownQuota)) && (kind === 'own' || hasRoom('named', namedQuota));
      if (expected && kind !== 'named') admit(windows.own, now, 1, ownQuota);
      if (expected && kind !== 'own') admit(windows.named, now, 1, namedQuota);
      const single = kind === 'own' ? own : named;
      const decision =
        kind === 'both'
          ? await limiter.admitByBoth(own, named, 0)
          : await limiter.admit(single.counter, single.policy);
      if (decision.isAdmitted !== expected) return false;
      if (kind === 'both' && !expected && decision.retryAfterMs === 0) return false;
    }
    let counted = await usedOf(organizationId);
    const wanted = { own: used(windows.own, now), named: used(windows.named, now) };
    if (counted.own !== wanted.own || counted.named !== wanted.named) {
      // A credit that was given back returns to its counter within a second.
      await waitFor('credits to be returned', async () => {
        counted = await usedOf(organizationId);
        return counted.own === wanted.own && counted.named === wanted.named;
      });
    }
    return true;
  });
  // Each failure waits for credits that do not come: the first one is enough.
  await fc.assert(check, { ...runs(t, 25), endOnFailure: true });
});

t.test(
  'of many calls at once through two gateways the tighter policy lets its quota pass, and the other is charged as much',
  async (t) => {
    const gateways = [world.limiter(t), world.limiter(t)];
    const given = limits('30;w=3600', '12;w=3600');
    const decisions = await Promise.all(
      Array.from({ length: 120 }, (_, call) => decide(gateways[call % 2]!, given)),
    );
    let passed = decisions.filter(({ isAdmitted }) => isAdmitted).length;
    t.ok(passed <= 12, `${passed} passed`);
    await waitFor('all of the quota to be used', async () => {
      passed += (await decide(gateways[0]!, given)).isAdmitted ? 1 : 0;
      return passed >= 12;
    });
    t.equal((await decide(gateways[1]!, given)).isAdmitted, false);
    await waitFor('what was given back to be returned', async () => {
      const { own, named } = await usedOf(given.organizationId);
      return own === 12 && named === 12;
    });
  },
);

t.test(
  'of money both are charged what a call cost, and neither what a refused call would have',
  async (t) => {
    const limiter = world.limiter(t);
    const given = limits('1;w=3600;u=cents', '2;w=3600');
    const first = await decide(limiter, given, 4_000_000);
    t.equal(first.isAdmitted, true);
    first.settle(1_000_000);
    const second = await decide(limiter, given, 4_000_000);
    second.settle(null);
    const refused = await decide(limiter, given, 4_000_000);
    t.match(refused, { isAdmitted: false, policy: { unit: 'request' } });
    await waitFor('the costs to be settled', async () => {
      const { own, named } = await usedOf(given.organizationId);
      return own === 5_000_000 && named === 2;
    });
    const both = limits('0.1;w=3600;u=cents', '1;w=3600;u=cents');
    const one = await decide(limiter, both, 1_500_000);
    t.equal(one.isAdmitted, true);
    t.match(await decide(limiter, both, 1_500_000), { isAdmitted: false, policy: { quota: 1_000_000 } });
    one.settle(1_500_000);
    await waitFor('the reservation of the refused call to be given back', async () => {
      const { own, named } = await usedOf(both.organizationId);
      return own === 1_500_000 && named === 1_500_000;
    });
  },
);

t.test(
  'while Postgres is away both policies hold by their shares, and what passed is counted in both later',
  async (t) => {
    const proxy = await tcpProxy(world.url);
    t.teardown(() => proxy.close());
    const limiter = world.limiter(t, { url: proxy.url });
    const given = limits('5;w=3600', '3;w=3600');
    t.equal((await decide(limiter, given)).isAdmitted, true);
    await proxy.cut();
    let passed = 1;
    for (let call = 0; call < 8; call += 1) {
      const decision = await decide(limiter, given);
      t.equal(decision.isDegraded, true);
      if (decision.isAdmitted) passed += 1;
      else t.equal(decision.policy.quota, 3);
    }
    t.equal(passed, 3);
    await proxy.restore();
    await waitFor('the calls to be counted', async () => {
      const { own, named } = await usedOf(given.organizationId);
      return own === 3 && named === 3;
    });
  },
);
