/** Judges whose model no gateway could call, refused before they are made. The gateway itself is the oracle. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createKey } from '#platform/keys/mod.ts';
import {
  BOOLEAN,
  type EvaluatorApi,
  SECRET_KEY_TEXT,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { createWorld } from '../../../support/world.ts';

const MODELS_FILE = {
  models: [{ id: 'house-llama', provider: 'custom', model: 'llama', price: { input: 1, output: 1 } }],
  groups: [
    { id: 'usable', routes: [{ model: 'gpt-4o-mini' }, { model: 'house-llama' }] },
    { id: 'half', routes: [{ model: 'gpt-4o' }, { model: 'claude-sonnet-5' }] },
  ],
};

/** A gateway beside the API that can call OpenAI and a server of its own; Azure has no address, the others no key. */
async function startGatewayBeside(t: Test, api: EvaluatorApi, environment: Record<string, string> = {}) {
  const world = await createWorld(t, api.database);
  const provider = await world.provider();
  const modelsFile = join(world.directory(), 'models.json');
  writeFileSync(modelsFile, JSON.stringify(MODELS_FILE));
  const addresses = ['OPENAI', 'MISTRAL', 'GROQ', 'XAI', 'CUSTOM'].map((name) => [
    `${name}_BASE_URL`,
    provider.url,
  ]);
  return world.start('gateway', {
    OPENAI_API_KEY: 'sk-operator',
    SECRET_KEY: SECRET_KEY_TEXT,
    MODELS_FILE: modelsFile,
    ...Object.fromEntries(addresses),
    ...environment,
  });
}

const template = (model: string) => ({ ...BOOLEAN.llm_template, model });

let made = 0;
function create(api: EvaluatorApi, model: string, key = api.own.key) {
  made += 1;
  const body = { name: `Judge ${made}`, ...BOOLEAN, llm_template: template(model) };
  return api.call('/v1/evaluator', { body, key });
}

/** A try-out, which makes nothing. */
async function refusalOf(api: EvaluatorApi, model: string): Promise<string | null> {
  const { status, body } = await api.call('/v1/evaluator/llm/test', {
    body: {
      evaluatorConfig: {
        evaluator_scoring_type: 'LLM-BOOLEAN',
        evaluator_llm_template: template(model),
      },
      testInput: { inputBody: {}, outputBody: {} },
    },
  });
  if (status === 200) return null;
  if (status !== 400) throw new Error(`${status} ${body.error}`);
  return body.error;
}

t.test('a judge of an unknown model is refused with the models whose names are nearest', async (t) => {
  const api = await startEvaluatorApi(t);
  await startGatewayBeside(t, api);
  const { status, body } = await create(api, 'gpt-4o-minni');
  t.equal(status, 400);
  t.match(
    body.error,
    /^llm_template\.model names "gpt-4o-minni", which no gateway here knows: use a known model such as "gpt-4o-mini", ".*", ".*", or provider\/model$/,
  );
  t.match((await create(api, 'gpt-4o,usabel')).body.error, /names "usabel".* such as "usable", /);
  t.match((await create(api, 'gpt-4o, openai/gpt-4o')).body, {
    error: 'llm_template.model must list each model once, but "gpt-4o" and "openai/gpt-4o" are the same',
  });
});

t.test(
  'a judge whose provider lacks a key or an address is refused until the organization stores a key',
  async (t) => {
    const api = await startEvaluatorApi(t);
    await startGatewayBeside(t, api);
    t.match((await create(api, 'mistral/mistral-large-latest')).body, {
      data: null,
      error:
        'llm_template.model names "mistral/mistral-large-latest" of the provider mistral, which has no key here: ' +
        'MISTRAL_API_KEY is not set for the gateways, and your organization has stored none with ' +
        'PUT /v1/provider-keys/mistral; use a model of openai, custom',
    });
    t.match(
      (await create(api, 'azure/eu')).body.error,
      /provider azure, which has no address here: use a model of /,
    );
    await api.make('/v1/provider-keys/mistral', { key: 'mistral-own-key' }, 'PUT');
    t.equal((await create(api, 'mistral/mistral-large-latest')).status, 200);
    const others = await create(api, 'mistral/mistral-large-latest', api.other.key);
    t.equal(others.status, 400, "another organization's key is not one's own");
  },
);

