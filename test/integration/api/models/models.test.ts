import t from 'tap';
import type { ModelsJson } from '#core/contracts/playground.ts';
import { createKey } from '#platform/keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { createWorld } from '../../../support/world.ts';

const world = await createWorld(t);
const { sql } = world;
const { organizationId, keyWith } = await world.organization();
const key = await keyWith(['read']);
const api = await world.start('api');

async function list(by = key): Promise<ModelsJson> {
  const answer = await fetch(`${api.url}/v1/model`, { headers: { authorization: `Bearer ${by}` } });
  return ((await answer.json()) as { data: ModelsJson }).data;
}

t.test('without a gateway no model can be called', async (t) => {
  t.same(await list(), { models: [], groups: [], providers: [] });
});

t.test('the models of providers with a key are listed, with the prices of a million tokens', async (t) => {
  await world.start('gateway', { OPENAI_API_KEY: 'sk-operator', ANTHROPIC_API_KEY: '' });
  await waitFor("the gateway's report", async () => (await list()).models.length > 0);
  const { models, providers } = await list();
  t.match(
    models.find(({ id }) => id === 'gpt-4o-mini'),
    {
      provider: 'openai',
      owned_by: 'openai',
      input_price: 0.15,
      output_price: 0.6,
    },
  );
  t.same([...new Set(models.map(({ provider }) => provider))], ['openai']);
  t.same(
    models.map(({ id }) => id),
    models.map(({ id }) => id).sort(),
  );
  t.ok(providers.includes('openai'));
  t.notOk(providers.includes('anthropic'));
});

t.test('a key that the organization stores adds the models of its provider, for it alone', async (t) => {
  await sql`
    insert into assay.provider_keys (organization_id, provider, sealed, created_at, updated_at)
    values (${organizationId}, 'anthropic', ''::bytea, now(), now())`;
  t.ok((await list()).models.some(({ provider }) => provider === 'anthropic'));
  const other = await (await world.organization()).keyWith(['read']);
  t.notOk((await list(other)).models.some(({ provider }) => provider === 'anthropic'));
});

t.test('a key that is confined gets the models that it may use', async (t) => {
  const confined = { organizationId, scopes: ['read' as const], models: ['gpt-4o*'], providers: ['openai'] };
  const { models, providers } = await list((await createKey(sql, confined)).key);
  t.ok(
    models.length > 1 && models.every(({ id }) => id.startsWith('gpt-4o')),
    models.map(({ id }) => id).join(),
  );
  t.same(providers, ['openai']);
});
