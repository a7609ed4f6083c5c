/** A policy that belongs to a key: it holds for all of its calls, beside the policies that they name. */
import t from 'tap';
import { createKey, listKeys } from '#platform/keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { CHAT, limitHeaders, readAll, remainingOf, STREAM, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t);
const { gateway } = world;

t.test("a key's own policy holds for its calls that name none, plain and streamed", async (t) => {
  const key = await world.newKey({ rateLimitPolicy: ' 2 ; W=60 ' });
  const first = await gateway.chat(key, {}, CHAT);
  t.equal(first.headers.get('service-ratelimit-policy'), '2;w=60;u=request');
  t.equal(remainingOf(first), 1);
  await first.text();
  const second = await gateway.chat(key, {}, STREAM);
  t.equal(remainingOf(second), 0);
  await second.text();
  t.equal((await readAll(await gateway.chat(key))).status, 429);
});

t.test(
  "a wider policy in a call does not lift the key's own, and each has a counter of its own",
  async (t) => {
    const key = await world.newKey({ rateLimitPolicy: '2;w=60' });
    const wider = { 'Service-RateLimit-Policy': '3;w=60' };
    const first = await gateway.chat(key, wider);
    t.equal(first.status, 200);
    t.equal(first.headers.get('service-ratelimit-policy'), '2;w=60;u=request', 'the one with the least left');
    t.equal(remainingOf(first), 1);
    await first.text();
    t.equal(remainingOf(await gateway.chat(key)), 0, 'a call that names none counts in the same counter');
    const refused = await gateway.chat(key, wider);
    t.equal(refused.status, 429);
    t.match(limitHeaders(refused), {
      'service-ratelimit-policy': '2;w=60;u=request',
      'service-ratelimit-remaining': '0',
    });
    t.match(await refused.json(), {
      error: { code: 'rate_limit_exceeded', message: /^The rate limit 2;w=60;u=request of/ },
    });
    const counters =
      await world.sql`select from assay.limit_counters where api_key_id = ${world.idsOf(key).keyId}`;
    t.equal(counters.length, 2);
  },
);

t.test("a stricter policy in a call refuses it without using the key's own", async (t) => {
  const key = await world.newKey({ rateLimitPolicy: '5;w=60' });
  const strict = { 'Service-RateLimit-Policy': '1;w=3600;s=user', 'Service-User-Id': 'ann' };
  const first = await gateway.chat(key, strict);
  t.equal(first.headers.get('service-ratelimit-policy'), '1;w=3600;u=request;s=user');
  await first.text();
  for (let call = 0; call < 3; call += 1) {
    const refused = await readAll(await gateway.chat(key, strict));
    t.equal(refused.status, 429);
    t.equal(refused.headers['service-ratelimit-policy'], '1;w=3600;u=request;s=user');
    t.ok(Number(refused.headers['retry-after']) > 60, 'the later of both');
  }
  const other = await readAll(await gateway.chat(key, { ...strict, 'Service-User-Id': 'bob' }));
  t.equal(other.status, 200);
  // Refused calls give back after half a second what they took for a moment: three of five are left.
  let passed = 2;
  await waitFor("the rest of the key's quota to be used", async () => {
    if ((await readAll(await gateway.chat(key))).status === 200) passed += 1;
    return passed === 5;
  });
  t.equal((await readAll(await gateway.chat(key))).status, 429);
});

t.test("a call that names cents is held to its key's requests, and the other way round", async (t) => {
  const requests = await world.newKey({ rateLimitPolicy: '1;w=60' });
  const cents = { 'Service-RateLimit-Policy': '100;w=60;u=cents' };
  t.equal((await readAll(await gateway.chat(requests, cents))).status, 200);
  const refused = await readAll(await gateway.chat(requests, cents));
  t.equal(refused.status, 429);
  t.equal(refused.headers['service-ratelimit-policy'], '1;w=60;u=request');
  const money = await world.newKey({ rateLimitPolicy: '0.00001;w=60;u=cents' });
  const calls = { 'Service-RateLimit-Policy': '50;w=60' };
  t.equal((await readAll(await gateway.chat(money, calls))).status, 200, 'the first one always passes');
  t.equal((await readAll(await gateway.chat(money, calls))).status, 429);
  const unpriced = await readAll(await gateway.chat(money, calls, { ...CHAT, model: 'openai/new' }));
  t.equal(unpriced.status, 400);
});

