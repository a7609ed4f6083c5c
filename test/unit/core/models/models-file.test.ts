import t from 'tap';
import { parseModelsFile } from '#core/models/mod.ts';

const GOOD = { id: 'house-llama', provider: 'custom', price: { input: 0.2, output: 0.6 } };

function problemsOf(value: unknown): string[] {
  const read = parseModelsFile(typeof value === 'string' ? value : JSON.stringify(value));
  return read.ok ? [] : read.problems;
}

t.test('a valid MODELS_FILE is returned unchanged, and named by its content', async (t) => {
  const models = [
    { ...GOOD, model: 'llama', created: '2025-02-28', owned_by: 'meta', listed: true },
    {
      id: 'azure/eu',
      provider: 'azure',
      price: { input: 2.5, output: 10, cached_input: 1.25, cache_write: 0 },
    },
  ];
  const read = parseModelsFile(JSON.stringify({ models }));
  if (!read.ok) throw new Error(read.problems.join('\n'));
  t.same(read.value.models, models);
  t.match(read.value.source, /^models-file@[0-9a-f]{12}$/);
  const other = parseModelsFile(JSON.stringify({ models: models.slice(1) }));
  t.ok(other.ok && other.value.source !== read.value.source);
  t.same(problemsOf({ models: [] }), []);
});

t.test('valid groups are returned unchanged, with or without models', async (t) => {
  const groups = [
    {
      id: 'fast',
      routes: [
        { model: 'openai/gpt-4o-mini', weight: 7 },
        { model: 'groq/llama-3.3-70b', weight: 2.5 },
        { model: 'house-llama', weight: 0 },
      ],
    },
    { id: 'gpt-4o', routes: [{ model: 'openai/gpt-4o' }] },
  ];
  for (const [file, models] of [
    [{ groups }, []],
    [{ models: [GOOD], groups }, [GOOD]],
  ] as const) {
    const read = parseModelsFile(JSON.stringify(file));
    t.match(read, { ok: true, value: { models, groups } });
  }
  const without = parseModelsFile(JSON.stringify({ models: [GOOD] }));
  t.same(without.ok && without.value.groups, []);
});

const TABLE: [what: string, model: Record<string, unknown>, problem: string][] = [
  ['no id', { provider: 'custom' }, 'models.0.id is required'],
  ['an empty id', { ...GOOD, id: '' }, 'models.0.id must not be empty'],
  [
    'a space in the id',
    { ...GOOD, id: 'a b' },
    'models.0.id must be printable ASCII without spaces and commas, but is "a b"',
  ],
  [
    'a comma in the name',
    { ...GOOD, model: 'a,b' },
    'models.0.model must be printable ASCII without spaces and commas, but is "a,b"',
  ],
  [
    'a provider that there is not',
    { ...GOOD, provider: 'acme' },
    'models.0.provider must be one of "openai", "anthropic", "azure", "google", "mistral", "groq", "deepseek", "xai", "together", "openrouter", "custom", but is "acme"',
  ],
  [
    'an id that names another provider',
    { ...GOOD, id: 'openai/gpt-4o' },
    'models.0.id "openai/gpt-4o" names the provider openai, but provider is "custom"',
  ],
  ['half a price', { ...GOOD, price: { input: 1 } }, 'models.0.price.output is required'],
  [
    'a negative price',
    { ...GOOD, price: { input: -1, output: 1 } },
    'models.0.price.input must be at least 0, but is -1',
  ],
  [
    'a price as text',
    { ...GOOD, price: { input: '1', output: 1 } },
    'models.0.price.input must be a number, but is "1"',
  ],
  [
    'a price with too many decimals',
    { ...GOOD, price: { input: 0.12345678, output: 1 } },
    'models.0.price.input must have at most six decimals, but is 0.12345678',
  ],
  [
    'a tiny price',
    { ...GOOD, price: { input: 1, output: 1e-9 } },
    'models.0.price.output must have at most six decimals, but is 1e-9',
  ],
  [
    'a price of another kind',
    { ...GOOD, price: { input: 1, output: 1, images: 2 } },
    'models.0.price.images is not a known field',
  ],
  ['a field that there is not', { ...GOOD, colour: 'red' }, 'models.0.colour is not a known field'],
  [
    'a day that there is not',
    { ...GOOD, created: '2025-02-30' },
    'models.0.created must be a date like 2026-01-31, but is "2025-02-30"',
  ],
  ['listed as text', { ...GOOD, listed: 'no' }, 'models.0.listed must be true or false, but is "no"'],
];

for (const [what, model, problem] of TABLE) {
  t.test(`in a model of MODELS_FILE, ${what} is refused with one sentence`, async (t) =>
    t.same(problemsOf({ models: [model] }), [problem]),
  );
}

const ROUTES = [{ model: 'gpt-4o' }];

