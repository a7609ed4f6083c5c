import t from 'tap';
import { MAX_CODE_LIMITS } from '#core/schema/evaluator.ts';
import { MOST_LIMITS } from '../../../evaluators/python/mod.ts';
import { startTestApi } from '../../support/api.ts';
import {
  BOOLEAN,
  CHOICE,
  CODE,
  type Evaluator,
  type EvaluatorApi,
  EXTERNAL,
  PYTHON,
  RANGE,
  secretBox,
  startEvaluatorApi,
} from './evaluators-process.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi();
});
t.teardown(() => api.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

t.test('each type is answered with the fields of the interface, those of other types null', async (t) => {
  const CASES: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['boolean', BOOLEAN, { llm_template: BOOLEAN.llm_template }],
    ['range', RANGE, { llm_template: RANGE.llm_template }],
    ['choice', CHOICE, { llm_template: CHOICE.llm_template }],
    ['python', PYTHON, { code_template: { code: CODE } }],
    [
      'external',
      EXTERNAL,
      { external_config: { ...EXTERNAL.external_config, headers: { authorization: '[secret]' } } },
    ],
  ];
  for (const [name, body, template] of CASES) {
    const made = await api.make('/v1/evaluator/', { name, ...body });
    t.match(made, { id: UUID, created_at: MOMENT, updated_at: MOMENT }, name);
    t.strictSame(made, {
      id: made.id,
      name,
      scoring_type: body.scoring_type,
      llm_template: null,
      code_template: null,
      external_config: null,
      ...template,
      organization_id: api.own.organizationId,
      created_at: made.created_at,
      updated_at: made.created_at,
      version: 1,
      paused: null,
      daily_budget_usd: null,
    });
    t.strictSame(await api.make(`/v1/evaluator/${made.id}`), made, 'and so it is found');
    t.strictSame(await api.make(`/v1/evaluator/${made.id.toUpperCase()}/`), made);
  }
});

t.test('fields of other types may be null, and a slash at the end does not matter', async (t) => {
  const made = await api.make('/v1/evaluator', {
    name: 'nulls',
    ...BOOLEAN,
    llm_template: { ...BOOLEAN.llm_template, min: null, max: null, choices: null },
    code_template: null,
    external_config: null,
    daily_budget_usd: null,
  });
  t.strictSame(made.llm_template, BOOLEAN.llm_template);
});

t.test('a bare text is a choice whose score is its index, a bare number one of that score', async (t) => {
  const made = await api.make('/v1/evaluator', {
    name: 'bare choices',
    scoring_type: 'LLM-CHOICE',
    llm_template: { model: 'm', prompt: 'p', choices: ['poor', 7.5, { score: -1, description: 'rude' }] },
  });
  t.strictSame((made.llm_template as { choices: unknown }).choices, [
    { score: 0, description: 'poor' },
    { score: 7.5, description: '7.5' },
    { score: -1, description: 'rude' },
  ]);
});

const llm = (fields: object) => ({ ...BOOLEAN, llm_template: { ...BOOLEAN.llm_template, ...fields } });
const range = (fields: object) => ({ ...RANGE, llm_template: { ...RANGE.llm_template, ...fields } });
const choices = (...given: unknown[]) => ({
  ...CHOICE,
  llm_template: { ...CHOICE.llm_template, choices: given },
});