t.test(
  'a change to a judge that cannot be called is refused, and the evaluator stays as it was',
  async (t) => {
    const api = await startEvaluatorApi(t);
    await startGatewayBeside(t, api);
    const { id } = await api.make('/v1/evaluator', { name: 'Changed', ...BOOLEAN });
    const change = { llm_template: template('claude-sonnet-5') };
    const { status, body } = await api.call(`/v1/evaluator/${id}`, { method: 'PUT', body: change });
    t.equal(status, 400);
    t.match(
      body.error,
      /^llm_template\.model names "claude-sonnet-5" of the provider anthropic, which has no key/,
    );
    t.match(await api.make(`/v1/evaluator/${id}`), { version: 1, llm_template: BOOLEAN.llm_template });
  },
);

t.test(
  'a trial of a judge that cannot be called is refused without reaching an evaluators process',
  async (t) => {
    const api = await startEvaluatorApi(t);
    await startGatewayBeside(t, api);
    t.match(
      await refusalOf(api, 'grok-4.5'),
      /^evaluatorConfig\.evaluator_llm_template\.model names "grok-4\.5" of the provider xai, which has no key/,
    );
    t.same(api.process.bodies, []);
    t.equal(await refusalOf(api, 'gpt-4o-mini'), null);
    t.equal(api.process.bodies.length, 1);
  },
);

t.test('an Azure deployment is accepted as judge where Azure has an address and a key', async (t) => {
  const api = await startEvaluatorApi(t);
  await startGatewayBeside(t, api, {
    AZURE_OPENAI_ENDPOINT: 'http://127.0.0.1:9',
    AZURE_OPENAI_API_KEY: 'azure-key',
    AZURE_OPENAI_API_VERSION: '2024-10-21',
  });
  t.equal(await refusalOf(api, 'azure/our-deployment'), null);
});

t.test('any judge is accepted while no gateway runs, since only a gateway knows its models', async (t) => {
  const api = await startEvaluatorApi(t);
  t.equal(await refusalOf(api, 'no-such-model'), null);
  const gateway = await startGatewayBeside(t, api);
  t.match(await refusalOf(api, 'no-such-model'), /no gateway here knows/);
  await gateway.stop();
  t.equal(await refusalOf(api, 'no-such-model'), null);
  await startGatewayBeside(t, api);
  await api.database.sql`update assay.processes set at = now() - interval '36 seconds'`;
  t.equal(await refusalOf(api, 'no-such-model'), null, 'one that was killed is believed in for 35 s');
});

t.test('a judge is accepted if one of two different gateways can call it', async (t) => {
  const api = await startEvaluatorApi(t);
  await startGatewayBeside(t, api);
  await startGatewayBeside(t, api, { GROQ_API_KEY: 'groq-key' });
  t.equal(await refusalOf(api, 'groq/llama-3.3-70b'), null);
  t.match(await refusalOf(api, 'xai/grok-4'), /no key here/);
});

const names = fc.constantFrom(
  'gpt-4o-mini',
  'openai/gpt-4o-mini',
  'OpenAI/gpt-5',
  'openai/whatever',
  'ft:gpt-4o:acme',
  'house-llama',
  'custom/anything',
  'usable',
  'half',
  'grok-4.5',
  'groq/llama-3.3-70b',
  'azure/eu',
  'mistral/',
  'no-such-model',
  'openai',
  '',
  ' gpt-4o',
);
/** The gateway's own, not those that it passes on. */
const REFUSALS = ['invalid_body', 'model_not_found', 'provider_not_configured'];

const lists = fc
  .array(names, { minLength: 1, maxLength: 4 })
  .map((entries) => entries.join(','))
  .filter((model) => model.trim() !== '');

t.test('for any model name, a judge is refused exactly where the gateway refuses its call', async (t) => {
  const api = await startEvaluatorApi(t);
  const gateway = await startGatewayBeside(t, api);
  const { key } = await createKey(api.database.sql, {
    organizationId: api.own.organizationId,
    scopes: ['gateway'],
  });
  const seen = { refused: 0, taken: 0 };
  await fc.assert(
    fc.asyncProperty(lists, async (model) => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      });
      const { error } = (await answer.json()) as { error?: { code: string } };
      const isRefused = (await refusalOf(api, model)) !== null;
      seen[isRefused ? 'refused' : 'taken'] += 1;
      return isRefused === REFUSALS.includes(error?.code ?? '');
    }),
    { numRuns: 300 },
  );
  t.ok(seen.refused > 20 && seen.taken > 20, JSON.stringify(seen));
});
