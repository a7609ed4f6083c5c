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
      { id: 'azure/eu-gpt', provider: 'azure', price: { input: 1, output: 1 } },
      { id: 'custom/free-of-price', provider: 'custom' },
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
