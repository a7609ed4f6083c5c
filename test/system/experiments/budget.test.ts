/** Experiments whose largest cost does not suffice: what answers and judges cost together stays below it. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import type { ExperimentEstimateJson } from '#core/contracts/experiment-estimate.ts';
import { waitFor } from '../../support/assay.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { questions, startWorld } from './world.ts';

const ITEMS = 60;
const world = await startWorld(t);
const { api, provider, sql } = world;

/** Each judgment costs 0.0003 US dollars, as much as its call can cost; each answer 0.00003. */
provider.script((request): Behaviour => {
  const { model } = JSON.parse(request.body.toString()) as { model: string };
  if (!model.startsWith('gpt-4.1'))
    return { kind: 'answer', text: 'An answer.', usage: { promptTokens: 100, completionTokens: 20 } };
  const call = { name: 'submit_verdict', arguments: JSON.stringify({ reasoning: 'Yes.', score: true }) };
  const usage = { promptTokens: 700, completionTokens: 20 };
  return { kind: 'answer', text: null, toolCalls: [call], usage, delayMs: 30 };
});

const judge = (name: string, more: object = {}) =>
  api<{ id: string }>('POST', '/v1/evaluator', {
    name,
    scoring_type: 'LLM-BOOLEAN',
    llm_template: { model: 'gpt-4.1-mini', prompt: `Is it ${name}?`, ...more },
  });
const make = (body: object) =>
  api<ExperimentJson>('POST', '/v1/experiment', {
    name: 'bounded',
    target: { kind: 'model', model: 'gpt-4o-mini' },
    ...body,
  });
const spentOf = ({ cost_usd, judge_cost_usd }: ExperimentJson) => cost_usd + judge_cost_usd;

t.test('answers and judges together cost no more than maxCost, and every answer is graded', async (t) => {
  const judges = [await judge('right'), await judge('kind'), await judge('short')];
  const evaluatorIds = judges.map(({ id }) => id);
  const datasetId = await world.dataset(questions(ITEMS));
  const estimate = (await make({
    datasetId,
    evaluatorIds,
    dryRun: true,
  } as object)) as unknown as ExperimentEstimateJson;
  t.ok(estimate.judge_cost_usd! > 0, 'judges have a price before their first judgment');
  t.ok(estimate.at_most_usd! > estimate.judge_cost_usd! + estimate.answers_cost_usd!);
  const maxCost = 0.03;
  t.ok(estimate.at_most_usd! > maxCost);
  const { id } = await make({ datasetId, evaluatorIds, maxCost });
  const ended = await world.ended(id, 'budget');
  t.ok(spentOf(ended) <= maxCost, `${spentOf(ended)} of ${maxCost}`);
  t.ok(spentOf(ended) > 0.8 * maxCost, `${spentOf(ended)} of ${maxCost}`);
  const grades = await sql`
    select state, count(*)::int4 as count from assay.evaluations where run_id = ${id} group by 1`;
  t.same(grades, [{ state: 'completed', count: 3 * ended.completed }]);
});

t.test('an experiment whose first run does not fit ends before it', async (t) => {
  const { id: evaluatorId } = await judge('dear', { model: 'gpt-4.1' });
  const datasetId = await world.dataset(questions(3));
  const { id } = await make({ datasetId, evaluatorIds: [evaluatorId], maxCost: 0.001 });
  const ended = await world.ended(id, 'budget');
  t.match(ended, { pending: 3, completed: 0, cost_usd: 0, judge_cost_usd: 0 });
});

t.test('an experiment does not wait for the judgments of a paused evaluator to end', async (t) => {
  const { id: paused } = await judge('paused');
  const { id: other } = await judge('other');
  await sql`update assay.evaluators set paused_reason = 'auth', paused_message = 'x' where evaluator_id = ${paused}`;
  const datasetId = await world.dataset(questions(ITEMS));
  const maxCost = 0.01;
  const { id } = await make({ datasetId, evaluatorIds: [paused, other], maxCost });
  const experiment = () => api<ExperimentJson>('GET', `/v1/experiment/${id}`);
  await waitFor('its end', async () => (await experiment()).state === 'budget', 60_000);
  const ended = await experiment();
  t.ok(spentOf(ended) <= maxCost, `${spentOf(ended)} of ${maxCost}`);
  await api('POST', `/v1/evaluator/${paused}/resume`);
  await waitFor('the paused judgments', async () => {
    const [open] = await sql<[{ count: number }]>`
      select count(*)::int4 as count from assay.evaluations
       where run_id = ${id} and state not in ('completed', 'skipped')`;
    return open.count === 0;
  });
  const states = await sql<{ evaluator: string; state: string; count: number }[]>`
    select evaluator_id::text as evaluator, state, count(*)::int4 as count from assay.evaluations
     where run_id = ${id} group by 1, 2`;
  t.same(
    states.filter(({ evaluator }) => evaluator === other),
    [{ evaluator: other, state: 'completed', count: ended.completed }],
  );
});

t.test(
  'over kills of the evaluators an experiment ends at its budget, and no grade is missing',
  async (t) => {
    const judges = [await judge('true'), await judge('clear')];
    const datasetId = await world.dataset(questions(200));
    const maxCost = 0.04;
    const { id } = await make({ datasetId, evaluatorIds: judges.map((one) => one.id), maxCost });
    for (let kill = 0; kill < 3; kill += 1) {
      await sleep(700);
      const before = world.assay.pidOf('evaluators');
      world.assay.kill('evaluators');
      await waitFor('other evaluators', () => world.assay.pidOf('evaluators') !== before, 30_000);
      await sql`update assay.evaluations set due_at = now() where state = 'running'`;
      await sql`update assay.experiment_runs set due_at = now() where state = 'running'`;
      await sql`select pg_notify('assay_evaluations', '')`;
    }
    const ended = await world.ended(id, 'budget', 90_000);
    t.ok(spentOf(ended) <= maxCost, `${spentOf(ended)} of ${maxCost}`);
    t.ok(spentOf(ended) > 0.7 * maxCost, `${spentOf(ended)} of ${maxCost}`);
    const grades = await sql`
    select state, count(*)::int4 as count from assay.evaluations where run_id = ${id} group by 1`;
    t.match(grades, [{ state: 'completed' }]);
  },
);
