import t from 'tap';
import {
  BOOLEAN,
  type EvaluatorApi,
  PYTHON,
  RANGE,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { insertEvaluations } from './seed-evaluations.ts';

type Online = { id: string; config: Record<string, unknown> };
type Run = Record<string, unknown> & { id: string };

let api: EvaluatorApi;
let id: string;
t.before(async () => {
  api = await startEvaluatorApi(t);
  id = (await api.make('/v1/evaluator', { name: 'Judge', ...RANGE })).id;
});

const online = () => `/v1/evaluator/${id}/onlineEvaluators`;

t.test('an online evaluator is created, listed and removed, with its filter stored unchanged', async (t) => {
  const filter = {
    left: { request: { model: { equals: 'gpt-4o' } } },
    operator: 'and',
    right: { properties: { plan: { 'not-equals': null } } },
  };
  const config = {
    sampleRate: 12.5,
    propertyFilters: [{ key: 'Plan', value: 'pro' }],
    filter,
    probeRate: 1,
  };
  const made = await api.make<Online>(online(), { config });
  t.match(made, { id: /^[0-9a-f-]{36}$/, evaluator_id: id, created_at: /^20.*Z$/ });
  t.strictSame(made.config, config);
  const plain = await api.make<Online>(online(), { config: { sampleRate: 100 } });
  t.strictSame(plain.config, { sampleRate: 100, propertyFilters: [], filter: null, probeRate: 0 });
  const copy = await api.make<Online>(online(), { config: plain.config });
  t.strictSame(copy.config, plain.config, 'a config can be sent as it was returned');
  await api.make(`${online()}/${copy.id}`, undefined, 'DELETE');
  const all = await api.make<Online>(online(), { config: { sampleRate: 0, filter: 'all' } });
  t.equal(all.config.filter, 'all');
  t.strictSame(await api.make(online()), [all, plain, made]);
  t.equal(await api.make(`${online()}/${plain.id}`, undefined, 'DELETE'), null);
  t.strictSame(await api.make(online()), [all, made]);
  const again = await api.call(`${online()}/${plain.id}`, { method: 'DELETE' });
  t.strictSame(
    [again.status, again.body.error],
    [404, `There is no online evaluator with the id "${plain.id}"`],
  );
  const unknown = await api.call(`${online()}/x`, { method: 'DELETE' });
  t.strictSame([unknown.status, unknown.body.error], [404, 'There is no online evaluator with the id "x"']);
});

t.test('an online evaluator is changed in place, and keeps what is not named', async (t) => {
  const filter = { request: { model: { equals: 'gpt-4o' } } };
  const config = { sampleRate: 5, propertyFilters: [{ key: 'Plan', value: 'pro' }], filter, probeRate: 1 };
  const made = await api.make<Online>(online(), { config });
  const path = `${online()}/${made.id}`;
  const change = (changes: object) => api.make<Online>(path, { config: changes }, 'PATCH');
  const steps: [object, object][] = [
    [{ sampleRate: 50 }, { sampleRate: 50 }],
    [{ probeRate: 0 }, { probeRate: 0 }],
    [{ propertyFilters: [] }, { propertyFilters: [] }],
    [{ q: 'status:500' }, { filter: { response: { status: { equals: 500 } } } }],
    [{ filter: null }, { filter: null }],
    [
      { filter: 'all', sampleRate: 0 },
      { filter: 'all', sampleRate: 0 },
    ],
  ];
  let expected = made;
  for (const [changes, shown] of steps) {
    expected = { ...expected, config: { ...expected.config, ...shown } };
    t.strictSame(await change(changes), expected, JSON.stringify(changes));
  }
  t.strictSame((await api.make<Online[]>(online()))[0], expected, 'as it was attached first');
  await api.make(path, undefined, 'DELETE');
  const gone = await api.call(path, { method: 'PATCH', body: { config: { sampleRate: 1 } } });
  t.strictSame(
    [gone.status, gone.body.error],
    [404, `There is no online evaluator with the id "${made.id}"`],
  );
});

t.test('an invalid change of an online evaluator is refused, and changes nothing', async (t) => {
  const made = await api.make<Online>(online(), { config: { sampleRate: 5, q: 'status:200' } });
  const path = `${online()}/${made.id}`;
  const REFUSALS: [unknown, string | RegExp][] = [
    [{}, 'config is required'],
    [{ config: {} }, /^config must/],
    [{ config: { sampleRate: 101 } }, 'config.sampleRate must be at most 100, but is 101'],
    [{ config: { sampleRate: null } }, /^config\.sampleRate must be a number/],
    [{ config: { sampleRate: 1, q: 'colour:1' } }, /^config\.q/],
    [{ config: { sampleRate: 1, filter: 7 } }, 'filter must be "all", a leaf or a branch, but is 7'],
    [{ config: { filter: 'all', q: 'status:200' } }, /exclude each other/],
    [{ config: { sampleRate: 1, sample: 1 } }, 'config.sample is not a known field'],
  ];
  for (const [body, sentence] of REFUSALS) {
    const answer = await api.call(path, { method: 'PATCH', body });
    t.equal(answer.status, 400, `${sentence}`);
    t.match(answer.body.error, sentence);
  }
  t.strictSame((await api.make<Online[]>(online()))[0], made);
  await api.make(path, undefined, 'DELETE');
});

t.test('two changes of an online evaluator at once both hold', async (t) => {
  const made = await api.make<Online>(online(), { config: { sampleRate: 1 } });
  const path = `${online()}/${made.id}`;
  await Promise.all(
    [{ sampleRate: 2 }, { probeRate: 3 }, { q: 'status:200' }].map((config) =>
      api.make(path, { config }, 'PATCH'),
    ),
  );
  t.match((await api.make<Online[]>(online()))[0], {
    config: { sampleRate: 2, probeRate: 3, filter: { response: { status: { equals: 200 } } } },
  });
  await api.make(path, undefined, 'DELETE');
});

t.test('an invalid online evaluator is refused', async (t) => {
  const REFUSALS: [unknown, string | RegExp][] = [
    [{}, 'config is required'],
    [{ config: {} }, 'config.sampleRate is required'],
    [{ config: { sampleRate: 100.5 } }, 'config.sampleRate must be at most 100, but is 100.5'],
    [{ config: { sampleRate: -1 } }, 'config.sampleRate must be at least 0, but is -1'],
    [{ config: { sampleRate: '5' } }, 'config.sampleRate must be a number, but is "5"'],
    [{ config: { sampleRate: 5, probeRate: 101 } }, 'config.probeRate must be at most 100, but is 101'],
    [
      { config: { sampleRate: 5, propertyFilters: [{ key: 'a' }] } },
      'config.propertyFilters.0.value is required',
    ],
    [
      { config: { sampleRate: 5, propertyFilters: [{ key: '', value: '' }] } },
      'config.propertyFilters.0.key must not be empty',
    ],
    [
      { config: { sampleRate: 5, propertyFilters: Array(21).fill({ key: 'a', value: 'b' }) } },
      /^config\.propertyFilters must hold at most 20 items/,
    ],
    [
      { config: { sampleRate: 5, filter: { request: { colour: { equals: 1 } } } } },
      /^filter\.request\.colour/,
    ],
    [{ config: { sampleRate: 5, filter: 7 } }, 'filter must be "all", a leaf or a branch, but is 7'],
    [{ config: { sampleRate: 5, sample: 1 } }, 'config.sample is not a known field'],
  ];
  for (const [body, sentence] of REFUSALS) {
    const answer = await api.call(online(), { body });
    t.equal(answer.status, 400, `${sentence}`);
    t.match(answer.body.error, sentence);
  }
});

t.test('an organization has a bounded number of online evaluators', async (t) => {
  const before = (await api.make<Online[]>(online())).length;
  const answers = await Promise.all(
    Array.from({ length: 52 - before }, () => api.call(online(), { body: { config: { sampleRate: 1 } } })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  t.strictSame(
    refused.map(({ status, body }) => [status, body.error]),
    Array(2).fill([409, 'An organization can have at most 50 online evaluators']),
  );
});

t.test('a dry run counts and estimates, and schedules nothing', async (t) => {
  const judge = await api.make('/v1/evaluator', { name: 'Estimated', ...BOOLEAN });
  const path = `/v1/evaluator/${judge.id}/run`;
  const rows = await insertRequests(
    api.database.sql,
    api.own.organizationId,
    Array.from({ length: 10 }, (_, index) => ({ user_id: index < 7 ? 'ann' : 'bob' })),
  );
  await insertRequests(api.database.sql, api.own.organizationId, [{ user_id: 'ann', source: 'evaluator' }]);
  await insertRequests(api.database.sql, api.other.organizationId, [{ user_id: 'ann' }]);
  const filter = { request: { user_id: { equals: 'ann' } } };
  t.strictSame(await api.make(path, { filter, dryRun: true }), {
    matching: 7,
    already_scored: 0,
    estimated_cost_usd: null,
  });
  const scored = { evaluator_id: judge.id, state: 'completed', score: 1, finished_at: new Date() };
  const keyOf = (index: number) => ({
    request_id: rows[index]!.request_id,
    created_at: rows[index]!.created_at,
  });
  await insertEvaluations(api, [
    { ...scored, ...keyOf(0), cost_nano: 1_000_000 },
    { ...scored, ...keyOf(1), cost_nano: 3_000_000 },
    { ...scored, ...keyOf(2), state: 'pending', probe: 'repeat', finished_at: null },
    { ...scored, ...keyOf(3), version: 2, state: 'error' },
    { ...scored, ...keyOf(8), cost_nano: null },
  ]);
  t.strictSame(await api.make(path, { filter, dryRun: true }), {
    matching: 7,
    already_scored: 2,
    estimated_cost_usd: 0.01,
  });
  t.match(await api.make(path, { filter, dryRun: true, limit: 3 }), { estimated_cost_usd: 0.006 });
  t.strictSame(await api.make(`/v1/evaluator/${judge.id}/runs`), []);
  const python = await api.make('/v1/evaluator', { name: 'Free', ...PYTHON });
  t.match(
    await api.make(`/v1/evaluator/${python.id}/run`, { filter, dryRun: true }),
    { matching: 7, estimated_cost_usd: 0 },
    'Python costs nothing',
  );
});

t.test('a run reports its progress, and can be paused, resumed and cancelled', async (t) => {
  const judge = await api.make('/v1/evaluator', { name: 'Runner', ...RANGE });
  const path = `/v1/evaluator/${judge.id}`;
  const filter = { request: { model: { equals: 'gpt-4o' } } };
  const run = await api.make<Run>(`${path}/run`, { filter, limit: 20 });
  const counts = { scheduled: 0, completed: 0, failed: 0, skipped: 0, cancelled: 0, pending: 0 };
  t.strictSame(
    { ...run, created_at: '', updated_at: '' },
    {
      id: run.id,
      evaluator_id: judge.id,
      version: 1,
      state: 'running',
      filter,
      limit: 20,
      sample: null,
      max_cost_usd: null,
      cost_usd: 0,
      batch: false,
      experiments: null,
      looking_for: 'requests',
      reached: null,
      ...counts,
      created_at: '',
      updated_at: '',
    },
  );
  const states = ['completed', 'completed', 'error', 'dead', 'skipped', 'running', 'pending', 'pending'];
  await insertEvaluations(
    api,
    states.map((state) => ({ evaluator_id: judge.id, state, run_id: run.id })),
  );
  await api.database
    .sql`update assay.evaluation_runs set scheduled = 8, state = 'scheduled' where run_id = ${run.id}`;
  const seen = { scheduled: 8, completed: 2, failed: 2, skipped: 1, cancelled: 0, pending: 3 };
  const inner = `${path}/run/${run.id}`;
  t.match(await api.make(inner), { state: 'running', ...seen }, 'all is scheduled, not all is done');
  const evaluationStates = async () =>
    (
      await api.database
        .sql`select state from assay.evaluations where run_id = ${run.id} order by evaluation_id`
    ).map(({ state }) => state);

  t.match(await api.make(`${inner}/pause`, undefined, 'POST'), { state: 'paused', ...seen });
  t.strictSame((await evaluationStates()).slice(5), ['running', 'paused', 'paused']);
  t.match(await api.make(`${inner}/pause`, undefined, 'POST'), { state: 'paused' }, 'twice is once');
  t.match(await api.make(`${inner}/resume`, undefined, 'POST'), { state: 'running', ...seen });
  t.strictSame((await evaluationStates()).slice(5), ['running', 'pending', 'pending']);
  t.match(await api.make(`${inner}/cancel`, undefined, 'POST'), {
    state: 'cancelled',
    ...seen,
    pending: 1,
    cancelled: 2,
  });
  t.strictSame((await evaluationStates()).slice(5), ['running', 'cancelled', 'cancelled']);
  const resumed = await api.call(`${inner}/resume`, { method: 'POST' });
  t.strictSame(
    [resumed.status, resumed.body.error],
    [409, 'The run is cancelled: only one that is paused can be resumed'],
  );

  const second = await api.make<Run>(`${path}/run`, { filter: 'all' });
  await api.database.sql`update assay.evaluation_runs set state = 'scheduled' where run_id = ${second.id}`;
  t.match(await api.make(`${path}/run/${second.id}`), { state: 'completed', limit: null });
  const cancelled = await api.call(`${path}/run/${second.id}/cancel`, { method: 'POST' });
  t.strictSame(
    [cancelled.status, cancelled.body.error],
    [409, 'The run is completed: only one that is running or paused can be cancelled'],
  );
  t.strictSame(
    (await api.make<Run[]>(`${path}/runs`)).map((one) => one.id),
    [second.id, run.id],
    'newest first',
  );
});

t.test('a paused run stays paused when its evaluator is resumed', async (t) => {
  const judge = await api.make('/v1/evaluator', { name: 'Both paused', ...RANGE });
  const path = `/v1/evaluator/${judge.id}`;
  const run = await api.make<Run>(`${path}/run`, { filter: 'all' });
  const [waiting] = await insertEvaluations(api, [{ evaluator_id: judge.id, run_id: run.id }]);
  await api.make(`${path}/run/${run.id}/pause`, undefined, 'POST');
  await api.database.sql`update assay.evaluators set paused_reason = 'auth' where evaluator_id = ${judge.id}`;
  await api.make(`${path}/run/${run.id}/resume`, undefined, 'POST');
  t.match(await api.make(`/v1/evaluation/${waiting}`), { state: 'paused' });
  await api.make(`${path}/resume`, undefined, 'POST');
  t.match(await api.make(`/v1/evaluation/${waiting}`), { state: 'pending' });
});

t.test('an invalid run is refused', async (t) => {
  const REFUSALS: [unknown, string | RegExp][] = [
    [{}, 'filter is required, or q in its place'],
    [{ filter: { x: 1 } }, /^filter\.x/],
    [{ filter: 'all', limit: 0 }, 'limit must be at least 1, but is 0'],
    [{ filter: 'all', batch: true }, 'batch does not belong to the scoring_type LLM-RANGE'],
    [{ filter: 'all', dry_run: true }, 'dry_run is not a known field'],
  ];
  for (const [body, sentence] of REFUSALS) {
    const answer = await api.call(`/v1/evaluator/${id}/run`, { body });
    t.equal(answer.status, 400, `${sentence}`);
    t.match(answer.body.error, sentence);
  }
  const unknown = await api.call(`/v1/evaluator/${id}/run/${id}`);
  t.strictSame([unknown.status, unknown.body.error], [404, `There is no run with the id "${id}"`]);
});

t.test('an organization has a bounded number of open runs', async (t) => {
  await api.database.sql`update assay.evaluation_runs set state = 'cancelled'`;
  for (let made = 0; made < 10; made += 1) await api.make(`/v1/evaluator/${id}/run`, { filter: 'all' });
  const answer = await api.call(`/v1/evaluator/${id}/run`, { body: { filter: 'all' } });
  t.strictSame(
    [answer.status, answer.body.error],
    [409, 'An organization can have at most 10 runs that are running or paused'],
  );
});
