/** Limits in money, calls one after the other: what an answered call cost counts for the next call of its gateway. */
import t from 'tap';
import { CHAT, PRICE, readAll, remainingOf, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t);
const CENT = 10_000_000;
const QUOTA = 300;
const COST = 125;
/** 125 cents, all of it prompt tokens, whatever the body. */
const usage = { promptTokens: (COST * CENT) / PRICE.prompt, completionTokens: 0 };
const policy = { 'Service-RateLimit-Policy': `${QUOTA};w=60;u=cents;s=user`, 'Service-User-Id': 'somebody' };
const body = { ...CHAT, max_tokens: 1 };
/** Less than a cent, which is the smallest unit that is shown. */
const OWN_ESTIMATE = 1;

for (const kind of ['answer', 'stream'] as const) {
  t.test(`of five successive calls of 125 cents (${kind}) a quota of 300 cents admits three`, async (t) => {
    const wholly = Math.floor(usage.promptTokens);
    world.provider.script(() => ({ kind, usage: { ...usage, promptTokens: wholly } }));
    const key = await world.newKey();
    for (let user = 0; user < 10; user += 1) {
      const answers: [number, number][] = [];
      for (let call = 0; call < 5; call += 1) {
        const headers = { ...policy, 'Service-User-Id': `${kind}-${user}` };
        const answer = await world.gateway.chat(key, headers, { ...body, stream: kind === 'stream' });
        await readAll(answer);
        answers.push([answer.status, remainingOf(answer)]);
      }
      t.same(answers, [
        [200, QUOTA - OWN_ESTIMATE],
        [200, QUOTA - COST - OWN_ESTIMATE],
        [200, QUOTA - 2 * COST - OWN_ESTIMATE],
        [429, 0],
        [429, 0],
      ]);
    }
  });
}

t.test('the first estimate of a model is not below what its text costs in any script', async (t) => {
  const key = await world.newKey();
  world.provider.script(() => ({ kind: 'error', status: 500 }));
  // A token for every character, as there are for rare signs: three bytes each.
  const content = '龘'.repeat(20_000);
  const answer = await world.gateway.chat(key, policy, {
    model: 'gpt-4.1-nano',
    max_tokens: 1,
    messages: [{ role: 'user', content }],
  });
  await readAll(answer);
  const [row] = await world.sql<{ estimate: number }[]>`
    select r.estimate_nano::float8 as estimate
      from assay.limit_reservations r join assay.limit_counters c using (organization_id, counter_key)
     where c.api_key_id = ${world.idsOf(key).keyId}`;
  /** Nano-dollars a token of gpt-4.1-nano, by OpenAI's price list. */
  const PROMPT = 100;
  t.ok(row!.estimate >= 20_000 * PROMPT, `${row!.estimate}`);
});
