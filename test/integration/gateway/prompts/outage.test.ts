/** Stored prompts while Postgres is away. */
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { storePrompt } from '../../../support/stored-prompt.ts';
import { createWorld } from '../../../support/world.ts';

t.test(
  'a known prompt is called while Postgres is away, and another one is a 503 in the form of its endpoint',
  async (t) => {
    const world = await createWorld(t);
    const { organizationId, keyWith } = await world.organization({ tier: 'enterprise' });
    const key = await keyWith(['gateway']);
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi {{name}}' }] };
    const { promptId } = await storePrompt(world.sql, organizationId, { body });
    const provider = await world.provider();
    const proxy = await world.proxy();
    const gateway = await world.start('gateway', {
      DATABASE_URL: proxy.url,
      OPENAI_API_KEY: 'sk-operator',
      OPENAI_BASE_URL: provider.url,
    });
    const ask = (path: string, fields: object) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ max_tokens: 9, inputs: { name: 'Ann' }, ...fields }),
      });
    await waitFor('the prompt to be used', async () => {
      const response = await ask('/v1/chat/completions', { prompt_id: promptId });
      await response.text();
      return response.status === 200;
    });
    await proxy.cut();

    const known = await ask('/v1/chat/completions', { prompt_id: promptId });
    t.equal(known.status, 200);
    await known.text();
    t.match(JSON.parse(provider.requests.at(-1)!.body.toString()), { messages: [{ content: 'Hi Ann' }] });

    const unknown = { prompt_id: promptId, environment: 'staging' };
    const message = 'The stored prompt cannot be read now: its store is unavailable';
    const chat = await ask('/v1/chat/completions', unknown);
    t.equal(chat.status, 503);
    t.same(await chat.json(), {
      error: { message, type: 'service_unavailable', param: null, code: 'store_unavailable' },
    });
    const messages = await ask('/v1/messages', unknown);
    t.equal(messages.status, 503);
    t.match(await messages.json(), { type: 'error', error: { message } });
  },
);
