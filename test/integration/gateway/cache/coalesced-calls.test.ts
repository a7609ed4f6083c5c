/** Calls that ask for the same at the same time: one is made, and its answer is everybody's. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { type Gateway, type Headers, readAll, startLimitsWorld } from '../limits/world.ts';
import { fresh } from './calls-world.ts';

const world = await startLimitsWorld(t);
const { gateway, provider } = world;
const second = await world.start();
const key = await world.newKey();
t.afterEach(() => provider.script(null));

const COALESCED = { 'Service-Cache-Enabled': 'true', 'Service-Cache-Coalesce': 'true' };
const MANY = 1_000;

type Given = { status: number; text: string; headers: Headers };

const call = async (body: object, more: Headers = {}, at: Gateway = gateway, as = key): Promise<Given> =>
  readAll(await at.chat(as, { ...COALESCED, ...more }, body));

/** Returns the number of cache misses so far, followers included. */
const misses = (at: Gateway) => at.metric('cache_misses_total');
async function untilMissed(at: Gateway, before: number, count: number): Promise<void> {
  await waitFor(`${count} calls to wait`, async () => (await misses(at)) - before >= count);
}

const countOf = (given: readonly Given[], header: string, value: string) =>
  given.filter(({ headers }) => headers[header] === value).length;

for (const stream of [false, true]) {
  t.test(
    `${MANY} identical concurrent ${stream ? 'streams' : 'calls'} make one provider request`,
    async (t) => {
      const own = await world.newKey();
      const body = fresh({ stream });
      const before = provider.requests.length;
      const startedAt = performance.now();
      provider.script(() => ({ kind: stream ? 'stream' : 'answer', delayMs: 500 }));
      const given = await Promise.all(Array.from({ length: MANY }, () => call(body, {}, gateway, own)));
      t.comment(`answered in ${(performance.now() - startedAt).toFixed(0)} ms`);
      t.equal(provider.requests.length - before, 1);
      t.ok(given.every(({ status }) => status === 200));
      t.equal(new Set(given.map(({ text }) => text)).size, 1, 'all got the same');
      t.match(given[0]?.text, /Question/);
      t.equal(countOf(given, 'service-cache', 'MISS'), 1);
      t.equal(countOf(given, 'service-cache', 'HIT'), MANY - 1);
      t.equal(new Set(given.map(({ headers }) => headers['service-request-id'])).size, MANY);
      const records = await world.records(own, MANY);
      const [original, ...others] = records.filter(({ cached_from }) => cached_from === null);
      t.equal(others.length, 0);
      t.ok(
        records.every(
          ({ cached_from, cost_nano, request_id }) =>
            request_id === original?.request_id ||
            (cached_from === original?.request_id && cost_nano === '0'),
        ),
        'each has its record, and only one of them a cost',
      );
    },
  );
}

t.test('identical concurrent calls of two gateways make one provider request', async (t) => {
  provider.script(() => ({ kind: 'answer', delayMs: 500 }));
  // A Postgres that takes more than a quarter of a second, as on a busy machine, is gone by for a second: then each
  // gateway makes a call.
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const body = fresh();
    const before = provider.requests.length;
    const given = await Promise.all(
      Array.from({ length: 100 }, (_, index) => call(body, {}, index % 2 === 0 ? gateway : second)),
    );
    const calls = provider.requests.length - before;
    t.ok(calls <= 2, `${calls} calls`);
    t.ok(given.every(({ status }) => status === 200));
    if (calls === 1 && countOf(given, 'service-cache', 'HIT') === 99) return;
    await sleep(1_500);
  }
  t.fail('the calls of two gateways were never one');
});

t.test('a call that does not ask for coalescing does not wait for another', async (t) => {
  const body = fresh();
  const before = provider.requests.length;
  provider.script(() => ({ kind: 'answer', delayMs: 300 }));
  const given = await Promise.all(
    Array.from({ length: 5 }, () => call(body, { 'Service-Cache-Coalesce': 'false' })),
  );
  t.equal(provider.requests.length - before, 5);
  t.equal(countOf(given, 'service-cache', 'MISS'), 5);
});

t.test('a call that differs from the one under way does not wait for it', async (t) => {
  const body = fresh();
  const before = provider.requests.length;
  const other = await world.newKey({ organizationId: await world.newOrganization() });
  provider.script(() => ({ kind: 'answer', delayMs: 300 }));
  await Promise.all([
    call(body),
    call(body, { 'Service-Cache-Seed': 'a' }),
    call({ ...body, temperature: 0 }),
    call(body, {}, gateway, other),
  ]);
  t.equal(provider.requests.length - before, 4);
});

t.test('when the leader fails, one follower calls the provider and the others wait for it', async (t) => {
  const body = fresh();
  const [before, missed] = [provider.requests.length, await misses(gateway)];
  const { promise: allWait, resolve: fail } = Promise.withResolvers<void>();
  provider.script(async () => {
    if (provider.requests.length - before > 1) return { kind: 'answer' };
    await allWait;
    return { kind: 'error', status: 500 };
  });
  const calls = Array.from({ length: 50 }, () => call(body));
  await untilMissed(gateway, missed, 50);
  fail();
  const given = await Promise.all(calls);
  t.equal(given.filter(({ status }) => status === 500).length, 1, 'the failure is for the call that failed');
  t.equal(given.filter(({ status }) => status === 200).length, 49);
  t.equal(provider.requests.length - before, 2);
});

