import t from 'tap';
import { textUsage } from '#core/chat/mod.ts';
import type { OperatorModel, OperatorModels } from '#core/models/mod.ts';
import { BUILT_IN_CATALOG, createCatalog } from '#core/models/mod.ts';
import { providerOf } from '#core/models/provider-of.ts';

const built = BUILT_IN_CATALOG.chatModels();
const ids = built.map(({ id }) => id);
const AT_MS = Date.parse('2026-10-01T12:00:00Z');

function modelOf(id: string) {
  const model = built.find((candidate) => candidate.id === id);
  if (model === undefined) throw new Error(`${id} is not in the catalog`);
  return model;
}

const withModels = (...models: OperatorModel[]): OperatorModels => ({
  models,
  groups: [],
  source: 'models-file@test',
});

t.test(
  'every built-in model is listed once, belongs to its provider by its bare id, and has a price',
  async (t) => {
    t.equal(new Set(ids).size, ids.length);
    t.ok(ids.length > 150, `${ids.length} models`);
    for (const { id, provider } of built) {
      t.same(BUILT_IN_CATALOG.providerOf(id), { provider, model: id }, id);
      t.same(providerOf(id), { provider, model: id }, `${id}, by the registry's patterns`);
      const cost = BUILT_IN_CATALOG.costOf({
        provider,
        models: [id],
        usage: textUsage(1_000, 1_000),
        atMs: AT_MS,
      });
      t.ok(
        cost !== null && cost.nano > 0 && cost.source.startsWith('genai-prices@'),
        `${id} costs something`,
      );
    }
  },
);