const GROUP_TABLE: [what: string, groups: Record<string, unknown>[], problem: string][] = [
  ['no id', [{ routes: ROUTES }], 'groups.0.id is required'],
  ['no routes', [{ id: 'fast' }], 'groups.0.routes is required'],
  ['an empty group', [{ id: 'fast', routes: [] }], 'groups.0.routes must hold at least 1 items, but holds 0'],
  [
    'more routes than a call can try',
    [{ id: 'fast', routes: Array.from({ length: 11 }, (_, index) => ({ model: `m${index}` })) }],
    'groups.0.routes must hold at most 10 items, but holds 11',
  ],
  [
    'a route without a model',
    [{ id: 'fast', routes: [{ weight: 1 }] }],
    'groups.0.routes.0.model is required',
  ],
  [
    'a negative weight',
    [{ id: 'fast', routes: [{ model: 'gpt-4o', weight: -1 }] }],
    'groups.0.routes.0.weight must be at least 0, but is -1',
  ],
  [
    'a weight without measure',
    [{ id: 'fast', routes: [{ model: 'gpt-4o', weight: 1e7 }] }],
    'groups.0.routes.0.weight must be at most 1000000, but is 10000000',
  ],
  [
    'a weight as text',
    [{ id: 'fast', routes: [{ model: 'gpt-4o', weight: '70%' }] }],
    'groups.0.routes.0.weight must be a number, but is "70%"',
  ],
  [
    'a field that there is not',
    [{ id: 'fast', routes: ROUTES, listed: true }],
    'groups.0.listed is not a known field',
  ],
  [
    'a comma in the id',
    [{ id: 'a,b', routes: ROUTES }],
    'groups.0.id must be printable ASCII without spaces and commas, but is "a,b"',
  ],
  [
    'a list in a route',
    [{ id: 'fast', routes: [{ model: 'a, b' }] }],
    'groups.0.routes.0.model must be printable ASCII without spaces and commas, but is "a, b"',
  ],
  [
    "an id like a provider's model",
    [{ id: 'openai/fast', routes: ROUTES }],
    'groups.0.id "openai/fast" names the provider openai, which has models and no groups',
  ],
  [
    'an id that a model has',
    [{ id: 'house-llama', routes: ROUTES }],
    'groups.0.id "house-llama" is that of models.0 too',
  ],
  [
    'an id that another group has',
    [
      { id: 'fast', routes: ROUTES },
      { id: 'slow', routes: ROUTES },
      { id: 'fast', routes: ROUTES },
    ],
    'groups.2.id "fast" is that of groups.0 too',
  ],
  [
    'a group in a group',
    [
      { id: 'fast', routes: [{ model: 'slow' }] },
      { id: 'slow', routes: ROUTES },
    ],
    'groups.0.routes.0.model "slow" is a group, and a group cannot hold another',
  ],
  [
    'a group in itself',
    [{ id: 'gpt-4o', routes: ROUTES }],
    'groups.0.routes.0.model "gpt-4o" is a group, and a group cannot hold another',
  ],
  [
    'a model twice in a group',
    [{ id: 'fast', routes: [...ROUTES, { model: 'gpt-5' }, ...ROUTES] }],
    'groups.0.routes.2.model "gpt-4o" is that of routes.0 too',
  ],
];

for (const [what, groups, problem] of GROUP_TABLE) {
  t.test(`in a group of MODELS_FILE, ${what} is refused with one sentence`, async (t) =>
    t.same(problemsOf({ models: [GOOD], groups }), [problem]),
  );
}

t.test('a repeated id is reported with its first place', async (t) => {
  t.same(problemsOf({ models: [GOOD, { ...GOOD, id: 'b' }, GOOD] }), [
    'models.2.id "house-llama" is that of models.0 too',
  ]);
});

t.test('all problems are reported at once, up to a limit', async (t) => {
  const bad = [
    { provider: 'custom' },
    { ...GOOD, listed: 1 },
    { ...GOOD, colour: 'red', price: { input: 1 } },
  ];
  t.same(problemsOf({ models: bad }), [
    'models.0.id is required',
    'models.1.listed must be true or false, but is 1',
    'models.2.colour is not a known field',
    'models.2.price.output is required',
  ]);
  t.equal(problemsOf({ models: Array.from({ length: 500 }, () => ({})) }).length, 20);
  const shut = Array.from({ length: 500 }, () => ({ ...GOOD, model: 'a b' }));
  t.equal(problemsOf({ models: shut }).length, 20);
  t.same(problemsOf({ models: [{ ...GOOD, model: 'a b' }], groups: [{ id: 'c d', routes: ROUTES }] }), [
    'models.0.model must be printable ASCII without spaces and commas, but is "a b"',
    'groups.0.id must be printable ASCII without spaces and commas, but is "c d"',
  ]);
});

t.test('a text that is no valid MODELS_FILE is reported', async (t) => {
  t.match(problemsOf('{"models": [}'), [/^is not JSON: /]);
  t.match(problemsOf(''), [/^is not JSON: /]);
  t.same(problemsOf([]), ['body must be an object, but is []']);
  t.same(problemsOf({ model: [] }), ['model is not a known field']);
  t.same(problemsOf({ models: {} }), ['models must be an array, but is {}']);
  t.same(problemsOf({ groups: {} }), ['groups must be an array, but is {}']);
});