t.test('followers do not queue one behind the other for the failures of a provider', async (t) => {
  const body = fresh();
  const [before, missed] = [provider.requests.length, await misses(gateway)];
  const { promise: allWait, resolve: fail } = Promise.withResolvers<void>();
  provider.script(async () => {
    await allWait;
    return { kind: 'error', status: 503 };
  });
  const calls = Array.from({ length: 30 }, () => call(body));
  await untilMissed(gateway, missed, 30);
  fail();
  const given = await Promise.all(calls);
  t.ok(
    given.every(({ status }) => status === 503),
    'each is told by its own call',
  );
  t.equal(provider.requests.length - before, 30);
});

for (const stream of [false, true]) {
  t.test(
    `a leading ${stream ? 'stream' : 'call'} whose client disconnects does not fail its followers`,
    async (t) => {
      const body = fresh({ stream });
      const [before, missed] = [provider.requests.length, await misses(gateway)];
      provider.script(() => (stream ? { kind: 'stream', ending: 'stall' } : { kind: 'hang' }));
      const leaving = new AbortController();
      const left = gateway
        .chat(key, COALESCED, body, leaving.signal)
        .then((answer) => answer.text())
        .catch(() => 'left');
      await waitFor('the provider to be called', () => provider.requests.length === before + 1);
      const followers = Array.from({ length: 50 }, () => call(body));
      await untilMissed(gateway, missed, 51);
      provider.script(null);
      leaving.abort();
      t.equal(await left, 'left');
      const given = await Promise.all(followers);
      t.ok(given.every(({ status, text }) => status === 200 && text.includes('Question')));
      t.equal(provider.requests.length - before, 2, 'one of them was made in its place');
      t.equal(countOf(given, 'service-cache', 'HIT'), 49);
      await provider.requests[before]?.ended;
      t.ok(provider.requests[before]?.aborted, 'the one that was left is not kept up');
    },
  );
}

t.test('followers that disconnect do not affect the others', async (t) => {
  const body = fresh();
  const [before, missed] = [provider.requests.length, await misses(gateway)];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  provider.script(async () => {
    await released;
    return { kind: 'answer' };
  });
  const leaving = new AbortController();
  const made = call(body);
  await waitFor('the provider to be called', () => provider.requests.length === before + 1);
  const staying = [made, ...Array.from({ length: 9 }, () => call(body))];
  const left = Array.from({ length: 10 }, () =>
    gateway.chat(key, COALESCED, body, leaving.signal).then(
      () => 'answered',
      () => 'left',
    ),
  );
  await untilMissed(gateway, missed, 20);
  leaving.abort();
  await Promise.all(left);
  release();
  t.ok((await Promise.all(staying)).every(({ status }) => status === 200));
  t.equal(provider.requests.length - before, 1);
});

t.test(
  'when a leader disconnects, no provider request is made for followers that had left before',
  async (t) => {
    const body = fresh();
    const [before, missed] = [provider.requests.length, await misses(gateway)];
    provider.script(() => ({ kind: 'hang' }));
    const [first, others] = [new AbortController(), new AbortController()];
    const leave = (leaving: AbortController) =>
      gateway.chat(key, COALESCED, body, leaving.signal).then(
        () => 'answered',
        () => 'left',
      );
    const made = leave(first);
    await waitFor('the provider to be called', () => provider.requests.length === before + 1);
    const left = Array.from({ length: 10 }, () => leave(others));
    await untilMissed(gateway, missed, 11);
    const staying = Array.from({ length: 10 }, () => call(body));
    await untilMissed(gateway, missed, 21);
    others.abort();
    t.same(new Set(await Promise.all(left)), new Set(['left']));
    provider.script(null);
    first.abort();
    t.equal(await made, 'left');
    t.ok((await Promise.all(staying)).every(({ status }) => status === 200));
    t.ok(provider.requests.length - before <= 1 + staying.length, 'one for the first, none for who left');
  },
);

t.test('of coalesced calls only the leader uses the rate limit', async (t) => {
  const own = await world.newKey();
  const body = fresh();
  provider.script(() => ({ kind: 'answer', delayMs: 300 }));
  const policy = { 'Service-RateLimit-Policy': '1;w=60' };
  const given = await Promise.all(Array.from({ length: 30 }, () => call(body, policy, gateway, own)));
  t.ok(
    given.every(({ status }) => status === 200),
    'thirty calls, one of them counted',
  );
  t.ok(given.every(({ headers }) => headers['service-ratelimit-remaining'] === '0'));
  t.equal((await call(fresh(), policy, gateway, own)).status, 429);
});

t.test('when the leader is over its rate limit, a follower with another limit leads', async (t) => {
  const [spent, free] = [await world.newKey(), await world.newKey()];
  const policy = { 'Service-RateLimit-Policy': '1;w=60' };
  t.equal((await call(fresh(), policy, gateway, spent)).status, 200);
  const body = fresh();
  const before = provider.requests.length;
  provider.script(() => ({ kind: 'answer', delayMs: 100 }));
  const given = await Promise.all([
    call(body, policy, gateway, spent),
    ...Array.from({ length: 10 }, () => call(body, policy, gateway, free)),
  ]);
  t.ok(given.slice(1).every(({ status }) => status === 200));
  t.ok([200, 429].includes(given[0]!.status), 'the other is refused, or came late enough for the answer');
  t.equal(provider.requests.length - before, 1);
});