const REFUSALS: [what: string, body: unknown, sentence: string | RegExp][] = [
  ['no object', [], 'body must be an object, but is []'],
  ['no name', BOOLEAN, 'name is required'],
  ['a name that is none', { name: 7, ...BOOLEAN }, 'name must be a string, but is 7'],
  ['an empty name', { name: '', ...BOOLEAN }, 'name must have 1 to 100 characters, but has 0'],
  ['a long name', { name: '😀'.repeat(101), ...BOOLEAN }, 'name must have 1 to 100 characters, but has 101'],
  [
    'a name without a letter',
    { name: '👍!', ...BOOLEAN },
    'name must hold a letter or a digit, as its scores are stored by those, but is "👍!"',
  ],
  ['no type', { name: 'a', llm_template: {} }, 'scoring_type is required'],
  [
    'another type',
    { name: 'a', scoring_type: 'LLM' },
    'scoring_type must be one of "LLM-BOOLEAN", "LLM-CHOICE", "LLM-RANGE", "PYTHON", "EXTERNAL", but is "LLM"',
  ],
  ['an unknown field', { name: 'a', ...BOOLEAN, llmTemplate: {} }, 'llmTemplate is not a known field'],
  [
    'no template',
    { name: 'a', scoring_type: 'LLM-RANGE' },
    'llm_template is required for the scoring_type LLM-RANGE',
  ],
  [
    'no code',
    { name: 'a', scoring_type: 'PYTHON', code_template: null },
    'code_template is required for the scoring_type PYTHON',
  ],
  [
    'no config',
    { name: 'a', scoring_type: 'EXTERNAL' },
    'external_config is required for the scoring_type EXTERNAL',
  ],
  [
    "another type's template",
    { name: 'a', ...PYTHON, llm_template: {} },
    'llm_template does not belong to the scoring_type PYTHON',
  ],
  [
    "another type's config",
    { name: 'a', ...RANGE, external_config: {} },
    'external_config does not belong to the scoring_type LLM-RANGE',
  ],
  [
    'a template that is none',
    { name: 'a', ...BOOLEAN, llm_template: 'x' },
    'llm_template must be an object, but is "x"',
  ],
  [
    'an unknown field of a template',
    { name: 'a', ...llm({ temperature: 1 }) },
    'llm_template.temperature is not a known field',
  ],
  [
    'a range for a boolean',
    { name: 'a', ...llm({ min: 0 }) },
    'llm_template.min does not belong to the scoring_type LLM-BOOLEAN',
  ],
  [
    'choices for a range',
    { name: 'a', ...range({ choices: ['a', 'b'] }) },
    'llm_template.choices does not belong to the scoring_type LLM-RANGE',
  ],
  ['no model', { name: 'a', ...llm({ model: undefined }) }, 'llm_template.model is required'],
  ['a blank model', { name: 'a', ...llm({ model: ' ' }) }, 'llm_template.model must not be empty'],
  [
    'a long model',
    { name: 'a', ...llm({ model: 'm'.repeat(201) }) },
    /^llm_template\.model must have at most 200 characters, but is "m{79}…$/,
  ],
  ['a blank prompt', { name: 'a', ...llm({ prompt: '\n' }) }, 'llm_template.prompt must not be empty'],
  [
    'an unknown variable',
    { name: 'a', ...llm({ prompt: 'Is {{answer}} good?' }) },
    /^llm_template\.prompt .*answer.*\{\{input\}\}/,
  ],
  [
    'an open variable',
    { name: 'a', ...llm({ prompt: 'Is {{output good?' }) },
    /^llm_template\.prompt has "\{\{" without "\}\}"/,
  ],
  ['no least score', { name: 'a', ...range({ min: undefined }) }, 'llm_template.min is required'],
  ['a null least score', { name: 'a', ...range({ min: null }) }, 'llm_template.min is required'],
  ['no greatest score', { name: 'a', ...range({ max: undefined }) }, 'llm_template.max is required'],
  ['a range of text', { name: 'a', ...range({ min: '1' }) }, 'llm_template.min must be a number, but is "1"'],
  [
    'an equal range',
    { name: 'a', ...range({ min: 5 }) },
    'llm_template.min must be less than llm_template.max, which is 5, but is 5',
  ],
  [
    'a range upside down',
    { name: 'a', ...range({ min: 9 }) },
    'llm_template.min must be less than llm_template.max, which is 5, but is 9',
  ],
  [
    'no choices',
    { name: 'a', ...CHOICE, llm_template: { model: 'm', prompt: 'p' } },
    'llm_template.choices is required',
  ],
  [
    'choices that are none',
    { name: 'a', ...CHOICE, llm_template: { model: 'm', prompt: 'p', choices: 'ab' } },
    'llm_template.choices must be an array, but is "ab"',
  ],
  [
    'empty choices',
    { name: 'a', ...choices() },
    'llm_template.choices must hold 2 to 50 choices, but holds 0',
  ],
  [
    'one choice',
    { name: 'a', ...choices('a') },
    'llm_template.choices must hold 2 to 50 choices, but holds 1',
  ],
  [
    '51 choices',
    { name: 'a', ...choices(...Array.from({ length: 51 }, (_, index) => index)) },
    'llm_template.choices must hold 2 to 50 choices, but holds 51',
  ],
  [
    'labels that differ in case',
    { name: 'a', ...choices('Good', { score: 3, description: ' good ' }) },
    'llm_template.choices.1 has the label of llm_template.choices.0, ignoring case and surrounding space: " good "',
  ],
  [
    'equal numbers',
    { name: 'a', ...choices(1, 2, '1') },
    /^llm_template\.choices\.2 has the label of llm_template\.choices\.0/,
  ],
  ['an empty label', { name: 'a', ...choices('a', ' ') }, 'llm_template.choices.1 must not be empty'],
  [
    'a label of 10 KB',
    { name: 'a', ...choices('a', { score: 1, description: 'x'.repeat(10_240) }) },
    'llm_template.choices.1.description must have at most 500 characters, but has 10240',
  ],
  [
    'a choice without a score',
    { name: 'a', ...choices('a', { description: 'b' }) },
    'llm_template.choices.1.score is required',
  ],
  [
    'a choice without a label',
    { name: 'a', ...choices('a', { score: 1 }) },
    'llm_template.choices.1.description is required',
  ],
  [
    'a choice with a label of number',
    { name: 'a', ...choices('a', { score: 1, description: 1 }) },
    'llm_template.choices.1.description must be a string, but is 1',
  ],
  [
    'a choice with more',
    { name: 'a', ...choices('a', { score: 1, description: 'b', why: 'c' }) },
    'llm_template.choices.1.why is not a known field',
  ],
  [
    'a choice that is none',
    { name: 'a', ...choices('a', true) },
    'llm_template.choices.1 must be a string, a number or an object of score and description, but is true',
  ],
  [
    'code that is none',
    { name: 'a', ...PYTHON, code_template: { code: 1 } },
    'code_template.code must be a string, but is 1',
  ],
  ['no code in it', { name: 'a', ...PYTHON, code_template: {} }, 'code_template.code is required'],
  [
    'more than code',
    { name: 'a', ...PYTHON, code_template: { code: CODE, lang: 'py' } },
    'code_template.lang is not a known field',
  ],
  [
    'blank code',
    { name: 'a', ...PYTHON, code_template: { code: '\n' } },
    'code_template.code must not be empty',
  ],
  [
    'NUL in code',
    { name: 'a', ...PYTHON, code_template: { code: 'a = 1\nb = "\0"' } },
    'code_template.code has a NUL character in line 2, which Python does not allow',
  ],
  [
    'half a character in code',
    { name: 'a', ...PYTHON, code_template: { code: 'a = "\ud800"' } },
    'code_template.code is not valid Unicode: it has half of a surrogate pair',
  ],
  [
    'code that is no Python',
    { name: 'a', ...PYTHON, code_template: { code: 'syntax error' } },
    'code_template.code cannot be used: SyntaxError: invalid syntax (line 2, column 5)',
  ],
  [
    'an unknown adapter',
    { name: 'a', ...EXTERNAL, external_config: { adapter: 'x' } },
    /^external_config\.adapter must be one of/,
  ],
  [
    'a private address',
    { name: 'a', ...EXTERNAL, external_config: { adapter: 'http', url: 'http://10.0.0.1/' } },
    'external_config.url must lead to a public host, or to one that OUTBOUND_ALLOW admits (ext_forbidden_url)',
  ],
  [
    'a budget of text',
    { name: 'a', ...BOOLEAN, daily_budget_usd: '1' },
    'daily_budget_usd must be a number or null, but is "1"',
  ],
  [
    'a negative budget',
    { name: 'a', ...BOOLEAN, daily_budget_usd: -1 },
    'daily_budget_usd must be from 0 to 1000000, but is -1',
  ],
  [
    'a huge budget',
    { name: 'a', ...BOOLEAN, daily_budget_usd: 1e7 },
    'daily_budget_usd must be from 0 to 1000000, but is 10000000',
  ],
  [
    'a budget below a nano-dollar',
    { name: 'a', ...BOOLEAN, daily_budget_usd: 1e-10 },
    'daily_budget_usd must have at most 9 decimals, but is 1e-10',
  ],
  [
    'a budget for Python',
    { name: 'a', ...PYTHON, daily_budget_usd: 1 },
    'daily_budget_usd does not belong to the scoring_type PYTHON',
  ],
];