t.test('the popular models are listed', async (t) => {
  for (const id of [
    'gpt-4o-mini',
    'gpt-5-2025-08-07',
    'gpt-5.6',
    'claude-opus-4-5',
    'claude-sonnet-5',
    'gemini-2.5-pro',
    'mistral-large-latest',
    'deepseek-chat',
    'grok-4.5',
    'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  ]) {
    t.ok(ids.includes(id), id);
  }
});

t.test('models that do not answer chat completions are not listed', async (t) => {
  const not = {
    embeddings: ['text-embedding-3-small', 'mistral-embed', 'gemini-embedding-001'],
    audio: [
      'whisper-1',
      'gpt-4o-mini-tts',
      'gpt-4o-transcribe',
      'gpt-realtime',
      'gpt-audio',
      'voxtral-mini-latest',
    ],
    images: ['gpt-image-1', 'gemini-2.5-flash-image', 'gemini-3-pro-image-preview'],
    'moderation and pages': [
      'moderation',
      'llama-guard-3-8b',
      'meta-llama/llama-guard-4-12b',
      'mistral-ocr-latest',
    ],
    'other endpoints of OpenAI': [
      'gpt-3.5-turbo-instruct',
      'davinci',
      'gpt-5-pro',
      'o3-pro',
      'gpt-5.3-codex',
    ],
    'fine-tuned stems': ['ft:gpt-4o', 'gpt-4o-mini-2024-07-18.ft-'],
    'names of other hosts': [
      'gpt-35-turbo',
      'gpt-oss-120b',
      'o3-mini-high',
      'gemini-flash-1.5',
      'deepseek-v3.2',
    ],
    'without a price': ['gemma-4-31b-it', 'mistral-nemo:free', 'google/gemma-3-27b-it:free'],
    'shut down': [
      'gpt-4',
      'o1',
      'claude-2',
      'claude-3-opus-latest',
      'gemini-1.5-pro',
      'grok-3',
      'llama-3.3-70b-versatile',
      'mixtral-8x7b-32768',
    ],
    'behind an explicit provider': ['openai/gpt-4o', 'google/gemini-2.5-pro', 'azure/gpt-4o'],
  };
  for (const [why, names] of Object.entries(not)) {
    for (const name of names) t.notOk(ids.includes(name), `${name}: ${why}`);
  }
});

t.test('a model is owned by its maker, whichever provider hosts it', async (t) => {
  for (const [id, maker] of [
    ['gpt-4o', 'openai'],
    ['claude-opus-5', 'anthropic'],
    ['gemini-3.5-flash', 'google'],
    ['mistral-large-2512', 'mistral'],
    ['grok-4.5', 'xai'],
    ['meta-llama/Llama-3.3-70B-Instruct-Turbo', 'meta'],
    ['meta-llama/llama-3.1-70b-instruct', 'meta'],
    ['mistralai/mistral-large-2512', 'mistral'],
    ['x-ai/grok-4.20', 'xai'],
    ['qwen/qwen3-max', 'alibaba'],
    ['cohere/command-a', 'cohere'],
  ] as const) {
    t.equal(modelOf(id).ownedBy, maker, id);
  }
  for (const { id, ownedBy } of built) t.match(ownedBy, /^[a-z0-9-]+$/, id);
});

t.test("a model was created at its release, or at the registry's if that is unknown", async (t) => {
  for (const [id, date, why] of [
    ['gpt-4o-2024-08-06', '2024-08-06', 'its id says so'],
    ['gpt-4o', '2024-05-13', 'models.json says so, not its oldest snapshot here'],
    ['gpt-5.1', '2025-11-13', 'its snapshot says so'],
    ['mistral-large-2512', '2025-12-01', 'a year and a month'],
    ['claude-haiku-4-5', '2025-10-15', 'models.json says so'],
    ['grok-4.5-latest', '2026-07-08', 'it is what it stands for'],
    ['x-ai/grok-4.20', '2026-03-09', 'at every host'],
    ['meta-llama/Llama-3.3-70B-Instruct-Turbo', '2024-12-06', 'in any case'],
    ['inception/mercury-2', '2026-03-04', 'models.dev says so'],
    ['gpt-chat-latest', '2026-09-23', 'nothing is known'],
  ] as const) {
    t.equal(new Date(modelOf(id).created * 1_000).toISOString(), `${date}T00:00:00.000Z`, `${id}: ${why}`);
  }
  for (const { id, created } of built) {
    t.ok(Number.isInteger(created) && created > 1.6e9 && created < AT_MS / 1_000, id);
  }
});

t.test("the operator's models are routed, priced and listed", async (t) => {
  const catalog = createCatalog(
    withModels({
      id: 'house-llama',
      provider: 'custom',
      model: 'meta-llama/Llama-3.3-70B',
      price: { input: 0.2, output: 0.6, cached_input: 0.05, cache_write: 0.25 },
    }),
  );
  t.same(catalog.providerOf('house-llama'), { provider: 'custom', model: 'meta-llama/Llama-3.3-70B' });
  t.same(
    catalog.providerOf('gpt-4o-mini'),
    { provider: 'openai', model: 'gpt-4o-mini' },
    'others are as they were',
  );
  const usage = {
    ...textUsage(1_000, 100),
    cachedTokens: 300,
    cacheWriteTokens: 200,
    cacheWriteHourTokens: 50,
  };
  const expected = { nano: 500 * 200 + 300 * 50 + 200 * 250 + 100 * 600, source: 'models-file@test' };
  for (const models of [
    ['house-llama'],
    ['meta-llama/Llama-3.3-70B'],
    ['who-knows', 'house-llama'],
    [null, 'house-llama'],
  ]) {
    t.same(catalog.costOf({ provider: 'custom', models, usage, atMs: AT_MS }), expected, String(models));
  }
  t.equal(catalog.costOf({ provider: 'custom', models: ['other'], usage, atMs: AT_MS }), null);
  t.match(
    catalog.chatModels().find(({ id }) => id === 'house-llama'),
    { provider: 'custom', ownedBy: 'meta', title: 'house-llama' },
  );
});

t.test('an Azure deployment is listed once it is configured', async (t) => {
  const catalog = createCatalog(
    withModels({
      id: 'azure/eu-gpt',
      provider: 'azure',
      price: { input: 2.5, output: 10 },
      created: '2025-01-02',
      owned_by: 'openai',
    }),
  );
  t.same(catalog.providerOf('azure/eu-gpt'), { provider: 'azure', model: 'eu-gpt' });
  t.same(
    catalog.chatModels().find(({ id }) => id === 'azure/eu-gpt'),
    {
      id: 'azure/eu-gpt',
      provider: 'azure',
      title: 'azure/eu-gpt',
      ownedBy: 'openai',
      created: 1_735_776_000,
    },
  );
  const usage = textUsage(1_000, 0);
  for (const name of ['azure/eu-gpt', 'eu-gpt']) {
    t.equal(
      catalog.costOf({ provider: 'azure', models: ['gpt-4o-2024-08-06', name], usage, atMs: AT_MS })?.nano,
      2_500_000,
      name,
    );
  }
});

t.test("the operator's price comes before the registry's, for every name of the model", async (t) => {
  const catalog = createCatalog(
    withModels(
      { id: 'gpt-4o', provider: 'openai', price: { input: 1, output: 2 } },
      { id: 'gpt-5', provider: 'openai', owned_by: 'acme' },
    ),
  );
  const cost = (...models: string[]) =>
    catalog.costOf({ provider: 'openai', models, usage: textUsage(1_000, 0), atMs: AT_MS });
  t.same(cost('gpt-4o-2024-08-06', 'gpt-4o'), { nano: 1_000_000, source: 'models-file@test' });
  t.same(cost('gpt-4o-2024-08-06', 'openai/gpt-4o'), { nano: 1_000_000, source: 'models-file@test' });
  t.equal(cost('gpt-4o-2024-08-06')?.nano, 2_500_000, 'asked for by that name it is another');
  t.equal(cost('gpt-5')?.nano, 1_250_000, 'without a price of its own it keeps the one it had');
  const [four, five] = ['gpt-4o', 'gpt-5'].map((name) => catalog.chatModels().find(({ id }) => id === name));
  t.match(four, { ownedBy: 'openai', created: modelOf('gpt-4o').created }, 'what is not said stays');
  t.match(five, { ownedBy: 'acme', created: modelOf('gpt-5').created });
});

t.test('the operator can hide a model, and one without a price is not listed', async (t) => {
  const catalog = createCatalog(
    withModels({ id: 'gpt-4o', provider: 'openai', listed: false }, { id: 'dark-horse', provider: 'custom' }),
  );
  const listed = catalog.chatModels().map(({ id }) => id);
  t.notOk(listed.includes('gpt-4o'));
  t.notOk(listed.includes('dark-horse'));
  t.ok(listed.includes('gpt-4o-mini'));
  t.same(
    catalog.providerOf('dark-horse'),
    { provider: 'custom', model: 'dark-horse' },
    'it can be called all the same',
  );
  t.same(catalog.providerOf('gpt-4o'), { provider: 'openai', model: 'gpt-4o' });
});

t.test('the advice of other models costs what it costs at their prices', async (t) => {
  const advise = (model: string) => ({ model, usage: textUsage(100, 10) });
  const own = {
    id: 'adviser',
    provider: 'anthropic' as const,
    model: 'claude-x',
    price: { input: 1, output: 2 },
  };
  const catalog = createCatalog(withModels(own));
  const costOf = (...advisers: string[]) =>
    catalog.costOf({
      provider: 'anthropic',
      models: ['claude-sonnet-4-6'],
      usage: { ...textUsage(1_000, 100), advice: advisers.map(advise) },
      atMs: AT_MS,
    })?.nano ?? null;
  const alone = 1_000 * 3_000 + 100 * 15_000;
  t.equal(costOf(), alone);
  t.equal(costOf('claude-opus-4-7'), alone + 100 * 5_000 + 10 * 25_000);
  t.equal(costOf('claude-x', 'claude-x'), alone + 2 * (100 * 1_000 + 10 * 2_000));
  t.equal(costOf('claude-opus-4-7', 'nobody-knows'), null);
});

t.test("a fine-tuned model has OpenAI's price for its base, however its id names the base", async (t) => {
  const cost = (model: string, provider = 'openai') =>
    BUILT_IN_CATALOG.costOf({
      provider,
      models: [model],
      usage: { ...textUsage(1_000_000, 1_000_000), cachedTokens: 400_000 },
      atMs: AT_MS,
    });
  for (const [model, usd] of [
    ['ft:gpt-4o-mini:acme::8a1b2c3d', 0.6 * 0.3 + 0.4 * 0.15 + 1.2],
    ['ft:gpt-4o-mini-2024-07-18:acme:support:8a1b2c3d', 0.6 * 0.3 + 0.4 * 0.15 + 1.2],
    ['ft:gpt-4.1-2025-04-14:acme::8a1b2c3d', 0.6 * 3 + 0.4 * 0.75 + 12],
    ['ft:gpt-3.5-turbo-0125:acme::8a1b2c3d', 3 + 6],
    ['openai/ft:gpt-4o:acme::8a1b2c3d', 0.6 * 3.75 + 0.4 * 1.875 + 15],
  ] as const) {
    t.equal(cost(model)?.nano, Math.round(usd * 1e9), model);
    t.match(cost(model)?.source, /^openai-fine-tuned@/);
  }
  t.equal(cost('ft:gpt-0:acme::8a1b2c3d'), null, 'an unknown base has no price');
  t.equal(
    cost('ft:gpt-4o-mini:acme::8a1b2c3d', 'custom'),
    null,
    'nor has another provider’s model of that name',
  );
});
