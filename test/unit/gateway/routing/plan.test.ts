import t from 'tap';
import { createCatalog, type OperatorGroup, parseModelsFile } from '#core/models/mod.ts';
import { readConfig } from '#platform/config/mod.ts';
import { createResolver } from '../../../../gateway/providers/resolve.ts';
import { createPlanner, type RoutePlan, requireOneProvider } from '../../../../gateway/routing/mod.ts';
import { seededRandom } from '../../../support/random.ts';

const FILE = {
  models: [{ id: 'house-llama', provider: 'custom', model: 'llama' }],
  groups: [
    {
      id: 'fast',
      routes: [
        { model: 'openai/gpt-4o-mini', weight: 7 },
        { model: 'groq/llama-3.3-70b', weight: 3 },
        { model: 'house-llama', weight: 0 },
      ],
    },
    { id: 'in-order', routes: ['gpt-4o', 'gpt-5', 'grok-4.5'].map((model) => ({ model, weight: 0 })) },
    { id: 'even', routes: [{ model: 'gpt-4o' }, { model: 'gpt-5' }] },
    {
      id: 'gpt-4.1',
      routes: [{ model: 'openai/gpt-4.1' }, { model: 'openrouter/openai/gpt-4.1', weight: 0 }],
    },
  ],
};

/** A real router over a real file: the custom provider has an address, Azure has none, and no provider has a key. */
function setUp({ random = () => 0, file = FILE }: { random?: () => number; file?: unknown } = {}) {
  const read = parseModelsFile(JSON.stringify(file));
  const config = readConfig({ CUSTOM_BASE_URL: 'http://127.0.0.1:9/v1' });
  if (!read.ok || !config.ok) throw new Error('The fixture is wrong');
  const resolve = createResolver(config.config.providers, createCatalog(read.value));
  return { plan: createPlanner({ resolve, groups: read.value.groups, random }), resolve };
}

const names = ({ candidates }: RoutePlan) =>
  candidates.map(({ provider, model }) => `${provider} ${model}`).join(', ');

const PLANS: [what: string, model: string, routes: string][] = [
  ['a model', 'gpt-4o-mini', 'openai gpt-4o-mini'],
  ['a model with its provider', 'groq/llama-3.3-70b', 'groq llama-3.3-70b'],
  ['a model of the operator’s', 'house-llama', 'custom llama'],
  ['a list', 'gpt-4o,claude-sonnet-5', 'openai gpt-4o, anthropic claude-sonnet-5'],
  ['a list with spaces', ' gpt-4o ,\tclaude-sonnet-5 ', 'openai gpt-4o, anthropic claude-sonnet-5'],
  ['a list of providers of one model', 'openai/gpt-4o,openrouter/gpt-4o', 'openai gpt-4o, openrouter gpt-4o'],
  [
    'a group, the first draw of which is its heaviest',
    'fast',
    'openai gpt-4o-mini, groq llama-3.3-70b, custom llama',
  ],
  ['a group without weights, as it stands', 'in-order', 'openai gpt-4o, openai gpt-5, xai grok-4.5'],
  ['a group that has the name of a model', 'gpt-4.1', 'openai gpt-4.1, openrouter openai/gpt-4.1'],
  [
    'a model before a group',
    'gpt-5,fast',
    'openai gpt-5, openai gpt-4o-mini, groq llama-3.3-70b, custom llama',
  ],
  [
    'a group that shares a model with the list',
    'gpt-5,in-order',
    'openai gpt-5, openai gpt-4o, xai grok-4.5',
  ],
  ['groups that share models', 'even,in-order', 'openai gpt-4o, openai gpt-5, xai grok-4.5'],
  [
    'ten models',
    Array.from({ length: 10 }, (_, index) => `openai/m${index}`).join(),
    Array.from({ length: 10 }, (_, index) => `openai m${index}`).join(', '),
  ],
];

for (const [what, model, routes] of PLANS) {
  t.test(`${what} has its route plan: ${model.slice(0, 40)}`, async (t) => {
    const { plan } = setUp();
    t.equal(names(plan(model)), routes);
    t.equal(names(plan(model)), routes, 'and when it is asked for again');
  });
}

const elevenModels = Array.from({ length: 11 }, (_, index) => `openai/m${index}`).join();