t.test('what breaks a rule is refused with the path, the value and the rule', async (t) => {
  const before = await api.make<Evaluator[]>('/v1/evaluator/query', {});
  for (const [what, body, sentence] of REFUSALS) {
    const answer = await api.call('/v1/evaluator/', { body });
    t.equal(answer.status, 400, what);
    t.equal(answer.body.data, null);
    if (typeof sentence === 'string') t.equal(answer.body.error, sentence, what);
    else t.match(answer.body.error, sentence, what);
  }
  const infinite = await api.call('/v1/evaluator/', {
    raw: JSON.stringify({ name: 'a', ...RANGE }).replace('"max":5', '"max":1e999'),
  });
  t.strictSame(
    [infinite.status, infinite.body.error],
    [400, 'llm_template.max must be a finite number, but is larger than any'],
  );
  t.strictSame(await api.make('/v1/evaluator/query', {}), before, 'and nothing is made');
});

t.test('names share no score key', async (t) => {
  const first = await api.make('/v1/evaluator', { name: 'Is it polite', ...BOOLEAN });
  const same = await api.call('/v1/evaluator', { body: { name: 'Is it polite', ...RANGE } });
  t.strictSame(
    [same.status, same.body.error],
    [409, `There is an evaluator named "Is it polite" already: ${first.id}`],
  );
  const alike = await api.call('/v1/evaluator', { body: { name: 'is IT - polite', ...RANGE } });
  t.strictSame(
    [alike.status, alike.body.error],
    [
      409,
      `The name "is IT - polite" has the score key "is_it_polite", which is that of the evaluator "Is it polite": ${first.id}`,
    ],
  );
  const elsewhere = await api.call('/v1/evaluator', {
    body: { name: 'Is it polite', ...RANGE },
    key: api.other.key,
  });
  t.equal(elsewhere.status, 200, 'another organization has names of its own');
});

