/** Rubrics over the API: which evaluators can be their criteria. */
import t from 'tap';
import {
  BOOLEAN,
  type EvaluatorApi,
  PYTHON,
  RANGE,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { insertEvaluations } from './seed-evaluations.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

type Made = { id: string; version: number; llm_template: { criteria: { id: string; version: number }[] } };

const plain = <Base extends { llm_template: object }>(base: Base, more: object = {}) => ({
  ...base,
  llm_template: { ...base.llm_template, prompt: 'Is it good?', ...more },
});
const make = (name: string, body: object) => api.make<Made>('/v1/evaluator', { name, ...body });
const rubric = (...criteria: unknown[]) => ({
  scoring_type: 'LLM-RUBRIC',
  llm_template: { model: 'gpt-4o', prompt: 'A chat with support: {{input}} {{output}}', criteria },
});

t.test('a rubric fixes the versions of its criteria, and a change of it takes new ones', async (t) => {
  const first = await make('Fixed politeness', plain(RANGE));
  const second = await make('Fixed truth', plain(BOOLEAN));
  const made = await make('Fixing', rubric({ id: first.id }, { id: second.id }));
  const fixed = [
    { id: first.id, version: 1 },
    { id: second.id, version: 1 },
  ];
  t.strictSame(made.llm_template.criteria, fixed);
  await api.make(`/v1/evaluator/${first.id}`, plain(RANGE, { prompt: 'Is it polite?' }), 'PUT');
  const same = await api.make<Made>(`/v1/evaluator/${made.id}`, { llm_template: made.llm_template }, 'PUT');
  t.equal(same.version, 1, 'what is shown can be sent back, and changes nothing');
  const next = await api.make<Made>(
    `/v1/evaluator/${made.id}`,
    { llm_template: rubric({ id: first.id }, { id: second.id, version: 1 }).llm_template },
    'PUT',
  );
  t.strictSame(next.llm_template.criteria, [{ id: first.id, version: 2 }, fixed[1]]);
  t.equal(next.version, 2);
});

t.test('an evaluator that cannot be a criterion is refused with the reason', async (t) => {
  const good = await make('Good criterion', plain(RANGE));
  const other = await make('Other criterion', plain(RANGE));
  const variables = await make('With variables', plain(BOOLEAN, { prompt: 'Is {{output}} good?' }));
  const examples = await make(
    'With examples',
    plain(BOOLEAN, { examples: [{ input: 'a', output: 'b', score: true }] }),
  );
  const jury = await make('With jury', plain(BOOLEAN, { jury: { models: ['gpt-4.1'] } }));
  const code = await make('Code', PYTHON);
  const nested = await make('Nested', rubric({ id: good.id }, { id: other.id }));
  const missing = '5948ec1e-e865-4594-85d2-b5ce10ded460';
  const AT = 'llm_template.criteria.1';
  const REFUSALS: [string, unknown[], string][] = [
    ['one', [{ id: good.id }], 'llm_template.criteria must hold at least 2 items, but holds 1'],
    ['no object', [good.id, other.id], 'llm_template.criteria.0 must be an object, but is "'],
    ['twice', [{ id: good.id }, { id: good.id }], `${AT}.id names "${good.id}" again`],
    ['unknown', [{ id: good.id }, { id: missing }], `${AT}.id names "${missing}", and there is no such`],
    [
      'no id',
      [{ id: good.id }, { id: 'x' }],
      `${AT}.id names "x", and there is no such evaluator or version`,
    ],
    ['version', [{ id: good.id }, { id: other.id, version: 7 }], `${AT}.id names "${other.id}", and there`],
    [
      'variables',
      [{ id: good.id }, { id: variables.id }],
      `${AT} cannot be "With variables", which has variables`,
    ],
    [
      'examples',
      [{ id: good.id }, { id: examples.id }],
      `${AT} cannot be "With examples", which has examples`,
    ],
    ['jury', [{ id: good.id }, { id: jury.id }], `${AT} cannot be "With jury", which has a jury`],
    ['code', [{ id: good.id }, { id: code.id }], `${AT} cannot be "Code", which is of the type PYTHON`],
    [
      'nested',
      [{ id: good.id }, { id: nested.id }],
      `${AT} cannot be "Nested", which is of the type LLM-RUBRIC`,
    ],
  ];
  for (const [what, criteria, sentence] of REFUSALS) {
    const reply = await api.call('/v1/evaluator', { body: { name: 'Refused', ...rubric(...criteria) } });
    t.equal(reply.status, 400, what);
    t.match((reply.body as { error: string }).error, sentence, what);
  }
  for (const [more, sentence] of [
    [{ threshold: 0.5 }, 'threshold does not belong to the scoring_type LLM-RUBRIC'],
    [
      {
        llm_template: {
          ...rubric({ id: good.id }, { id: other.id }).llm_template,
          jury: { models: ['gpt-4.1'] },
        },
      },
      'llm_template.jury is not a known field',
    ],
  ] as const) {
    const body = { name: 'Refused', ...rubric({ id: good.id }, { id: other.id }), ...more };
    const reply = await api.call('/v1/evaluator', { body });
    t.equal(reply.status, 400);
    t.match((reply.body as { error: string }).error, sentence);
  }
});

t.test('statistics of a rubric count its evaluations and have no scores', async (t) => {
  const first = await make('First counted', plain(RANGE));
  const second = await make('Second counted', plain(RANGE));
  const made = await make('Counted', rubric({ id: first.id }, { id: second.id }));
  const [id] = await insertEvaluations(api, [
    { evaluator_id: made.id, state: 'completed', score: null, judge_calls: 1, cost_nano: 5 },
  ]);
  const [criterion] = await insertEvaluations(api, [
    { evaluator_id: first.id, state: 'completed', score: 4, rubric_id: id! },
  ]);
  t.match(await api.make(`/v1/evaluator/${made.id}/stats`), {
    evaluations: { total: 1, by_state: { completed: 1 } },
    scores: { mean: null, min: null, max: null, distribution: [] },
    judge: { calls: 1 },
  });
  t.match(await api.make(`/v1/evaluator/${first.id}/stats`), {
    scores: { count: 1, mean: 4 },
    judge: { calls: 0 },
  });
  t.match(await api.make(`/v1/evaluation/${criterion}`), { score: 4, rubric_id: id, judge: null });
  t.match(await api.make(`/v1/evaluation/${id}`), { state: 'completed', score: null, rubric_id: null });
});
