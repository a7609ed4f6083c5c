/** Whose calls are counted together, what a change of the policy keeps, and that the quota is exact among gateways. */
import t, { type Test } from 'tap';
import { readUsage } from '#platform/limiter/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { CHAT, type Gateway, type Headers, readAll, remainingOf, STREAM, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t);
const { gateway, provider } = world;
const second = await world.start();

const policy = (text: string, headers: Headers = {}) => ({ 'Service-RateLimit-Policy': text, ...headers });

/** Returns the remaining quota after an admitted call; -1: it was refused. */
async function call(key: string, headers: Headers, at: Gateway = gateway): Promise<number> {
  const answer = await at.chat(key, headers);
  await answer.text();
  if (answer.status === 429) return -1;
  if (answer.status !== 200) throw new Error(`Answered ${answer.status}`);
  return remainingOf(answer);
}

t.test(
  'each user has a counter of its own under s=user, and calls without a segment share another',
  async (t) => {
    const key = await world.newKey();
    const byUser = (user: string) => call(key, policy('2;w=60;s=user', { 'Service-User-Id': user }));
    t.same(
      [await byUser('ann'), await byUser('bob'), await byUser('ann'), await byUser('ann')],
      [1, 1, 0, -1],
    );
    t.equal(await byUser('bob'), 0, 'who is over the limit takes nothing from another');
    t.equal(await byUser('Ann'), 1, 'users are told apart by case');
    t.equal(await call(key, policy('2;w=60')), 1, 'and all calls together are counted elsewhere');
  },
);

t.test('each value of a property has a counter of its own, whatever the case of the name', async (t) => {
  const key = await world.newKey();
  const spellings: [policy: string, header: string][] = [
    ['3;w=60;s=Plan', 'Service-Property-Plan'],
    ['3;w=60;s=PLAN', 'service-property-plan'],
    ['3;w=60;s=plan', 'SERVICE-PROPERTY-PLAN'],
  ];
  const left: number[] = [];
  for (const [text, header] of spellings) left.push(await call(key, policy(text, { [header]: 'pro' })));
  t.same(left, [2, 1, 0], 'they all mean the same counter');
  t.equal(await call(key, policy('3;w=60;s=plan', { 'Service-Property-Plan': 'pro' })), -1);
  t.equal(await call(key, policy('3;w=60;s=plan', { 'Service-Property-Plan': 'free' })), 2);
  t.equal(
    await call(key, policy('3;w=60;s=team', { 'Service-Property-Team': 'pro' })),
    2,
    'another property',
  );
  t.equal(await call(key, policy('3;w=60;s=user', { 'Service-User-Id': 'pro' })), 2, 'a user of that name');
});

t.test('two API keys share no counter, of one organization or of two', async (t) => {
  const [one, two] = [await world.newKey(), await world.newKey()];
  const other = await world.newKey({ organizationId: await world.newOrganization() });
  const headers = policy('1;w=60;s=user', { 'Service-User-Id': 'ann' });
  t.same([await call(one, headers), await call(one, headers)], [0, -1]);
  t.equal(await call(two, headers), 0);
  t.equal(await call(other, headers), 0);
  t.same([await call(two, headers), await call(other, headers)], [-1, -1]);
});

t.test('requests and cents have separate counters', async (t) => {
  const key = await world.newKey();
  t.same([await call(key, policy('1;w=60')), await call(key, policy('1;w=60'))], [0, -1]);
  t.equal(await call(key, policy('5;w=60;u=cents')), 4);
});

/** Resolves once exactly so much is counted: what a gateway took ahead of need, it gives back a moment later. */
async function counted(key: string, used: number): Promise<void> {
  const { organizationId, keyId } = world.idsOf(key);
  await waitFor(`${used} to be counted`, async () => {
    const counters = (await readUsage(world.sql, organizationId, 1_000)).filter(
      ({ apiKeyId }) => apiKeyId === keyId,
    );
    return counters.length > 0 && counters.every((counter) => counter.used === used);
  });
}

t.test('a changed quota keeps the used count', async (t) => {
  const key = await world.newKey();
  t.same([await call(key, policy('5;w=60')), await call(key, policy('5;w=60'))], [4, 3]);
  await counted(key, 2);
  t.equal(await call(key, policy('10;w=60')), 7, 'more quota: the two calls and this one count');
  t.equal(await call(key, policy('3;w=60')), -1, 'less quota: it is used up');
  t.equal(await call(key, policy('4;w=60')), 0);
  t.equal(await call(key, policy('4;w=60')), -1);
  await counted(key, 4);
});

t.test('a changed window keeps the used count', async (t) => {
  const key = await world.newKey();
  t.same([await call(key, policy('5;w=60')), await call(key, policy('5;w=60'))], [4, 3]);
  await counted(key, 2);
  t.equal(await call(key, policy('5;w=3600')), 2);
  t.equal(await call(key, policy('5;w=31536000')), 1);
  await counted(key, 4);
  t.equal(await call(key, policy('5;w=60')), 0, 'and what was counted under the others counts here');
  t.same([await call(key, policy('5;w=3600')), await call(key, policy('5;w=60'))], [-1, -1]);
  t.equal(await call(key, policy('5;w=7200')), -1, 'a window that was never asked for remembers too');
});

