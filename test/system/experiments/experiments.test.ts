/** Experiments from their making to their last grade, over everything that `npm start` runs. */
import t from 'tap';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { questions, startWorld } from './world.ts';

const world = await startWorld(t);
const { api, provider, sql } = world;

const make = (body: object) =>
  api<ExperimentJson>('POST', '/v1/experiment', { name: 'An experiment', ...body });
const bodiesAsked = () =>
  provider.requests.map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);

t.beforeEach(() => {
  provider.script(null);
  provider.requests.length = 0;
});

t.test(
  'an experiment asks a model each item, once a repetition, and its evaluator grades each answer once',
  async (t) => {
    const evaluator = await api<{ id: string }>('POST', '/v1/evaluator', {
      name: 'short',
      scoring_type: 'PYTHON',
      code_template: { code: 'def evaluate(input, output):\n    return len(output) < 1000' },
    });
    const datasetId = await world.dataset(questions(12));
    const made = await make({
      datasetId,
      target: { kind: 'model', model: 'gpt-4o-mini', parameters: { temperature: 0 } },
      evaluatorIds: [evaluator.id],
      repetitions: 2,
    });
    t.match(made, { state: 'running', runs: 24, evaluators: [{ id: evaluator.id, version: 1 }] });
    const ended = await world.ended(made.id);
    t.match(ended, { completed: 24, failed: 0, skipped: 0, pending: 0 });
    const asked = bodiesAsked();
    t.equal(asked.length, 24);
    t.ok(
      asked.every(({ model, temperature }) => model === 'gpt-4o-mini' && temperature === 0),
      'each with the model and the parameters of the target',
    );
    const runs = await world.runs(made.id);
    t.equal(new Set(runs.map(({ request_id }) => request_id)).size, 24, 'each has an answer of its own');
    const graded = await sql`
      select count(*)::int4 as evaluations, count(distinct e.request_id)::int4 as answers
        from assay.evaluations e join assay.requests r using (organization_id, request_id)
       where e.evaluator_id = ${evaluator.id} and e.state = 'completed' and r.experiment_id = ${made.id}`;
    t.same(graded[0], { evaluations: 24, answers: 24 });
    const [cost] = await sql`
      select sum(cost_nano)::float8 / 1e9 as usd from assay.requests where experiment_id = ${made.id}`;
    t.equal(ended.cost_usd, cost!.usd, 'it costs what its records cost');
  },
);

t.test('two experiments with the same seed ask the items in the same order', async (t) => {
  const datasetId = await world.dataset(questions(20));
  const orders = [];
  for (const seed of [7, 7, 8]) {
    const { id } = await make({ datasetId, target: { kind: 'replay' }, seed, concurrency: 1 });
    await world.ended(id);
    orders.push((await world.runs(id)).map(({ item_id }) => item_id));
  }
  t.same(orders[0], orders[1]);
  t.notSame(orders[0], orders[2]);
  const contents = bodiesAsked().map(({ messages }) => JSON.stringify(messages));
  t.same(contents.slice(0, 20), contents.slice(20, 40), 'the calls as well');
});

t.test(
  'an answer that fails for a passing reason is asked again, and one that is refused is an error',
  async (t) => {
    const datasetId = await world.dataset(questions(3));
    const seen = new Map<string, number>();
    provider.script((request): Behaviour => {
      const text = request.body.toString();
      const count = (seen.get(text) ?? 0) + 1;
      seen.set(text, count);
      if (text.includes('Question 0') && count === 1)
        return {
          kind: 'error',
          status: 429,
          headers: { 'retry-after': '1' },
          message: 'Slow down',
        };
      if (text.includes('Question 1')) return { kind: 'error', status: 400, message: 'No' };
      return { kind: 'answer', text: 'Yes' };
    });
    const { id } = await make({ datasetId, target: { kind: 'replay' } });
    t.match(await world.ended(id), { completed: 2, failed: 1 });
    const failed = (await world.runs(id)).filter(({ state }) => state === 'error');
    t.match(failed, [{ error_message: /400.*No/, request_id: null }]);
  },
);

t.test(
  'a refused key pauses the experiment with the reason, and it goes on when it is resumed',
  async (t) => {
    const datasetId = await world.dataset(questions(30));
    provider.script((): Behaviour => ({ kind: 'error', status: 401, message: 'Wrong key' }));
    const { id } = await make({ datasetId, target: { kind: 'replay' }, concurrency: 2 });
    const paused = await world.ended(id, 'paused');
    t.match(paused, { completed: 0, failed: 0, paused_reason: /Wrong key/ });
    t.ok(provider.requests.length <= 4, `${provider.requests.length} calls were made`);
    provider.script(null);
    t.match(await api('POST', `/v1/experiment/${id}/resume`), { state: 'running', paused_reason: null });
    t.match(await world.ended(id), { completed: 30 });
    t.ok(
      (await world.runs(id)).every(({ attempts }) => attempts === 1),
      'what paused it counts as an attempt of no run',
    );
  },
);

t.test('a budget holds: what an experiment has cost in the end is less', async (t) => {
  const datasetId = await world.dataset(questions(60));
  const whole = await make({ datasetId, target: { kind: 'replay' } });
  const { cost_usd } = await world.ended(whole.id);
  t.ok(cost_usd > 0);
  const maxCost = Math.round((cost_usd / 2) * 1e9) / 1e9;
  const { id } = await make({ datasetId, target: { kind: 'replay' }, maxCost, concurrency: 16 });
  const ended = await world.ended(id, 'budget');
  t.ok(ended.cost_usd <= maxCost, `${ended.cost_usd} of ${maxCost}`);
  t.ok(ended.completed > 10 && ended.completed < 60, `${ended.completed} answers`);
  t.equal(ended.completed + ended.pending, 60);
});

t.test('a cancelled experiment makes no more calls and keeps its answers', async (t) => {
  const datasetId = await world.dataset(questions(200));
  const { id } = await make({ datasetId, target: { kind: 'replay' }, concurrency: 1 });
  await api('POST', `/v1/experiment/${id}/cancel`);
  const cancelled = await world.ended(id, 'cancelled');
  const made = provider.requests.length;
  t.ok(made < 200);
  t.equal(cancelled.completed, made);
  await t.rejects(api('POST', `/v1/experiment/${id}/resume`), /409/);
});
