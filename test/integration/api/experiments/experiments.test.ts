/** Experiments over the API: what is refused, and what another organization sees. Their calls are tested over the whole system. */
import t from 'tap';
import { PYTHON, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { insertEvaluations } from '../evaluators/seed-evaluations.ts';

const api = await startEvaluatorApi(t);

/** Calls as one of the two organizations. */
const as = (key: string) => ({
  send: (method: string, path: string, body?: object) =>
    api.call(path, { method, key, ...(body !== undefined && { body }) }),
  async call(method: string, path: string, body?: object): Promise<Json> {
    const { status, body: answer } = await this.send(method, path, body);
    if (answer.error !== null) throw new Error(`${method} ${path}: ${status} ${answer.error}`);
    return answer.data as Json;
  },
});
// biome-ignore lint/suspicious/noExplicitAny: answers are compared with patterns
type Json = any;
const mine = as(api.own.key);
const other = as(api.other.key);

async function dataset(items = 3): Promise<string> {
  const { id } = await mine.call('POST', '/v1/dataset', { name: crypto.randomUUID() });
  if (items > 0)
    await mine.call('POST', `/v1/dataset/${id}/items`, {
      items: Array.from({ length: items }, (_, index) => ({
        externalId: `item ${index}`,
        request: { model: 'gpt-4o', messages: [{ role: 'user', content: `Question ${index}` }] },
        split: index === 0 ? 'test' : 'train',
      })),
    });
  return id;
}

/** Logs requests that took 1,250 ms, 1,000 tokens and 100 of answer; returns their ids. */
async function log(...questions: string[]): Promise<string[]> {
  const rows = await insertRequests(
    api.database.sql,
    api.own.organizationId,
    questions.map((content) => ({
      latency_ms: 1_250,
      prompt_tokens: 1_000,
      completion_tokens: 100,
      request_text: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
      response_text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Yes.' } }] }),
    })),
  );
  return rows.map(({ request_id }) => request_id);
}

const replay = { name: 'Replay', target: { kind: 'replay' } };

t.test('an experiment has a run for each item of the split and each repetition', async (t) => {
  const datasetId = await dataset(5);
  const made = await mine.call('POST', '/v1/experiment', {
    ...replay,
    datasetId,
    split: 'train',
    repetitions: 3,
    git: { sha: 'abc' },
  });
  t.match(made, {
    state: 'running',
    runs: 12,
    pending: 12,
    dataset_version: 1,
    split: 'train',
    git: { sha: 'abc' },
    cost_usd: 0,
    max_cost_usd: null,
  });
  const { runs, next } = await mine.call('POST', `/v1/experiment/${made.id}/runs`, { limit: 5 });
  t.equal(runs.length, 5);
  const rest = await mine.call('POST', `/v1/experiment/${made.id}/runs`, { limit: 100, after: next });
  t.same(
    [...runs, ...rest.runs].map(({ position }: { position: number }) => position),
    Array.from({ length: 12 }, (_, index) => index + 1),
  );
  t.match(await mine.call('POST', '/v1/experiment/query', { datasetId }), {
    experiments: [{ id: made.id }],
    next: null,
  });
  const named = async (search: string) =>
    (await mine.call('POST', '/v1/experiment/query', { search, datasetId })).experiments.length;
  t.equal(await named(made.name.slice(1).toUpperCase()), 1, 'a part of the name, in any case');
  t.same([await named('%'), await named('a\0b')], [0, 0]);
});

t.test(
  'recorded answers are an experiment that is completed at once; items without one are skipped',
  async (t) => {
    const made = await mine.call('POST', '/v1/experiment', {
      name: 'Recorded',
      datasetId: await dataset(2),
      target: { kind: 'recorded' },
    });
    t.match(made, { state: 'completed', runs: 2, completed: 0, skipped: 2, cost_usd: 0 });
  },
);

t.test('answers that an experiment did not grade for want of money are graded by the next one', async (t) => {
  const { id: evaluatorId } = await mine.call('POST', '/v1/evaluator', {
    ...PYTHON,
    name: crypto.randomUUID(),
  });
  const datasetId = await dataset(0);
  const requestIds = await log('One?', 'Two?', 'Three?');
  await mine.call('POST', `/v1/dataset/${datasetId}/items/from-requests`, { requestIds });
  const recorded = { name: 'Recorded', datasetId, target: { kind: 'recorded' }, evaluatorIds: [evaluatorId] };
  const { id } = await mine.call('POST', '/v1/experiment', recorded);
  await api.database.sql`
    update assay.evaluations set state = 'skipped', error_code = 'run_budget_spent', finished_at = now()
     where run_id = ${id} and request_id <> ${requestIds[0]!}`;
  t.match(await mine.call('POST', '/v1/experiment', recorded), { ungraded: 2 });
  t.match(await mine.call('GET', `/v1/experiment/${id}`), { ungraded: 1 });
});

t.test('a recorded answer of two items that were made from one request is graded once', async (t) => {
  const { id: evaluatorId } = await mine.call('POST', '/v1/evaluator', {
    ...PYTHON,
    name: crypto.randomUUID(),
  });
  const [sourceRequestId] = await log('Twice?');
  const datasetId = await dataset(0);
  const items = ['one', 'two'].map((externalId) => ({
    externalId,
    sourceRequestId,
    request: { messages: [{ role: 'user', content: externalId }] },
  }));
  await mine.call('POST', `/v1/dataset/${datasetId}/items`, { items });
  const recorded = { name: 'Recorded', datasetId, target: { kind: 'recorded' }, evaluatorIds: [evaluatorId] };
  t.match(await mine.call('POST', '/v1/experiment', recorded), { runs: 2, completed: 2, ungraded: 1 });
});

t.test('of two records with one id, one is the recorded answer', async (t) => {
  const [request_id] = await log('Which?');
  await insertRequests(api.database.sql, api.own.organizationId, [
    { request_id: request_id!, created_at: new Date(Date.now() - 86_400_000) },
  ]);
  const datasetId = await dataset(0);
  await mine.call('POST', `/v1/dataset/${datasetId}/items/from-requests`, { requestIds: [request_id] });
  const recorded = { name: 'Twice', datasetId, target: { kind: 'recorded' } };
  t.match(await mine.call('POST', '/v1/experiment', recorded), { state: 'completed', completed: 1 });
});

t.test('an experiment is paused, resumed and cancelled; what it cannot be says its state', async (t) => {
  const { id } = await mine.call('POST', '/v1/experiment', { ...replay, datasetId: await dataset() });
  t.match(await mine.call('POST', `/v1/experiment/${id}/pause`), { state: 'paused' });
  t.match(
    await mine.call('POST', `/v1/experiment/${id}/pause`),
    { state: 'paused' },
    'again changes nothing',
  );
  t.match(await mine.call('POST', `/v1/experiment/${id}/resume`), { state: 'running' });
  t.match(await mine.call('POST', `/v1/experiment/${id}/cancel`), { state: 'cancelled', pending: 3 });
  const refused = await mine.send('POST', `/v1/experiment/${id}/resume`);
  t.equal(refused.status, 409);
  t.match(refused.body, { error: 'The experiment is cancelled: only one that is paused can be resumed' });
});

t.test('what cannot be an experiment is refused with the reason', async (t) => {
  const datasetId = await dataset();
  const refused = async (body: object, status: number, error: RegExp) => {
    const answer = await mine.send('POST', '/v1/experiment', body);
    t.match([answer.status, answer.body], [status, { data: null, error }]);
  };
  const unknown = '00000000-0000-4000-8000-0000000000ff';
  await refused({ ...replay, datasetId: unknown }, 404, /no dataset/);
  await refused({ ...replay, datasetId, evaluatorIds: [unknown] }, 404, /no evaluator/);
  await refused(
    { ...replay, datasetId, datasetVersion: 2 },
    400,
    /datasetVersion must be from 1 to 1, but is 2/,
  );
  await refused({ ...replay, datasetId, split: 'none' }, 400, /no items in this version and split/);
  await refused({ ...replay, datasetId: await dataset(0) }, 400, /no items yet/);
  await refused({ ...replay, datasetId, repetitions: 21 }, 400, /repetitions/);
  await refused(
    { ...replay, datasetId, maxCost: 0.0000000001 },
    400,
    /maxCost must have at most nine decimals/,
  );
  await refused({ ...replay, datasetId, target: { kind: 'other' } }, 400, /target/);
  const both = { kind: 'prompt', promptId: unknown, versionId: unknown, environment: 'production' };
  await refused({ ...replay, datasetId, target: both }, 400, /exclude each other/);
});

t.test('one call makes a dataset of logged requests, an experiment over it and its baseline', async (t) => {
  const requestIds = await log('Where is my parcel?', 'May I return it?');
  const { id, dataset_id, baseline_id, ...made } = await mine.call('POST', '/v1/experiment', {
    ...replay,
    from: { requestIds, expected: 'answer' },
    baseline: 'recorded',
  });
  t.match(made, { state: 'running', runs: 2, pending: 2 });
  t.match(await mine.call('GET', `/v1/experiment/${baseline_id}`), {
    name: 'Replay: as logged',
    state: 'completed',
    completed: 2,
    dataset_id,
    baseline_id: null,
  });
  t.match(await mine.call('GET', `/v1/dataset/${dataset_id}`), { name: /^Replay, 20/, items: 2 });
  const again = { ...replay, datasetId: dataset_id, baseline: 'recorded' };
  t.equal((await mine.call('POST', '/v1/experiment', again)).baseline_id, baseline_id, 'is made once');
  await mine.call('POST', `/v1/experiment/${id}/cancel`);
});

t.test('a dry run prices an experiment by what the requests took, and keeps nothing', async (t) => {
  const requestIds = await log('Is it open on Sunday?', 'Is it open on Monday?');
  const evaluator = await api.make<{ id: string; name: string }>('/v1/evaluator', {
    name: 'short',
    ...PYTHON,
  });
  const before = await mine.call('POST', '/v1/dataset/query', {});
  const estimate = await mine.call('POST', '/v1/experiment', {
    name: 'Smaller',
    from: { requestIds: [...requestIds, 'unknown'] },
    target: { kind: 'model', model: 'gpt-4o-mini' },
    evaluatorIds: [evaluator.id],
    repetitions: 3,
    concurrency: 1,
    baseline: 'recorded',
    dryRun: true,
  });
  // Each: 1,000 tokens in and 100 out, at 0.15 and 0.60 US dollars a million.
  const each = (1_000 * 0.15 + 100 * 0.6) / 1e6;
  t.match(estimate, {
    items: 2,
    runs: 6,
    skipped: [{ reason: 'not_found', count: 1 }],
    judge_cost_usd: 0,
    duration_ms: 6 * 1_250,
    groups: 2,
    detectable: [{ evaluator_id: evaluator.id, name: 'short', scores: 0 }],
  });
  t.equal(estimate.answers_cost_usd.toFixed(9), (6 * each).toFixed(9));
  t.ok(estimate.at_most_usd > estimate.answers_cost_usd);
  t.same(await mine.call('POST', '/v1/dataset/query', {}), before, 'no dataset is made');
  const made = await mine.call('POST', '/v1/experiment/query', {});
  t.notOk(made.experiments.some(({ name }: { name: string }) => name === 'Smaller'));
});

t.test('an experiment that could never end early is refused, with the reason', async (t) => {
  const judge = { scoring_type: 'LLM-BOOLEAN', llm_template: { model: 'gpt-4o', prompt: 'Good?' } };
  const good = await api.make<{ id: string }>('/v1/evaluator', { name: 'good', ...judge });
  const kind = await api.make<{ id: string }>('/v1/evaluator', { name: 'kind', ...judge });
  const rubric = await api.make<{ id: string }>('/v1/evaluator', {
    name: 'good and kind',
    scoring_type: 'LLM-RUBRIC',
    llm_template: { ...judge.llm_template, criteria: [{ id: good.id }, { id: kind.id }] },
  });
  const datasetId = await dataset();
  const make = async (evaluatorId: string, more: object): Promise<Json> => {
    const target = { kind: 'model', model: 'gpt-4o-mini' };
    const body = { name: 'Early', datasetId, target, evaluatorIds: [evaluatorId], ...more };
    return (await mine.send('POST', '/v1/experiment', body)).body;
  };
  const external = { target: { kind: 'external' } };
  const before = (await make(good.id, external)).data.id;
  t.match(await make(rubric.id, { baseline: (await make(rubric.id, external)).data.id, earlyStop: {} }), {
    error:
      'earlyStop needs an evaluator with a score, but "good and kind" is a rubric: its criteria have scores',
  });
  t.match(await make(kind.id, { baseline: before, earlyStop: {} }), {
    error: 'earlyStop needs a baseline that is graded by the version 1 of "kind"',
  });
  const early = await make(good.id, { baseline: before, earlyStop: {} });
  t.match(early, { data: { early_stop: { evaluator_id: good.id } } });
  await mine.call('POST', `/v1/experiment/${early.data.id}/cancel`);
  const changed = { ...judge.llm_template, prompt: 'Is it good?' };
  await api.make(`/v1/evaluator/${good.id}`, { ...judge, name: 'good', llm_template: changed }, 'PUT');
  t.match(await make(good.id, { baseline: before, earlyStop: {} }), {
    error: 'earlyStop needs a baseline that is graded by the version 2 of "good"',
  });
});

t.test(
  'the difference that can be found goes by the scores of the version that grades, or by its scale',
  async (t) => {
    const sql = api.database.sql;
    const datasetId = await dataset(100);
    const detectable = async (...evaluatorIds: string[]): Promise<Json> => {
      const target = { kind: 'external' };
      const body = { name: 'Dry', datasetId, target, evaluatorIds, dryRun: true };
      return (await mine.call('POST', '/v1/experiment', body)).detectable;
    };
    const scale = {
      scoring_type: 'LLM-RANGE',
      llm_template: { model: 'gpt-4o', prompt: 'Good?', min: 0, max: 10 },
    };
    const range = await api.make<{ id: string }>('/v1/evaluator', { name: 'to ten', ...scale });
    const unit = await api.make<{ id: string }>('/v1/evaluator', { name: 'to one', ...PYTHON });
    const [ten, one] = await detectable(range.id, unit.id);
    t.match([ten, one], [{ scores: 0 }, { scores: 0 }]);
    t.ok(Math.abs(ten.difference / one.difference - 10) < 1e-9, `${ten.difference} and ${one.difference}`);

    const score = async (values: number[], version: number) => {
      const rows = await insertRequests(
        sql,
        api.own.organizationId,
        values.map(() => ({})),
      );
      await insertEvaluations(
        api,
        rows.map((row, index) => ({
          evaluator_id: unit.id,
          version,
          state: 'completed' as const,
          score: values[index]!,
          request_id: row.request_id,
          created_at: row.created_at,
        })),
      );
    };
    await score(
      Array.from({ length: 40 }, (_, index) => (index % 2) * 100),
      2,
    );
    t.equal(
      (await detectable(unit.id))[0].difference,
      one.difference,
      'those of another version do not count',
    );
    await score(new Array(30).fill(0.1), 1);
    const alike = { scores: 0, difference: one.difference };
    t.match(await detectable(unit.id), [alike], 'scores that are all the same tell of no spread');
    await score(
      Array.from({ length: 40 }, (_, index) => (index % 2) * 1.7e308 - 0.85e308),
      1,
    );
    t.match(await detectable(unit.id), [{ scores: 70, difference: Number }]);

    const second = await api.make<{ id: string }>('/v1/evaluator', { name: 'also to ten', ...scale });
    const rubric = await api.make<{ id: string }>('/v1/evaluator', {
      name: 'both',
      scoring_type: 'LLM-RUBRIC',
      llm_template: { model: 'gpt-4o', prompt: 'Judge.', criteria: [{ id: range.id }, { id: second.id }] },
    });
    t.match(await detectable(rubric.id), [
      { evaluator_id: range.id, difference: ten.difference },
      { evaluator_id: second.id, difference: ten.difference },
    ]);
  },
);

t.test('an answer counts no more than its call allows, whether one was logged or not', async (t) => {
  const requestIds = await log('Is it open today?');
  const price = async (more: object): Promise<Json> =>
    mine.call('POST', '/v1/experiment', { name: 'Short', dryRun: true, ...more });
  const target = { kind: 'model', model: 'gpt-4o-mini', parameters: { max_tokens: 20 } };
  const logged = await price({ from: { requestIds }, target });
  t.equal(logged.answers_cost_usd.toFixed(9), ((1_000 * 0.15 + 20 * 0.6) / 1e6).toFixed(9));
  const written = await price({ datasetId: await dataset(1), target });
  t.ok(written.answers_cost_usd <= written.at_most_usd, JSON.stringify(written));
});

t.test(
  'an experiment that asks the same is reused when that is wished, and one that asks otherwise is not',
  async (t) => {
    const body = { ...replay, datasetId: await dataset(), reuse: true };
    const { id } = await mine.call('POST', '/v1/experiment', body);
    t.equal((await mine.call('POST', '/v1/experiment', { ...body, name: 'Another' })).id, id);
    const others = [
      { repetitions: 2 },
      { split: 'train' },
      { cache: true },
      { target: { kind: 'recorded' } },
      { reuse: false },
    ];
    for (const other of others)
      t.not((await mine.call('POST', '/v1/experiment', { ...body, ...other })).id, id);
    await mine.call('POST', `/v1/experiment/${id}/cancel`);
    t.not((await mine.call('POST', '/v1/experiment', body)).id, id, 'nor one that was cancelled');
  },
);

t.test('an experiment is not reused once an answer of it is gone from the log', async (t) => {
  const ids = await log('First', 'Second');
  const { id: datasetId } = await mine.call('POST', '/v1/dataset', { name: crypto.randomUUID() });
  await mine.call('POST', `/v1/dataset/${datasetId}/items/from-requests`, { requestIds: ids });
  const body = { name: 'As logged', datasetId, target: { kind: 'recorded' }, reuse: true };
  const { id } = await mine.call('POST', '/v1/experiment', body);
  t.equal((await mine.call('POST', '/v1/experiment', body)).id, id);
  // Retention drops records and nothing else.
  await api.database.sql`delete from assay.requests where request_id = ${ids[0]!}`;
  const again = await mine.call('POST', '/v1/experiment', body);
  t.match(again, { completed: 1, skipped: 1 });
  t.not(again.id, id);
  t.equal((await mine.call('POST', '/v1/experiment', body)).id, again.id, 'the new one is whole');
  // Answers that are not stored yet are on their way.
  const own = api.own.organizationId;
  const called = { ...body, target: { kind: 'replay' } };
  const { id: replayed } = await mine.call('POST', '/v1/experiment', called);
  const answer = async (requestId: string, isRecorded: boolean) => {
    await api.database.sql`
      update assay.experiment_runs set state = 'completed', request_id = ${requestId}
       where experiment_id = ${replayed} and state = 'pending'
         and position = (select min(position) from assay.experiment_runs
                          where experiment_id = ${replayed} and state = 'pending')`;
    await api.database.sql`
      insert into assay.experiment_calls (organization_id, request_id, experiment_id, cost_nano, is_recorded, begun_at)
      values (${own}, ${requestId}, ${replayed}, 0, ${isRecorded}, now())`;
  };
  await answer('01M8JBHQDQYNKYW9S62JJD8EYM', false);
  t.equal((await mine.call('POST', '/v1/experiment', called)).id, replayed);
  await answer('01M8JBHQDQYNKYW9S62JJD8EYN', true);
  t.not((await mine.call('POST', '/v1/experiment', called)).id, replayed);
});

t.test(
  'the target of a prompt is the version that its environment names when the experiment is made',
  async (t) => {
    const prompt = (content: string) => ({ model: 'gpt-4o', messages: [{ role: 'user', content }] });
    const { id: promptId, versionId } = await mine.call('POST', '/v1/prompt-2025', {
      name: crypto.randomUUID(),
      tags: [],
      promptBody: prompt('First'),
    });
    const body = { name: 'Prompt', datasetId: await dataset(), target: { kind: 'prompt', promptId } };
    const before = await mine.call('POST', '/v1/experiment', body);
    t.match(before.target, {
      kind: 'prompt',
      promptId,
      environment: 'production',
      versionId,
      model: 'gpt-4o',
    });
    const refused = await mine.send('POST', '/v1/experiment', {
      ...body,
      target: { ...body.target, environment: 'staging' },
    });
    t.match(refused, {
      status: 404,
      body: { error: 'The prompt has no version in the environment staging' },
    });
    const unknown = crypto.randomUUID();
    t.equal(
      (await mine.send('POST', '/v1/experiment', { ...body, target: { kind: 'prompt', promptId: unknown } }))
        .status,
      404,
    );
  },
);

t.test('an archived dataset takes no experiment, and says so', async (t) => {
  const datasetId = await dataset();
  await mine.call('DELETE', `/v1/dataset/${datasetId}`);
  t.match(await mine.send('POST', '/v1/experiment', { ...replay, datasetId }), {
    status: 409,
    body: {
      error: `The dataset ${datasetId} is archived: it can be read, but no experiment can be made over it`,
    },
  });
  t.match(await other.send('POST', '/v1/experiment', { ...replay, datasetId }), { status: 404 });
});

t.test('what an experiment is over is named in one way', async (t) => {
  const datasetId = await dataset();
  const refused = async (body: object, error: string) =>
    t.match(await mine.send('POST', '/v1/experiment', { ...replay, ...body }), {
      status: 400,
      body: { error },
    });
  await refused({}, 'datasetId is required, or from in its place');
  await refused(
    { datasetId, from: { filter: 'all' } },
    'datasetId and from exclude each other: send one of them',
  );
  await refused({ from: { filter: 'all' }, split: 'test' }, 'split needs datasetId, not from');
  await refused(
    { from: { q: 'user:nobody' } },
    'from must find a request that can be an item, but finds none',
  );
  await refused(
    { from: { requestIds: ['unknown'] }, dryRun: true },
    'from must find a request that can be an item, but finds none (1 left out as not_found)',
  );
  await refused(
    { datasetId, target: { kind: 'external' }, reuse: true },
    'reuse cannot stand with the target external',
  );
  const { id } = await mine.call('POST', '/v1/experiment', { ...replay, datasetId: await dataset() });
  await refused({ datasetId, baseline: id }, 'baseline must be an experiment over the same dataset');
});

t.test('another organization finds nothing of it and changes nothing', async (t) => {
  const datasetId = await dataset();
  const { id } = await mine.call('POST', '/v1/experiment', { ...replay, datasetId });
  const calls: [method: string, path: string, body?: object][] = [
    ['GET', `/v1/experiment/${id}`],
    ['POST', `/v1/experiment/${id}/runs`, {}],
    ['POST', `/v1/experiment/${id}/pause`],
    ['POST', `/v1/experiment/${id}/cancel`],
    ['POST', '/v1/experiment', { ...replay, datasetId }],
  ];
  for (const [method, path, body] of calls) {
    t.equal((await other.send(method, path, body)).status, 404, `${method} ${path}`);
  }
  t.same(await other.call('POST', '/v1/experiment/query', {}), { experiments: [], next: null });
  t.match(await mine.call('GET', `/v1/experiment/${id}`), { state: 'running' });
});
