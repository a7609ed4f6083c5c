/** Juries over the API: their rules, the judgments of their members, and how far these agree. */
import t from 'tap';
import {
  BOOLEAN,
  CHOICE,
  type Evaluator,
  type EvaluatorApi,
  RANGE,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { insertEvaluations } from './seed-evaluations.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

const JURY = { models: ['gpt-4.1', 'gpt-4.1-mini'] };
const withJury = <Base extends { llm_template: object }>(base: Base, jury: unknown) => ({
  ...base,
  llm_template: { ...base.llm_template, jury },
});
const member = (model: string, score: number | null) => ({
  model,
  score,
  label: null,
  reasoning: score === null ? null : `I say ${score}.`,
  flags: [],
  error: score === null ? { code: 'judge_refused', message: 'It refuses' } : null,
  use: {
    calls: 1,
    requestIds: [`call of ${model}`],
    model,
    promptTokens: 10,
    completionTokens: 2,
    costNano: 1_500,
    latencyMs: 20,
  },
});

t.test('a jury gets the rule that fits the scores, and a quorum of more than half', async (t) => {
  const cases: [object, string][] = [
    [BOOLEAN, 'majority'],
    [CHOICE, 'majority'],
    [RANGE, 'median'],
  ];
  for (const [base, rule] of cases) {
    const made = await api.make<Evaluator & { llm_template: object }>('/v1/evaluator', {
      name: `Jury by ${JSON.stringify(base).slice(0, 40)}`,
      ...withJury(base as typeof BOOLEAN, JURY),
    });
    t.match(made.llm_template, { jury: { ...JURY, rule, quorum: 2 } });
    const changed = await api.call(`/v1/evaluator/${made.id}`, {
      method: 'PUT',
      body: { llm_template: made.llm_template },
    });
    t.match(changed.body, { data: { version: 1 } }, 'what is shown can be sent back, and changes nothing');
  }
});

t.test('a jury that breaks a rule is refused with the place and the rule', async (t) => {
  const { model } = BOOLEAN.llm_template;
  const REFUSALS: [object, unknown, RegExp][] = [
    [BOOLEAN, { models: [] }, /^llm_template\.jury\.models must hold at least 1 items/],
    [
      BOOLEAN,
      { models: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
      /^llm_template\.jury\.models must hold at most 6 items/,
    ],
    [BOOLEAN, { models: [' '] }, /^llm_template\.jury\.models\.0 must not be/],
    [BOOLEAN, { models: [model] }, /^llm_template\.jury\.models\.0 names ".*", which is a member already/],
    [BOOLEAN, { ...JURY, rule: 'mean' }, /^llm_template\.jury\.rule must be majority for these scores/],
    [CHOICE, { ...JURY, rule: 'mean' }, /^llm_template\.jury\.rule must be majority or median/],
    [RANGE, { ...JURY, rule: 'majority' }, /^llm_template\.jury\.rule must be median or mean/],
    [RANGE, { ...JURY, quorum: 1 }, /^llm_template\.jury\.quorum must be/],
    [RANGE, { ...JURY, quorum: 4 }, /^llm_template\.jury\.quorum must be at most 3, the members, but is 4/],
    [RANGE, { ...JURY, chair: 'x' }, /^llm_template\.jury\.chair is not a known field/],
  ];
  for (const [base, jury, sentence] of REFUSALS) {
    const reply = await api.call('/v1/evaluator', {
      body: { name: 'Refused', ...withJury(base as typeof BOOLEAN, jury) },
    });
    t.equal(reply.status, 400, JSON.stringify(jury));
    t.match((reply.body as { error: string }).error, sentence);
  }
});

t.test('an evaluation shows the judgment of each member, with its calls and its cost', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Shown jury', ...withJury(RANGE, JURY) });
  const members = [member('gpt-4o-mini', 4), member('gpt-4.1', null), member('gpt-4.1-mini', 2)];
  const [evaluationId] = await insertEvaluations(api, [
    { evaluator_id: id, state: 'completed', score: 3, members },
  ]);
  const shown = await api.make<{ members: unknown[] }>(`/v1/evaluation/${evaluationId}`);
  t.match(shown.members, [
    {
      model: 'gpt-4o-mini',
      score: 4,
      reasoning: 'I say 4.',
      error: null,
      judge: { request_ids: ['call of gpt-4o-mini'], calls: 1, cost: 0.0000015, latency_ms: 20 },
    },
    { model: 'gpt-4.1', score: null, error: { code: 'judge_refused' } },
    { model: 'gpt-4.1-mini', score: 2 },
  ]);
});

t.test('statistics have the agreement of the jury, and none of a judge alone', async (t) => {
  const { id } = await api.make('/v1/evaluator', { name: 'Agreeing jury', ...withJury(RANGE, JURY) });
  const judged = (score: number, ...scores: (number | null)[]) => ({
    evaluator_id: id,
    state: 'completed',
    score,
    members: scores.map((one, index) => member(['gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini'][index]!, one)),
    finished_at: new Date(),
  });
  type Stats = { jury: { alpha: number | null; alpha_note: string | null; members: object[] } | null };
  const empty = await api.make<Stats>(`/v1/evaluator/${id}/stats`);
  t.match(empty.jury, {
    evaluations: 0,
    alpha: null,
    alpha_note: 'There is no alpha: no item has two ratings',
  });
  await insertEvaluations(api, [
    judged(1, 1, 1, 1),
    judged(2, 2, 2, null),
    judged(3, 3, 3, 3),
    judged(4, 5, 4, 4),
    { ...judged(1, 5, 1, 1), probe: 'repeat' },
  ]);
  const { jury } = await api.make<Stats>(`/v1/evaluator/${id}/stats`);
  t.match(jury, { evaluations: 4, level: 'interval', alpha_note: null });
  // The ratings 1 1 1, 2 2, 3 3 3 and 5 4 4 differ by 2 within items, and by 408 among all.
  t.ok(Math.abs(jury!.alpha! - (1 - (10 * 2) / 408)) < 1e-12, String(jury!.alpha));
  t.match(jury!.members, [
    { model: 'gpt-4o-mini', answered: 4, failed: 0, mean: 2.75, like_jury: { value: 0.75 } },
    { model: 'gpt-4.1', answered: 4, failed: 0, mean: 2.5, like_jury: { value: 1 } },
    { model: 'gpt-4.1-mini', answered: 3, failed: 1, like_jury: { value: 1 } },
  ]);
  const alone = await api.make('/v1/evaluator', { name: 'Alone', ...RANGE });
  t.equal((await api.make<Stats>(`/v1/evaluator/${alone.id}/stats`)).jury, null);
});