t.test('of many calls at once through two gateways no more pass than either policy lets pass', async (t) => {
  const other = await world.start();
  const key = await world.newKey({ rateLimitPolicy: '20;w=3600' });
  const strict = (call: number) => ({
    'Service-RateLimit-Policy': '8;w=3600;s=user',
    'Service-User-Id': `u${call % 4}`,
  });
  const answers = await Promise.all(
    Array.from({ length: 80 }, async (_, call) =>
      readAll(await (call % 2 === 0 ? gateway : other).chat(key, strict(call))),
    ),
  );
  const passed = answers.filter(({ status }) => status === 200).length;
  t.ok(passed <= 20, `${passed} passed`);
  t.ok(answers.every(({ status }) => status === 200 || status === 429));
  // What a refused call took for a moment is back after half a second: all of the quota can be used.
  let last = 0;
  await waitFor('the rest of the quota to be used', async () => {
    const users = [0, 1, 2, 3].map(async (user) => readAll(await gateway.chat(key, strict(user))));
    last += (await Promise.all(users)).filter(({ status }) => status === 200).length;
    return passed + last >= 20;
  });
  t.equal(passed + last, 20);
  await other.stop();
});

t.test('a stored response shows the tighter policy and uses neither', async (t) => {
  const key = await world.newKey({ rateLimitPolicy: '2;w=60' });
  const headers = { 'Service-RateLimit-Policy': '9;w=60', 'Service-Cache-Enabled': 'true' };
  const body = { ...CHAT, messages: [{ role: 'user', content: 'to be stored' }] };
  t.equal(remainingOf(await gateway.chat(key, headers, body)), 1);
  await waitFor('the response to be stored', async () => {
    const answer = await gateway.chat(key, headers, body);
    await answer.text();
    return answer.headers.get('service-cache') === 'HIT';
  });
  const hit = await gateway.chat(key, headers, body);
  t.match(limitHeaders(hit), { 'service-ratelimit-policy': '2;w=60;u=request' });
});

t.test("an invalid policy header is refused, without falling back to the key's own policy", async (t) => {
  const key = await world.newKey({ rateLimitPolicy: '5;w=60' });
  for (const policy of ['', 'none', '5;w=59']) {
    const answer = await gateway.chat(key, { 'Service-RateLimit-Policy': policy });
    t.equal(answer.status, 400);
    t.same(limitHeaders(answer), {});
    await answer.text();
  }
});

t.test("a key's own policy by user needs the user id, and one in cents a priced model", async (t) => {
  const byUser = await world.newKey({ rateLimitPolicy: '1;w=60;s=user' });
  const without = await gateway.chat(byUser);
  t.equal(without.status, 400);
  t.match(await without.json(), { error: { code: 'invalid_rate_limit_policy', message: /Service-User-Id/ } });
  t.equal((await readAll(await gateway.chat(byUser, { 'Service-User-Id': 'ann' }))).status, 200);
  t.equal((await readAll(await gateway.chat(byUser, { 'Service-User-Id': 'ann' }))).status, 429);
  t.equal((await readAll(await gateway.chat(byUser, { 'Service-User-Id': 'bob' }))).status, 200);

  const inCents = await world.newKey({ rateLimitPolicy: '5;w=60;u=cents' });
  const priced = await gateway.chat(inCents);
  t.equal(priced.headers.get('service-ratelimit-policy'), '5;w=60;u=cents');
  await priced.text();
  t.equal((await readAll(await gateway.chat(inCents, {}, { ...CHAT, model: 'openai/new' }))).status, 400);
});

t.test('creating a key with an invalid policy is refused', async (t) => {
  const { organizationId } = world.idsOf(await world.newKey());
  const before = (await listKeys(world.sql)).length;
  for (const [rateLimitPolicy, says] of [
    ['', 'quota "" must be a number'],
    ['100', 'w is missing'],
    ['0;w=60', 'quota "0" must be more than 0'],
    ['100;w=60;u=tokens', 'unit "tokens" must be request or cents'],
    ['100;w=60,5;w=60', 'contains more than one policy'],
  ] as const) {
    await t.rejects(createKey(world.sql, { organizationId, scopes: ['gateway'], rateLimitPolicy }), {
      code: 'invalid_rate_limit_policy',
      message: new RegExp(says),
    });
  }
  t.equal((await listKeys(world.sql)).length, before, 'and none is left behind');
});

t.test('a listed key shows its policy as it was parsed', async (t) => {
  const key = await world.newKey({ rateLimitPolicy: '12.50;S=Plan;u=CENTS;w=60' });
  const { keyId } = world.idsOf(key);
  const listed = (await listKeys(world.sql)).find((record) => record.keyId === keyId);
  t.equal(listed?.rateLimitPolicy, '12.5;w=60;u=cents;s=plan');
});