t.test('of calls at the same time with one name, one makes it', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => api.call('/v1/evaluator', { body: { name: 'Raced', ...BOOLEAN } })),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)]);
});

t.test('odd names and prompts survive, as far as Postgres can hold them', async (t) => {
  const made = await api.make('/v1/evaluator', {
    name: 'Größe "x" 😀\u0000',
    ...llm({ prompt: 'a\u0000b "{{output}}" \\' }),
  });
  t.equal(made.name, 'Größe "x" 😀\ufffd');
  t.equal((made.llm_template as { prompt: string }).prompt, 'a\ufffdb "{{output}}" \\');
});

t.test('money is kept to the nano-dollar', async (t) => {
  for (const [index, budget] of [0, 0.1, 0.07, 1e-9, 1.123456789, 999_999.999999999, 1e6].entries()) {
    const made = await api.make('/v1/evaluator', {
      name: `budget ${index}`,
      ...BOOLEAN,
      daily_budget_usd: budget,
    });
    t.equal(made.daily_budget_usd, budget);
  }
});

t.test('secrets are stored sealed, for their evaluator alone', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'sealed', ...EXTERNAL });
  const [row] = await api.database.sql<{ stored: string; secrets: Buffer }[]>`
    select external_config::text as stored, secrets from assay.evaluator_versions where evaluator_id = ${made.id}`;
  t.notMatch(row!.stored, 'very-secret');
  t.notMatch(row!.secrets.toString('latin1'), 'very-secret');
  const owner = { organizationId: api.own.organizationId, evaluatorId: made.id };
  t.strictSame(secretBox.open(row!.secrets, owner), { 'headers.authorization': 'Bearer very-secret-token' });
  t.throws(() => secretBox.open(row!.secrets, { ...owner, evaluatorId: 'another' }));
});