const REFUSED: [what: string, model: string, code: string, message: string][] = [
  [
    'an empty entry',
    'gpt-4o,,gpt-5',
    'invalid_body',
    'model must be one model or a list of models separated by commas, but entry 2 of "gpt-4o,,gpt-5" is empty',
  ],
  [
    'a comma at the end',
    'gpt-4o,',
    'invalid_body',
    'model must be one model or a list of models separated by commas, but entry 2 of "gpt-4o," is empty',
  ],
  [
    'commas alone',
    ' , ',
    'invalid_body',
    'model must be one model or a list of models separated by commas, but entry 1 of " , " is empty',
  ],
  [
    'a model twice',
    'gpt-4o, gpt-5, gpt-4o',
    'invalid_body',
    'model must list each model once, but "gpt-4o" occurs twice',
  ],
  [
    'a model by two names',
    'gpt-4o,OpenAI/gpt-4o',
    'invalid_body',
    'model must list each model once, but "gpt-4o" and "OpenAI/gpt-4o" are the same',
  ],
  ['a group twice', 'fast,fast', 'invalid_body', 'model must list each model once, but "fast" occurs twice'],
  [
    'eleven models',
    elevenModels,
    'invalid_body',
    'model must list at most 10 models, including those of groups, but lists 11',
  ],
  [
    'eleven models with those of a group',
    `${elevenModels.split(',').slice(2).join()},even`,
    'invalid_body',
    'model must list at most 10 models, including those of groups, but lists 11',
  ],
  [
    'a list longer than any',
    `gpt-4o,${' '.repeat(3_000)}gpt-5`,
    'invalid_body',
    'model must have at most 3000 characters, but has 3012',
  ],
  [
    'a model that nobody has',
    'nobody-has-this',
    'model_not_found',
    "The model 'nobody-has-this' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model",
  ],
  [
    'a list with a model that nobody has, by its name',
    'gpt-4o,nobody-has-this',
    'model_not_found',
    "The model 'nobody-has-this' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model",
  ],
  [
    'a list with a provider that has no address',
    'gpt-4o,azure/gpt-4o',
    'provider_not_configured',
    "The model 'azure/gpt-4o' needs the provider azure, which has no address here: AZURE_OPENAI_ENDPOINT is not set",
  ],
];

for (const [what, model, code, message] of REFUSED) {
  t.test(`${what} is refused`, async (t) => {
    const { plan } = setUp();
    t.throws(() => plan(model), { code, message });
    t.throws(() => plan(model), { code, message }, 'and when it is asked for again');
  });
}

t.test('a provider without a key is planned, since callers may send their own', async (t) => {
  const { candidates } = setUp().plan('gpt-4o,claude-sonnet-5');
  t.same(
    candidates.map(({ apiKey }) => apiKey),
    [null, null],
  );
});

t.test('a call with its own provider key is refused when its models are of several providers', async (t) => {
  const { plan } = setUp();
  for (const model of ['gpt-4o', 'gpt-4o,gpt-5', 'even'])
    t.doesNotThrow(() => requireOneProvider(plan(model).candidates));
  for (const model of ['gpt-4o,gpt-5,claude-sonnet-5', 'in-order']) {
    t.throws(() => requireOneProvider(plan(model).candidates), {
      code: 'invalid_body',
      message:
        /^model must name models of one provider, as the call brings a provider key of its own, but names some of openai and (?:anthropic|xai)$/,
    });
  }
});

t.test('route plans without a group are made once and reused', async (t) => {
  const { plan, resolve } = setUp();
  t.equal(plan('gpt-4o'), plan('gpt-4o'));
  t.equal(plan('gpt-4o,gpt-5'), plan('gpt-4o,gpt-5'));
  t.equal(plan('gpt-4o').candidates[0], resolve('gpt-4o'));
});

t.test('a group is drawn again for each call, and never begins with a route of weight 0', async (t) => {
  const { plan } = setUp({ random: seededRandom(5) });
  const firsts = Array.from({ length: 200 }, () => plan('fast').candidates[0]?.provider);
  t.same(new Set(firsts), new Set(['openai', 'groq']), 'and never begins with a route of weight 0');
  t.ok(firsts.every((_, index) => index === 0 || plan('fast').candidates.at(-1)?.provider === 'custom'));
});

t.test(
  'all groups with an unknown model or an unconfigured provider are reported at the start',
  async (t) => {
    const routes = [{ model: 'gpt-4o' }, { model: 'gpt-4-omni' }];
    const groups: OperatorGroup[] = [
      { id: 'a', routes },
      { id: 'b', routes: [{ model: 'azure/eu' }] },
    ];
    t.throws(() => setUp({ file: { groups } }), {
      message:
        "MODELS_FILE cannot be used: groups.0.routes.1.model: The model 'gpt-4-omni' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model; " +
        "groups.1.routes.0.model: The model 'azure/eu' needs the provider azure, which has no address here: AZURE_OPENAI_ENDPOINT is not set",
    });
  },
);
