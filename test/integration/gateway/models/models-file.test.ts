/** A model of the operator's, from the list over a call to its cost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startTestGateway } from '../../../support/gateway.ts';
import { scriptedProvider } from '../../../support/world.ts';

const path = join(t.testdir(), 'models.json');
writeFileSync(
  path,
  JSON.stringify({
    models: [
      {
        id: 'house-llama',
        provider: 'custom',
        model: 'meta-llama/Llama-3.3-70B',
        price: { input: 1_000, output: 2_000 },
        created: '2024-12-06',
      },
      { id: 'gpt-4o', provider: 'openai', price: { input: 1, output: 1 } },
      { id: 'gpt-4.1', provider: 'azure', price: { input: 1, output: 1 } },
      { id: 'azure/eu-gpt', provider: 'azure', price: { input: 1, output: 1 } },
      { id: 'custom/free-of-price', provider: 'custom' },
      { id: 'hidden', provider: 'custom', listed: false, created: '2025-02-03', owned_by: 'acme' },
    ],
    groups: [
      { id: 'fast', routes: [{ model: 'house-llama' }, { model: 'gpt-4o-mini' }] },
      { id: 'partly-azure', routes: [{ model: 'gpt-4o-mini' }, { model: 'groq/llama-3.3-70b-versatile' }] },
    ],
  }),
);
const house = await scriptedProvider(t);
const gateway = await startTestGateway(t, {
  MODELS_FILE: path,
  CUSTOM_BASE_URL: house.url,
  CUSTOM_API_KEY: 'sk-house',
});

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const PRICE_SOURCE = /^models-file@[0-9a-f]{12}$/;

t.test('a model of the models file is listed if it can be reached and has a price', async (t) => {
  const answer = await fetch(`${gateway.url}/v1/models`);
  const { data } = (await answer.json()) as { data: { id: string }[] };
  t.same(
    data.find(({ id }) => id === 'house-llama'),
    { id: 'house-llama', object: 'model', created: 1_733_443_200, owned_by: 'meta' },
  );
  const ids = data.map(({ id }) => id);
  t.ok(ids.includes('gpt-4o') && ids.includes('gpt-4o-mini'));
  t.notOk(ids.includes('azure/eu-gpt'), 'Azure has no address here');
  t.notOk(ids.includes('custom/free-of-price'));
});

t.test(
  "a model of the models file is sent under its provider's name and priced as the file says",
  async (t) => {
    const answer = await gateway.chat({ model: 'house-llama', messages: MESSAGES });
    t.equal(answer.status, 200);
    await answer.text();
    t.match(house.requests.at(-1), { body: /"model":\s*"meta-llama\/Llama-3.3-70B"/ });
    const record = await gateway.record(answer);
    t.match(record, { provider: 'CUSTOM', price_source: PRICE_SOURCE });
    const expected = record.prompt_tokens! * 1_000_000 + record.completion_tokens! * 2_000_000;
    t.ok(expected > 0);
    t.equal(Number(record.cost_nano), expected);
  },
);

t.test("a price of the models file comes before the catalog's", async (t) => {
  const answer = await gateway.chat({ model: 'gpt-4o', messages: MESSAGES });
  await answer.text();
  const record = await gateway.record(answer);
  t.match(record, { provider: 'OPENAI', price_source: PRICE_SOURCE });
  t.equal(Number(record.cost_nano), (record.prompt_tokens! + record.completion_tokens!) * 1_000);
});

t.test('the cost of a model without a known price is null, not 0', async (t) => {
  const answer = await gateway.chat({ model: 'custom/free-of-price', messages: MESSAGES });
  await answer.text();
  const record = await gateway.record(answer);
  t.ok(record.prompt_tokens! > 0);
  t.match(record, { cost_nano: null, price_source: null });
});

t.test('exactly the names that can be called are found by GET /v1/models/{id}', async (t) => {
  const seconds = (date: string) => Date.parse(date) / 1_000;
  const names: Record<string, { owned_by: string; created: number } | null> = {
    'gpt-4o': { owned_by: 'openai', created: seconds('2024-05-13') },
    'openai/gpt-4o': { owned_by: 'openai', created: seconds('2024-05-13') },
    'OpenAI/gpt-4o': { owned_by: 'openai', created: seconds('2024-05-13') },
    'openai/gpt-4o-2024-08-06': { owned_by: 'openai', created: seconds('2024-08-06') },
    'openai/gpt-99-2031-02-03': { owned_by: 'openai', created: seconds('2031-02-03') },
    'ft:gpt-4o-mini-2024-07-18:acme::abc': { owned_by: 'openai', created: 0 },
    'custom/mistralai/Mixtral': { owned_by: 'mistral', created: 0 },
    'custom/free-of-price': { owned_by: 'custom', created: 0 },
    hidden: { owned_by: 'acme', created: seconds('2025-02-03') },
    fast: { owned_by: 'meta, openai', created: seconds('2024-12-06') },
    'gpt-4o,house-llama': { owned_by: 'meta, openai', created: seconds('2024-12-06') },
    'gpt-4o, fast': { owned_by: 'meta, openai', created: seconds('2024-12-06') },
    'openai/gpt-4.1,house-llama': { owned_by: 'meta, openai', created: seconds('2025-04-14') },
    'gpt-4.1': null,
    'gpt-0': null,
    'openai/': null,
    'groq/llama-3.3-70b-versatile': null,
    'azure/eu-gpt': null,
    'partly-azure': null,
    'gpt-4o,gpt-0': null,
    'gpt-4o,openai/gpt-4o': null,
    'gpt-4o,': null,
    [`openai/${'x'.repeat(4_000)}`]: null,
    constructor: null,
  };
  for (const [name, expected] of Object.entries(names)) {
    const called = await gateway.chat({ model: name, messages: MESSAGES });
    await called.text();
    t.equal(called.status === 200, expected !== null, `a call to ${name.slice(0, 40)}: ${called.status}`);
    for (const path of [encodeURIComponent(name), encodeURI(name)]) {
      const answer = await fetch(`${gateway.url}/v1/models/${path}`);
      t.equal(answer.status, expected === null ? 404 : 200, name.slice(0, 40));
      if (expected === null) continue;
      const { id, object, owned_by, created } = (await answer.json()) as Record<string, unknown>;
      t.match({ id, object, owned_by }, { id: name, object: 'model', owned_by: expected.owned_by });
      t.equal(created, expected.created === 0 ? created : expected.created, name);
      t.ok(Number.isInteger(created));
    }
  }
  const ofAnthropic = async (name: string) => {
    const headers = { 'anthropic-version': '2023-06-01' };
    return (await (await fetch(`${gateway.url}/v1/models/${name}`, { headers })).json()) as object;
  };
  t.same(await ofAnthropic('openai/gpt-4o'), { ...(await ofAnthropic('gpt-4o')), id: 'openai/gpt-4o' });
});