t.test('Python may have limits of its own, up to what the sandbox gives', async (t) => {
  t.strictSame({ ...MAX_CODE_LIMITS }, { ...MOST_LIMITS });
  const limits = { wallMs: 500, memoryMb: 64 };
  const made = await api.make('/v1/evaluator', {
    name: 'Limited',
    ...PYTHON,
    code_template: { code: CODE, limits },
  });
  t.strictSame(made.code_template, { code: CODE, limits });
  const changed = await api.make(`/v1/evaluator/${made.id}`, { code_template: { code: CODE } }, 'PUT');
  t.match(changed, { version: 2, code_template: { code: CODE } });
  for (const [given, sentence] of [
    [{ wallMs: 10_001 }, 'code_template.limits.wallMs must be at most 10000, but is 10001'],
    [{ cpuSeconds: 0.5 }, 'code_template.limits.cpuSeconds must be a whole number, but is 0.5'],
    [{ cpu: 1 }, 'code_template.limits.cpu is not a known field'],
  ] as const) {
    const body = { name: 'Unlimited', ...PYTHON, code_template: { code: CODE, limits: given } };
    const answer = await api.call('/v1/evaluator', { body });
    t.strictSame([answer.status, answer.body.error], [400, sentence]);
  }
});

t.test('without a key, an evaluator with secrets is refused, and one without is made', async (t) => {
  const keyless = await startTestApi();
  t.teardown(() => keyless.close());
  const refused = await keyless.call('/v1/evaluator', { body: { name: 'Secret', ...EXTERNAL } });
  t.strictSame(
    [refused.status, refused.body.error],
    [400, 'external_config has secrets. Secrets cannot be stored, because SECRET_KEY is not set'],
  );
  const { headers: _, ...external_config } = EXTERNAL.external_config;
  const made = await keyless.call('/v1/evaluator', { body: { name: 'Open', ...EXTERNAL, external_config } });
  t.equal(made.status, 200);
});

t.test('all are listed, newest first; filters restrict', async (t) => {
  const all = await api.make<Evaluator[]>('/v1/evaluator/query', {});
  const made = all.map((one) => one.created_at as string);
  t.strictSame(made, [...made].sort().reverse());
  t.ok(all.length > 10);
  const found = async (body: object) =>
    (await api.make<Evaluator[]>('/v1/evaluator/query', body)).map(({ name }) => name);
  t.strictSame(await found({ name: 'POLITE' }), ['Is it polite']);
  t.strictSame(await found({ scoring_type: 'PYTHON' }), ['Limited', 'python']);
  t.strictSame(await found({ isPaused: true }), []);
  t.equal((await found({ isPaused: false })).length, all.length);
  const unknown = await api.call('/v1/evaluator/query', { body: { filter: 'all' } });
  t.strictSame([unknown.status, unknown.body.error], [400, 'filter is not a known field']);
});

t.test('an organization has a bounded number of evaluators', async (t) => {
  const { organizationId, key } = api.other;
  await api.database.sql`
    insert into assay.evaluators (organization_id, name, score_key, scoring_type, created_at, updated_at)
    select ${organizationId}, 'filler ' || i, 'filler_' || i, 'PYTHON', now(), now()
    from generate_series(1, 199) as i`;
  const answer = await api.call('/v1/evaluator', { key, body: { name: 'One more', ...BOOLEAN } });
  t.strictSame([answer.status, answer.body.error], [409, 'An organization can have at most 200 evaluators']);
});