t.test('a used-up limit stays used up after a restart of every gateway', async (t) => {
  const key = await world.newKey();
  const first = await world.start();
  const headers = policy('3;w=60;s=user', { 'Service-User-Id': 'ann' });
  t.same([await call(key, headers, first), await call(key, headers, first)], [2, 1]);
  await first.stop();
  const next = await world.start();
  t.same([await call(key, headers, next), await call(key, headers, next)], [0, -1]);
  await next.stop();
});

type Answers = { statuses: Map<number, number>; isDegraded: boolean };

async function allAtOnce(count: number, ask: (index: number) => Promise<Response>): Promise<Answers> {
  const asked = Array.from({ length: count }, async (_, index) => readAll(await ask(index)));
  const answers = await Promise.all(asked);
  const byStatus = Map.groupBy(answers, ({ status }) => status);
  return {
    statuses: new Map([...byStatus].map(([status, group]) => [status, group.length])),
    isDegraded: answers.some(({ headers }) => 'service-ratelimit-degraded' in headers),
  };
}

const ROUNDS = 5;

/**
 * On a machine that has much else to do the counters may seem to be away, and the answers say so: then nothing is promised,
 * and the burst is sent once more.
 */
async function undegraded(burst: () => Promise<Answers>): Promise<Map<number, number>> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { statuses, isDegraded } = await burst();
    if (!isDegraded) return statuses;
  }
  throw new Error(`Degraded in each of ${ROUNDS} rounds`);
}

/** `count` calls at once over the gateways, plain and streamed: as many as the quota are let in, and reach the provider. */
async function checkExact(t: Test, gateways: Gateway[], quota: number, count: number): Promise<void> {
  const headers = policy(`${quota};w=60`);
  let before = 0;
  const statuses = await undegraded(async () => {
    const key = await world.newKey();
    before = provider.requests.length;
    return allAtOnce(count, (index) =>
      gateways[index % gateways.length]!.chat(key, headers, index % 3 === 0 ? STREAM : CHAT),
    );
  });
  t.same(
    statuses,
    new Map([
      [200, quota],
      [429, count - quota],
    ]),
    `${quota} of ${count} calls through ${gateways.length} gateways`,
  );
  t.equal(provider.requests.length - before, quota, 'the provider was called as often');
}

t.test('one gateway admits exactly the quota of many simultaneous calls', async (t) => {
  for (const quota of [1, 7, 100]) await checkExact(t, [gateway], quota, 200);
});

t.test('two gateways together admit exactly the quota of many simultaneous calls', async (t) => {
  for (const quota of [1, 7, 100]) await checkExact(t, [gateway, second], quota, 200);
});

t.test('of two simultaneous calls of each of many users, one is admitted', async (t) => {
  const statuses = await undegraded(async () => {
    const key = await world.newKey();
    const ofUser = (index: number) => policy('1;w=60;s=user', { 'Service-User-Id': `user-${index % 30}` });
    return allAtOnce(60, (index) => (index % 4 < 2 ? gateway : second).chat(key, ofUser(index)));
  });
  t.same(
    statuses,
    new Map([
      [200, 30],
      [429, 30],
    ]),
  );
});

t.test('a steady load is admitted exactly up to the quota when gateways prefetch', async (t) => {
  const key = await world.newKey();
  const quota = 400;
  const headers = policy(`${quota};w=3600`);
  let passed = 0;
  const caller = async (at: Gateway) => {
    for (let asked = 0; asked < 60; asked += 1) if ((await call(key, headers, at)) >= 0) passed += 1;
  };
  await Promise.all(Array.from({ length: 10 }, (_, index) => caller(index % 2 === 0 ? gateway : second)));
  t.ok(passed <= quota, `${passed} of 600 calls`);
  // Credits that one gateway prefetched are returned, for any gateway.
  await waitFor('the rest of the quota', async () => {
    for (const at of [gateway, second]) while ((await call(key, headers, at)) >= 0) passed += 1;
    return passed >= quota;
  });
  t.equal(passed, quota);
});

t.test('refused calls use no quota', async (t) => {
  const key = await world.newKey();
  t.equal(await call(key, policy('2;w=60')), 1);
  for (const [headers, body, status] of [
    [policy('2;w=60;s=user'), CHAT, 400],
    [policy('2;w=59'), CHAT, 400],
    [policy('2;w=60'), { ...CHAT, model: 'no-such-model' }, 404],
    [policy('2;w=60'), '{"model":', 400],
  ] as const) {
    const answer = await gateway.chat(key, headers, body);
    t.equal(answer.status, status);
    await answer.text();
  }
  t.equal(await call(key, policy('2;w=60')), 0);
});
