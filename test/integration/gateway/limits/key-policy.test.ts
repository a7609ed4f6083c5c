/** A policy that belongs to a key: it holds for the calls that name none. */
import t from 'tap';
import { createKey, listKeys } from '#platform/keys/mod.ts';
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

t.test("a policy header overrides the key's own policy, and both count in the same counter", async (t) => {
  const key = await world.newKey({ rateLimitPolicy: '1;w=60' });
  t.equal((await readAll(await gateway.chat(key))).status, 200);
  t.equal((await readAll(await gateway.chat(key))).status, 429);
  const wider = await gateway.chat(key, { 'Service-RateLimit-Policy': '3;w=60' });
  t.equal(wider.status, 200);
  t.equal(wider.headers.get('service-ratelimit-policy'), '3;w=60;u=request');
  t.equal(remainingOf(wider), 1, 'the call under the own policy counts');
  await wider.text();
  t.equal((await readAll(await gateway.chat(key))).status, 429);
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
