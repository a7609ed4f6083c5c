/** The counters' store goes away and comes back: no call fails for it, and none goes uncounted. */
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { limitHeaders, readAll, remainingOf, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t);
const { gateway, provider, proxy } = world;
const DEGRADED = 'service-ratelimit-degraded';
const degradedCalls = () => gateway.metric('gateway_limits_degraded_total');

const MUCH = { 'Service-RateLimit-Policy': '1000000;w=3600;s=user', 'Service-User-Id': 'probe' };

/** A key that the gateway knows: one it has never seen cannot be checked while Postgres is away. */
async function knownKey(): Promise<string> {
  const key = await world.newKey();
  // The gateway caches a key from the first call after its announcement.
  for (let call = 0; call < 3; call += 1) await readAll(await gateway.chat(key));
  return key;
}

const probe = await knownKey();

/** Calls with another counter until the answer says, or no longer says, that limits are degraded. */
async function untilDegraded(isDegraded: boolean): Promise<void> {
  await waitFor(isDegraded ? 'a degraded answer' : 'an exact answer', async () => {
    const answer = await readAll(await gateway.chat(probe, MUCH));
    return answer.status === 200 && DEGRADED in answer.headers === isDegraded;
  });
}

for (const [what, loseStore, bringBack] of [
  ['cut off', proxy.cut, proxy.restore],
  ['silent', async () => proxy.freeze(), async () => proxy.thaw()],
] as const) {
  t.test(
    `while Postgres is ${what}, calls are admitted as degraded, and counted once it is back`,
    async (t) => {
      const key = await knownKey();
      const policy = { 'Service-RateLimit-Policy': '8;w=3600' };
      const before = await gateway.chat(key, policy);
      t.equal(remainingOf(before), 7);
      t.equal(before.headers.get(DEGRADED), null);
      await before.text();
      const degradedBefore = await degradedCalls();

      await loseStore();
      let isLost = true;
      t.teardown(async () => {
        if (isLost) await bringBack();
      });
      await untilDegraded(true);
      t.ok((await degradedCalls()) > degradedBefore, 'a metric rises');
      for (const remaining of ['6', '5', '4']) {
        const during = await gateway.chat(key, policy);
        t.equal(during.status, 200);
        t.match(limitHeaders(during), {
          'service-ratelimit-limit': '8',
          'service-ratelimit-policy': '8;w=3600;u=request',
          'service-ratelimit-remaining': remaining,
          'service-ratelimit-reset': /^\d+$/,
          ratelimit: new RegExp(`^"default";r=${remaining};t=\\d+$`),
          'service-ratelimit-degraded': 'true',
        });
        await during.text();
      }

      await bringBack();
      isLost = false;
      await untilDegraded(false);
      const calls = Array.from({ length: 10 }, async () => readAll(await gateway.chat(key, policy)));
      const answers = await Promise.all(calls);
      t.notOk(answers.some(({ headers }) => DEGRADED in headers));
      const passed = answers.filter(({ status }) => status === 200).length;
      t.equal(
        passed,
        4,
        'what went through meanwhile counts: of all calls, as many as the quota were let in',
      );
    },
  );
}

t.test('while Postgres is unavailable a gateway admits no more than its share of the quota', async (t) => {
  const key = await knownKey();
  const policy = { 'Service-RateLimit-Policy': '5;w=60' };
  await readAll(await gateway.chat(key, policy));
  await proxy.cut();
  t.teardown(async () => {
    await proxy.restore();
    await untilDegraded(false);
  });
  await untilDegraded(true);
  const before = provider.requests.length;
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => readAll(await gateway.chat(key, policy))),
  );
  const passed = answers.filter(({ status }) => status === 200).length;
  t.equal(passed, 4, 'with the call from before the outage: the quota');
  t.equal(provider.requests.length - before, passed);
  const refused = answers.find(({ status }) => status === 429)!;
  t.equal(refused.headers[DEGRADED], 'true');
  t.match(refused.headers, { 'x-should-retry': 'false', 'retry-after': /^[1-9]\d*$/ });
  t.match(JSON.parse(refused.text), { error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } });
});

const NINE_CENTS = { promptTokens: 200_000, completionTokens: 100_000 };
const NINE_CENTS_NANO = 90_000_000;

t.test(
  'limits in cents apply while Postgres is unavailable, and the costs are settled afterwards',
  async (t) => {
    const key = await knownKey();
    const policy = { 'Service-RateLimit-Policy': '100;w=3600;u=cents' };
    provider.script(() => ({ kind: 'answer', usage: NINE_CENTS }));
    t.teardown(() => provider.script(null));
    t.equal((await readAll(await gateway.chat(key, policy))).status, 200);
    await proxy.cut();
    await untilDegraded(true);
    for (let call = 0; call < 3; call += 1) {
      const answer = await readAll(await gateway.chat(key, policy));
      t.equal(answer.status, 200);
      t.equal(answer.headers[DEGRADED], 'true');
    }
    await proxy.restore();
    await waitFor('the cost of every call to be counted', async () => {
      const [counter] = await world.sql<{ used: number }[]>`
      select (select sum(n) from unnest((windows[1]).counts) n)::float8 as used
        from assay.limit_counters where api_key_id = ${world.idsOf(key).keyId}`;
      return counter?.used === 4 * NINE_CENTS_NANO;
    });
    const [open] = await world.sql<{ open: number }[]>`
    select count(*)::int as open from assay.limit_reservations where settled_nano is null`;
    t.equal(open!.open, 0);
  },
);
