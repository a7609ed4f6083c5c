/** What a key is confined to: checked before anything is sent, in the shape of each surface. */
import t from 'tap';
import { createKey } from '#platform/keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { startTestGateway } from '../../../support/gateway.ts';
import { createWorld } from '../../../support/world.ts';

type Wanted = Partial<Parameters<typeof createKey>[1]>;

const gateway = await startTestGateway(t, { ANTHROPIC_API_KEY: 'sk-ant', GROQ_API_KEY: 'gsk' });
const { sql, organizationId, provider } = gateway;
const keyWith = async (wanted: Wanted) =>
  (await createKey(sql, { organizationId, scopes: ['gateway'], ...wanted })).key;

/** Posts to the gateway; returns the status and the error. */
async function post(key: string, path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { error } = response.status === 200 ? { error: null } : JSON.parse(text);
  return { status: response.status, error: error as { code?: string; type: string; message: string } | null };
}

const messages = [{ role: 'user', content: 'Hello' }];
const chat = (key: string, model: string) => post(key, '/v1/chat/completions', { model, messages });

t.test('a key that is confined to models calls those, by any of their names, and no other', async (t) => {
  const key = await keyWith({ models: ['gpt-4o*', 'anthropic/*'] });
  for (const model of ['gpt-4o', 'gpt-4o-mini', 'openai/gpt-4o-mini', 'gpt-4o,gpt-4o-mini'])
    t.equal((await chat(key, model)).status, 200, model);
  const before = provider.requests.length;
  t.same(await chat(key, 'gpt-4.1'), {
    status: 403,
    error: {
      message: 'This API key may not use the model openai/gpt-4.1: it is confined to gpt-4o*, anthropic/*',
      type: 'permission_error',
      param: null,
      code: 'model_not_allowed',
    },
  });
  t.match(await chat(key, 'gpt-4o,gpt-4.1,groq/llama-3'), {
    status: 403,
    error: { message: /may not use the models openai\/gpt-4\.1, groq\/llama-3:/, code: 'model_not_allowed' },
  });
  t.match(await chat(key, 'openai/gpt-4'), { status: 403 });
  t.match(await chat(key, 'no-such-model'), { status: 404, error: { code: 'model_not_found' } });
  t.equal(provider.requests.length, before, 'none of them reached a provider');
});

t.test('a key that is confined to providers calls no other, whatever the model is called', async (t) => {
  const key = await keyWith({ providers: ['openai'] });
  t.equal((await chat(key, 'gpt-4o')).status, 200);
  t.match(await chat(key, 'gpt-4o,groq/gpt-4o'), {
    status: 403,
    error: {
      code: 'provider_not_allowed',
      message: /may not use the provider groq: it is confined to openai$/,
    },
  });
});

t.test('a key that is confined to paths calls those, by every address of the endpoint', async (t) => {
  const key = await keyWith({ paths: ['/v1/chat/*'] });
  t.equal((await chat(key, 'gpt-4o')).status, 200);
  t.equal((await post(key, '/chat/completions', { model: 'gpt-4o', messages })).status, 200);
  t.match(await post(key, '/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }), {
    status: 403,
    error: {
      code: 'path_not_allowed',
      message: /may not call \/v1\/embeddings: it is confined to \/v1\/chat\/\*$/,
    },
  });
});

t.test('on Messages a refusal has the shape of Anthropic', async (t) => {
  const key = await keyWith({ models: ['gpt-4o'] });
  const body = { model: 'claude-sonnet-4-5', max_tokens: 5, messages };
  t.match(await post(key, '/v1/messages', body, { 'anthropic-version': '2023-06-01' }), {
    status: 403,
    error: { type: 'permission_error', message: /may not use the model anthropic\/claude-sonnet-4-5/ },
  });
});

t.test('a cached response does not reach a key that may not use its model', async (t) => {
  const headers = { 'Service-Cache-Enabled': 'true' };
  const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'cached' }] };
  t.equal((await post(gateway.key, '/v1/chat/completions', body, headers)).status, 200);
  const key = await keyWith({ models: ['gpt-4o'] });
  t.equal((await post(key, '/v1/chat/completions', body, headers)).status, 403);
});

t.test('an expired key is refused as such, a key that expires later to the second', async (t) => {
  const key = await keyWith({ expiresAt: new Date(Date.now() + 5_000) });
  t.equal((await chat(key, 'gpt-4o')).status, 200, 'cached from now on');
  await waitFor('the expiry', async () => (await chat(key, 'gpt-4o')).status === 401);
  t.match(await chat(key, 'gpt-4o'), {
    status: 401,
    error: { code: 'key_expired', message: /^This API key expired at \d{4}-\d\d-\d\dT/ },
  });
});

t.test('when a key was used last is written when its gateway stops, to the minute', async (t) => {
  const world = await createWorld(t);
  const { organizationId } = await world.organization();
  const { key, record } = await createKey(world.sql, { organizationId, scopes: ['gateway'] });
  const { url, stop } = await world.start('gateway', {
    OPENAI_API_KEY: 'sk-operator',
    OPENAI_BASE_URL: provider.url,
  });
  const startedAt = Date.now();
  for (let call = 0; call < 3; call += 1) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    });
    await response.text();
  }
  t.equal((await world.sql`select from assay.api_key_uses`).length, 0, 'no call writes');
  await stop();
  const [row] = await world.sql<{ at: Date }[]>`
    select last_used_at as at from assay.api_key_uses where key_id = ${record.keyId}`;
  t.equal(row!.at.getTime() % 60_000, 0);
  t.ok(row!.at.getTime() > startedAt - 60_000 && row!.at.getTime() <= Date.now());
});
