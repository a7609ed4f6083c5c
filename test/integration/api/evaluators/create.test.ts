/** Evaluators that are made: what they are answered with, and what is kept of them. */
import t from 'tap';
import { startTestApi } from '../../../support/api.ts';
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
} from '../../../support/evaluators-process.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

t.test('a created evaluator has all fields of the contract, with those of other types null', async (t) => {
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
      waiting: null,
      daily_budget_usd: null,
      threshold: null,
      scope: 'request',
    });
    t.strictSame(await api.make(`/v1/evaluator/${made.id}`), made, 'and so it is found');
    t.strictSame(await api.make(`/v1/evaluator/${made.id.toUpperCase()}/`), made);
  }
});

t.test(
  'creating an evaluator accepts null for fields of other types, and a slash at the end of the path',
  async (t) => {
    const made = await api.make('/v1/evaluator', {
      name: 'nulls',
      ...BOOLEAN,
      llm_template: { ...BOOLEAN.llm_template, min: null, max: null, choices: null },
      code_template: null,
      external_config: null,
      daily_budget_usd: null,
    });
    t.strictSame(made.llm_template, BOOLEAN.llm_template);
  },
);

t.test('a bare text is a choice scored by its index, and a bare number a choice of that score', async (t) => {
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

t.test('categories of a judge are its choices under another name, and those of code are kept', async (t) => {
  const categories = [
    { label: 'rude', score: -1 },
    { label: 'kind', score: 1 },
  ];
  const judge = await api.make('/v1/evaluator', {
    name: 'categories of a judge',
    scoring_type: 'LLM-CHOICE',
    llm_template: { model: 'm', prompt: 'p', categories, choices: null },
  });
  t.strictSame(judge.llm_template, {
    model: 'm',
    prompt: 'p',
    choices: [
      { score: -1, description: 'rude' },
      { score: 1, description: 'kind' },
    ],
  });
  const code = await api.make('/v1/evaluator', {
    name: 'categories of code',
    scoring_type: 'PYTHON',
    code_template: { code: CODE, categories },
  });
  t.strictSame(code.code_template, { code: CODE, categories });
});

t.test('examples of a judge are stored as they were given, and an empty list as none', async (t) => {
  const examples = [
    { input: 'Hi', output: 'Go away.', label: 'RUDE', reasoning: 'It sends one away.' },
    { input: 'Hi', output: 'Hello!', label: 'kind' },
  ];
  const choices = [
    { score: -1, description: 'rude' },
    { score: 1, description: 'kind' },
  ];
  const template = { model: 'm', prompt: 'p', choices };
  const made = await api.make('/v1/evaluator', {
    name: 'with examples',
    scoring_type: 'LLM-CHOICE',
    llm_template: { ...template, examples },
  });
  t.strictSame(made.llm_template, { ...template, examples });
  const changed = await api.make<Evaluator>(
    `/v1/evaluator/${made.id}`,
    { llm_template: { ...template, examples: [] } },
    'PUT',
  );
  t.strictSame([changed.version, changed.llm_template], [2, template]);
  const graded = await api.make('/v1/evaluator', {
    name: 'with graded examples',
    ...RANGE,
    llm_template: {
      ...RANGE.llm_template,
      examples: [{ input: '', output: '', score: RANGE.llm_template.max }],
    },
  });
  t.match(graded.llm_template, { examples: [{ score: RANGE.llm_template.max }] });
});

t.test('an evaluator whose name has the score key of another is refused', async (t) => {
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

t.test('of concurrent calls that create an evaluator of one name, exactly one succeeds', async (t) => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => api.call('/v1/evaluator', { body: { name: 'Raced', ...BOOLEAN } })),
  );
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)]);
});

t.test('unusual names and prompts are stored as far as Postgres can hold them', async (t) => {
  const made = await api.make('/v1/evaluator', {
    name: 'Größe "x" 😀\u0000',
    ...BOOLEAN,
    llm_template: { ...BOOLEAN.llm_template, prompt: 'a\u0000b "{{output}}" \\' },
  });
  t.equal(made.name, 'Größe "x" 😀\ufffd');
  t.equal((made.llm_template as { prompt: string }).prompt, 'a\ufffdb "{{output}}" \\');
});

t.test('the budget of an evaluator is kept to the nano-dollar', async (t) => {
  for (const [index, budget] of [0, 0.1, 0.07, 1e-9, 1.123456789, 999_999.999999999, 1e6].entries()) {
    const made = await api.make('/v1/evaluator', {
      name: `budget ${index}`,
      ...BOOLEAN,
      daily_budget_usd: budget,
    });
    t.equal(made.daily_budget_usd, budget);
  }
});

t.test('secrets of an evaluator are stored sealed, for that evaluator alone', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'sealed', ...EXTERNAL });
  const [row] = await api.database.sql<{ stored: string; secrets: Buffer }[]>`
    select external_config::text as stored, secrets from assay.evaluator_versions where evaluator_id = ${made.id}`;
  t.notMatch(row!.stored, 'very-secret');
  t.notMatch(row!.secrets.toString('latin1'), 'very-secret');
  const owner = { organizationId: api.own.organizationId, evaluatorId: made.id };
  t.strictSame(secretBox.open(row!.secrets, owner), { 'headers.authorization': 'Bearer very-secret-token' });
  t.throws(() => secretBox.open(row!.secrets, { ...owner, evaluatorId: 'another' }));
});

t.test('a Python evaluator may have limits of its own, up to those of the sandbox', async (t) => {
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

t.test(
  'without SECRET_KEY an evaluator with secrets is refused, and one without secrets is created',
  async (t) => {
    const keyless = await startTestApi(t);
    const refused = await keyless.call('/v1/evaluator', { body: { name: 'Secret', ...EXTERNAL } });
    t.strictSame(
      [refused.status, refused.body.error],
      [400, 'external_config has secrets. Secrets cannot be stored, because SECRET_KEY is not set'],
    );
    const { headers: _, ...external_config } = EXTERNAL.external_config;
    const made = await keyless.call('/v1/evaluator', {
      body: { name: 'Open', ...EXTERNAL, external_config },
    });
    t.equal(made.status, 200);
  },
);

t.test('evaluators are listed newest first, and filters restrict the list', async (t) => {
  const all = await api.make<Evaluator[]>('/v1/evaluator/query', {});
  const made = all.map((one) => one.created_at as string);
  t.strictSame(made, [...made].sort().reverse());
  t.ok(all.length > 10);
  const found = async (body: object) =>
    (await api.make<Evaluator[]>('/v1/evaluator/query', body)).map(({ name }) => name);
  t.strictSame(await found({ name: 'POLITE' }), ['Is it polite']);
  t.strictSame(await found({ scoring_type: 'PYTHON' }), ['Limited', 'categories of code', 'python']);
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
