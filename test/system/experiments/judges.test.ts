/** Juries, rubrics and pairs from their making to their statistics, over everything that `npm start` runs. */
import t from 'tap';
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import type { PairwiseDryRunJson, WinRateJson } from '#core/contracts/pairwise.ts';
import { waitFor } from '../../support/assay.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { questions, startWorld } from './world.ts';

const world = await startWorld(t);
const { api, provider, sql } = world;

const SHORT = 'Short.';
const LONG = 'A much longer answer.';
const ITEMS = 4;

/** Returns what a judge says: of a pair that the longer answer is better, of a rubric that one score is out of range. */
function verdictOf(model: string, messages: string): object | null {
  if (messages.includes('criterion_1')) {
    const right = { reasoning: 'It is right.', score: messages.includes(LONG) };
    return { criterion_1: right, criterion_2: { reasoning: 'It is more than good.', score: 7 } };
  }
  if (messages.includes('Answer A:')) {
    const isFirst = messages.indexOf(LONG) < messages.indexOf(SHORT);
    return { reasoning: 'It says more.', score: isFirst ? 'A' : 'B' };
  }
  const scores: Record<string, number> = { 'gpt-4.1': 5, 'gpt-4.1-mini': 3 };
  return scores[model] === undefined ? null : { reasoning: `${model} says so.`, score: scores[model] };
}

provider.script((request): Behaviour => {
  const { model, messages } = JSON.parse(request.body.toString()) as {
    model: string;
    messages: { content: string }[];
  };
  if (model === 'gpt-4o-mini') return { kind: 'answer', text: SHORT };
  if (model === 'gpt-4o') return { kind: 'answer', text: LONG };
  const verdict = verdictOf(model, messages.map(({ content }) => content).join('\n'));
  if (verdict === null) return { kind: 'answer', text: "I'm sorry, but I can't help with that." };
  const call = { name: 'submit_verdict', arguments: JSON.stringify(verdict) };
  return { kind: 'answer', text: null, toolCalls: [call] };
});

type Named = { id: string };
const evaluator = (name: string, scoring_type: string, llm_template: object) =>
  api<Named>('POST', '/v1/evaluator', {
    name,
    scoring_type,
    llm_template: { model: 'gpt-4.1', ...llm_template },
  });

t.test('a jury, a rubric and pairs judge two experiments', async (t) => {
  const right = await evaluator('right', 'LLM-BOOLEAN', { prompt: 'Is it right?' });
  const good = await evaluator('good', 'LLM-RANGE', { prompt: 'How good is it?', min: 1, max: 5 });
  const criteria = [{ id: right.id }, { id: good.id }];
  const rubric = await evaluator('rubric', 'LLM-RUBRIC', { prompt: 'A chat.', criteria });
  const jury = await evaluator('jury', 'LLM-RANGE', {
    prompt: 'How kind is it?',
    min: 1,
    max: 5,
    jury: { models: ['gpt-4.1-mini', 'gpt-4.1-nano'], rule: 'mean' },
  });
  const datasetId = await world.dataset(questions(ITEMS));
  const make = async (model: string) => {
    const { id } = await api<ExperimentJson>('POST', '/v1/experiment', {
      name: model,
      datasetId,
      target: { kind: 'model', model },
      evaluatorIds: [rubric.id, jury.id],
    });
    await world.ended(id);
    return id;
  };
  const baseline = await make('gpt-4o-mini');
  const candidate = await make('gpt-4o');

  const judged = await api<
    { score: number; flags: string[]; members: { judge: { request_ids: string[] } }[] }[]
  >('POST', '/v1/evaluation/query', { evaluatorId: jury.id, runId: baseline });
  t.equal(judged.length, ITEMS);
  t.match(judged[0], {
    score: 4,
    flags: ['jury_incomplete'],
    members: [
      { model: 'gpt-4.1', score: 5 },
      { model: 'gpt-4.1-mini', score: 3 },
      { model: 'gpt-4.1-nano', score: null, error: { code: 'judge_refused' } },
    ],
  });
  const [callId] = judged[0]!.members[1]!.judge.request_ids;
  await waitFor("the record of a member's call", async () => {
    const [record] = await sql`select source, model from assay.requests where request_id = ${callId!}`;
    return record?.source === 'evaluator' && String(record.model).startsWith('gpt-4.1-mini');
  });

  const states = await sql`
    select v.name, e.state, count(*)::int4 as count, count(e.score)::int4 as scores, sum(e.judge_calls)::int4 as calls
      from assay.evaluations e join assay.evaluators v using (evaluator_id)
     where e.run_id = ${candidate} and v.name <> 'jury' group by 1, 2 order by 1`;
  t.same(states, [
    { name: 'good', state: 'error', count: ITEMS, scores: 0, calls: 0 },
    { name: 'right', state: 'completed', count: ITEMS, scores: ITEMS, calls: 0 },
    { name: 'rubric', state: 'completed', count: ITEMS, scores: 0, calls: ITEMS },
  ]);

  const pairs = await evaluator('pairs', 'LLM-PAIRWISE', { prompt: 'Which says more?' });
  const path = `/v1/evaluator/${pairs.id}/pairwise`;
  const estimate = await api<PairwiseDryRunJson>('POST', path, { baseline, candidate, dryRun: true });
  t.match(estimate, { pairs: ITEMS, judgments: 2 * ITEMS });
  t.ok(estimate.estimated_cost_usd! > 0);
  const { id: runId } = await api<Named>('POST', path, { baseline, candidate });
  await waitFor('all judgments', async () => {
    const { run } = await api<{ run: { state: string } }>('GET', `${path}/${runId}`);
    return run.state === 'completed';
  });
  const { result } = await api<{ result: WinRateJson }>('GET', `${path}/${runId}`);
  t.match(result, { pairs: ITEMS, incomplete: 0, wins: ITEMS, ties: 0, losses: 0, rate: 1 });
  t.match(result.position, { inconsistent: 0, first: ITEMS, second: ITEMS });

  const { candidates } = await api<ComparisonJson>('POST', '/v1/experiment/compare', {
    baseline,
    candidates: [candidate],
  });
  t.strictSame(candidates[0]!.win_rates, [result]);
  const metric = (name: string) => candidates[0]!.metrics.find((one) => one.name === name);
  t.match(metric('right'), { pairs: ITEMS, baseline_mean: 0, candidate_mean: 1 });
  t.match(metric('jury'), { pairs: ITEMS, difference: 0 });
  t.match(metric('good'), { pairs: 0 }, 'a score out of range is no score');
});
