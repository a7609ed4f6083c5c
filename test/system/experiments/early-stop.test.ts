/** Experiments that end once their difference from the baseline is certain, over everything that `npm start` runs. */
import t from 'tap';
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { questions, startWorld } from './world.ts';

const ITEMS = 400;

const world = await startWorld(t);
const { api, provider } = world;

const { id: evaluatorId } = await api<{ id: string }>('POST', '/v1/evaluator', {
  name: 'polite',
  scoring_type: 'PYTHON',
  code_template: { code: 'def evaluate(input, output):\n    return "please" in output' },
});
const datasetId = await world.dataset(questions(ITEMS));

/** The small models are polite in each answer, the others in two of three. */
provider.script((request): Behaviour => {
  const { model, messages } = JSON.parse(request.body.toString());
  const index = Number(/\d+/.exec(messages[0].content)![0]);
  const isPolite = model === 'gpt-4o-mini' || model === 'gpt-4.1-mini' || index % 3 !== 0;
  return { kind: 'answer', text: isPolite ? 'Wait, please.' : 'Wait.' };
});

const make = (body: object) =>
  api<ExperimentJson>('POST', '/v1/experiment', {
    name: 'Early',
    datasetId,
    evaluatorIds: [evaluatorId],
    concurrency: 4,
    ...body,
  });

const model = (name: string) => ({ target: { kind: 'model', model: name } });
const baseline = await make({ ...model('gpt-4o'), concurrency: 32 });
await world.ended(baseline.id);

t.test(
  'a difference that is certain ends the experiment, and the comparison has the interval of all looks',
  async (t) => {
    const { id } = await make({ ...model('gpt-4o-mini'), baseline: baseline.id, earlyStop: {} });
    const ended = await world.ended(id);
    t.match(ended, {
      stopped: 'better',
      early_stop: { evaluator_id: evaluatorId, margin: null },
      pending: 0,
    });
    t.ok(ended.completed >= 25 && ended.completed < ITEMS, `${ended.completed} answers`);
    t.equal(ended.completed + ended.skipped, ITEMS);
    const skipped = (await world.runs(id)).filter(({ state }) => state === 'skipped');
    t.ok(skipped.every(({ error_code }) => error_code === 'early_stop'));
    const comparison = await api<ComparisonJson>('POST', '/v1/experiment/compare', {
      baseline: baseline.id,
      candidates: [id],
      metrics: ['polite'],
    });
    const [metric] = comparison.candidates[0]!.metrics;
    t.match(metric, {
      verdict: 'better',
      interval: { method: 'asymptotic' },
      p_value: null,
      pairs: ended.completed,
    });
    t.ok(metric!.interval!.low > 0);
  },
);

t.test('an experiment that ended early, or may, is not reused for one that asks all items', async (t) => {
  const asked = { ...model('gpt-4.1-mini'), concurrency: 32 };
  const early = await make({ ...asked, baseline: baseline.id, earlyStop: {} });
  const beside = await make({ ...asked, reuse: true });
  t.not(beside.id, early.id, 'it may still end early');
  await api('POST', `/v1/experiment/${beside.id}/cancel`);
  t.match(await world.ended(early.id), { stopped: 'better' });
  const whole = await make({ ...asked, reuse: true });
  t.not(whole.id, early.id, 'it has ended early');
  t.match(await world.ended(whole.id), { completed: ITEMS, skipped: 0 });
  t.equal((await make({ ...asked, reuse: true })).id, whole.id);
});

t.test('where there is no difference all items are asked', async (t) => {
  const { id } = await make({
    ...model('gpt-4-turbo'),
    baseline: baseline.id,
    earlyStop: {},
    concurrency: 32,
  });
  t.match(await world.ended(id), { stopped: null, completed: ITEMS, skipped: 0 });
});

t.test('answers to items that were changed since the baseline end nothing', async (t) => {
  const few = await world.dataset(questions(120));
  const before = await make({ ...model('gpt-4o'), datasetId: few, concurrency: 32 });
  await world.ended(before.id);
  const { items } = await api<{ items: { id: string; request: object }[] }>(
    'POST',
    `/v1/dataset/${few}/items/query`,
    { limit: 200 },
  );
  await api('POST', `/v1/dataset/${few}/items`, {
    items: items.map(({ id, request }) => ({ id, request: { ...request, max_tokens: 21 } })),
  });
  const { id } = await make({
    ...model('gpt-4o-mini'),
    datasetId: few,
    baseline: before.id,
    earlyStop: {},
    concurrency: 4,
  });
  t.match(await world.ended(id), { dataset_version: 2, stopped: null, completed: 120, skipped: 0 });
});

t.test('what cannot end early is refused with the reason', async (t) => {
  const refused = (body: object, error: RegExp) => t.rejects(make(body), { message: error });
  await refused({ ...model('gpt-4o'), earlyStop: {} }, /400 earlyStop needs a baseline/);
  await refused(
    { target: { kind: 'recorded' }, baseline: baseline.id, earlyStop: {} },
    /400 earlyStop needs a target whose calls are made here/,
  );
  await refused(
    { ...model('gpt-4o'), baseline: baseline.id, earlyStop: { evaluatorId: crypto.randomUUID() } },
    /400 earlyStop\.evaluatorId must be one of evaluatorIds/,
  );
});

t.test(
  'scores of any size are looked at, and do not keep the experiments of the organization from going on',
  async (t) => {
    const huge = await api<{ id: string }>('POST', '/v1/evaluator', {
      name: 'huge',
      scoring_type: 'PYTHON',
      code_template: {
        code: 'def evaluate(input, output):\n    return 1.7e308 if "please" in output else -1.7e308',
      },
    });
    const graded = { evaluatorIds: [huge.id], concurrency: 4 };
    const before = await make({ ...model('gpt-4o'), ...graded, concurrency: 32 });
    await world.ended(before.id);
    const { id } = await make({ ...model('gpt-4o-mini'), ...graded, baseline: before.id, earlyStop: {} });
    t.match(await world.ended(id), { stopped: 'better', pending: 0 });
    const comparison = await api<ComparisonJson>('POST', '/v1/experiment/compare', {
      baseline: before.id,
      candidates: [id],
      metrics: ['huge'],
    });
    const [metric] = comparison.candidates[0]!.metrics;
    t.match(metric, { verdict: 'better', interval: { low: Number, high: Number }, difference: Number });
  },
);
