import t from 'tap';
import { BOOLEAN, type EvaluatorApi, RANGE, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertEvaluations } from './seed-evaluations.ts';

type Found = Record<string, unknown> & { id: string; state: string; request_id: string };

let api: EvaluatorApi;
let evaluatorId: string;
let otherId: string;
t.before(async () => {
  api = await startEvaluatorApi(t);
  evaluatorId = (await api.make('/v1/evaluator', { name: 'First', ...BOOLEAN })).id;
  otherId = (await api.make('/v1/evaluator', { name: 'Second', ...RANGE })).id;
});

const post = (path: string) => api.call(path, { method: 'POST' });

t.test('an evaluation is shown with its outcome and what its judge used', async (t) => {
  const created_at = new Date('2026-05-04T10:00:00.123Z');
  const finished_at = new Date('2026-05-04T10:00:02.000Z');
  const [scored, failed, waiting] = await insertEvaluations(api, [
    {
      evaluator_id: evaluatorId,
      request_id: 'shown',
      created_at,
      scheduled_at: created_at,
      finished_at,
      state: 'completed',
      attempts: 1,
      score: 0.25,
      reasoning: 'Because.',
      warnings: ['inputs.city is missing in this record'],
      judge_calls: 1,
      judge_model: 'gpt-4o-mini',
      judge_request_ids: ['j1'],
      prompt_tokens: 100,
      completion_tokens: 7,
      cost_nano: 1_230,
      judge_latency_ms: 700,
    },
    {
      evaluator_id: evaluatorId,
      state: 'error',
      error_code: 'judge_malformed',
      error_message: 'No number in it',
      attempts: 2,
      probe: 'repeat',
    },
    { evaluator_id: otherId, version: 3 },
  ]);
  t.strictSame(await api.make(`/v1/evaluation/${scored}`), {
    id: scored,
    evaluator_id: evaluatorId,
    evaluator_name: 'First',
    version: 1,
    request_id: 'shown',
    request_created_at: '2026-05-04T10:00:00.123Z',
    session_id: null,
    probe: null,
    run_id: null,
    rubric_id: null,
    pair: null,
    state: 'completed',
    waiting: null,
    attempts: 1,
    score: 0.25,
    label: null,
    reasoning: 'Because.',
    traces: null,
    flags: [],
    warnings: ['inputs.city is missing in this record'],
    error: null,
    history: [],
    judge: {
      model: 'gpt-4o-mini',
      calls: 1,
      request_ids: ['j1'],
      prompt_tokens: 100,
      completion_tokens: 7,
      cost: 0.00000123,
      latency_ms: 700,
    },
    members: null,
    scheduled_at: '2026-05-04T10:00:00.123Z',
    finished_at: '2026-05-04T10:00:02.000Z',
    imported_at: null,
  });
  t.match(await api.make(`/v1/evaluation/${failed}`), {
    state: 'error',
    probe: 'repeat',
    score: null,
    judge: null,
    error: { code: 'judge_malformed', message: 'No number in it' },
    attempts: 2,
  });
  t.match(await api.make(`/v1/evaluation/${waiting}`), {
    state: 'pending',
    version: 3,
    evaluator_name: 'Second',
    finished_at: null,
  });
});

t.test('evaluations are listed newest first, by page and by filter', async (t) => {
  const run = await api.make(`/v1/evaluator/${otherId}/run`, { filter: 'all' });
  const ids = await insertEvaluations(
    api,
    Array.from({ length: 7 }, (_, index) => ({
      evaluator_id: otherId,
      request_id: `listed ${index}`,
      version: 2,
      ...(index === 3 ? { state: 'dead', error_code: 'judge_timeout' } : {}),
      ...(index === 5 ? { run_id: run.id } : {}),
    })),
  );
  const found = async (body: object) =>
    (await api.make<Found[]>('/v1/evaluation/query', body)).map(({ id }) => id);
  const newest = [...ids].reverse();
  const mine = { evaluatorId: otherId, version: 2 };
  t.strictSame(await found(mine), newest);
  t.strictSame(await found({ ...mine, limit: 3 }), newest.slice(0, 3));
  t.strictSame(await found({ ...mine, limit: 3, offset: 6 }), newest.slice(6));
  t.strictSame(await found({ requestId: 'listed 2' }), [ids[2]]);
  t.strictSame(await found({ ...mine, state: 'dead' }), [ids[3]]);
  t.strictSame(await found({ errorCode: 'judge_timeout' }), [ids[3]]);
  t.strictSame(await found({ runId: run.id }), [ids[5]]);
  t.strictSame(await found({ evaluatorId: 'nobody' }), [], 'what is no id is nobody’s');
  t.strictSame(await found({ requestId: 'a\u0000b' }), []);
  t.equal((await found({})).length, 10, 'ten unless asked for more');
});

t.test('an invalid query of evaluations is refused', async (t) => {
  const REFUSALS: [object, string][] = [
    [{ limit: 101 }, 'limit must be at most 100, but is 101'],
    [{ limit: 0 }, 'limit must be at least 1, but is 0'],
    [{ offset: -1 }, 'offset must be at least 0, but is -1'],
    [{ version: 1.5 }, 'version must be a whole number, but is 1.5'],
    [
      { state: 'failed' },
      'state must be one of "pending", "running", "paused", "completed", "skipped", "error", "dead", "cancelled", but is "failed"',
    ],
    [{ filter: 'all' }, 'filter is not a known field'],
  ];
  for (const [body, sentence] of REFUSALS) {
    const answer = await api.call('/v1/evaluation/query', { body });
    t.strictSame([answer.status, answer.body.error], [400, sentence]);
  }
});

t.test('only evaluations in error, dead or cancelled can be retried', async (t) => {
  const STATES = ['pending', 'running', 'paused', 'completed', 'skipped', 'error', 'dead', 'cancelled'];
  const ids = await insertEvaluations(
    api,
    STATES.map((state) => ({
      evaluator_id: evaluatorId,
      state,
      attempts: 3,
      error_code: 'judge_timeout',
      error_message: 'Late',
      finished_at: new Date(),
    })),
  );
  for (const [index, state] of STATES.entries()) {
    const answer = await post(`/v1/evaluation/${ids[index]}/retry`);
    if (['error', 'dead', 'cancelled'].includes(state)) {
      t.equal(answer.status, 200, state);
      t.match(answer.body.data, { state: 'pending', attempts: 0, error: null, finished_at: null });
    } else {
      t.strictSame(
        [answer.status, answer.body.error],
        [
          409,
          `The evaluation ${ids[index]} is ${state}: only one that is error, dead or cancelled can be tried again`,
        ],
      );
      t.match(await api.make(`/v1/evaluation/${ids[index]}`), { state, attempts: 3 });
    }
  }
});

t.test('only pending and paused evaluations can be cancelled', async (t) => {
  const STATES = ['pending', 'paused', 'running', 'completed', 'skipped', 'error', 'dead', 'cancelled'];
  const ids = await insertEvaluations(
    api,
    STATES.map((state) => ({ evaluator_id: evaluatorId, state })),
  );
  for (const [index, state] of STATES.entries()) {
    const answer = await post(`/v1/evaluation/${ids[index]}/cancel`);
    if (state === 'pending' || state === 'paused') {
      t.match(answer.body.data, { state: 'cancelled', finished_at: /^20/ }, state);
    } else {
      t.strictSame(
        [answer.status, answer.body.error],
        [
          409,
          `The evaluation ${ids[index]} is ${state}: only one that is pending or paused can be cancelled`,
        ],
      );
    }
  }
});

t.test('an evaluation cancelled and retried concurrently ends in one of the two states', async (t) => {
  const [id] = await insertEvaluations(api, [{ evaluator_id: evaluatorId }]);
  const answers = await Promise.all([
    post(`/v1/evaluation/${id}/cancel`),
    post(`/v1/evaluation/${id}/cancel`),
    post(`/v1/evaluation/${id}/retry`),
  ]);
  t.ok(answers.every(({ status }) => status === 200 || status === 409));
  t.match((await api.make<Found>(`/v1/evaluation/${id}`)).state, /^(pending|cancelled)$/);
});

t.test(
  'resuming an evaluator makes its paused evaluations pending, except those of paused runs',
  async (t) => {
    const paused = await api.make(`/v1/evaluator`, { name: 'Paused', ...RANGE });
    const path = `/v1/evaluator/${paused.id}`;
    const run = await api.make(`${path}/run`, { filter: 'all' });
    await api.make(`${path}/run/${run.id}/pause`, undefined, 'POST');
    await api.database.sql`
    update assay.evaluators set paused_reason = 'billing', paused_message = 'No money left'
    where evaluator_id = ${paused.id}`;
    t.match(await api.make(path), { paused: { reason: 'billing', message: 'No money left' } });
    t.strictSame(
      (await api.make<{ name: string }[]>('/v1/evaluator/query', { isPaused: true })).map(({ name }) => name),
      ['Paused'],
    );
    const [own, done, ofRun, ofOther] = await insertEvaluations(api, [
      { evaluator_id: paused.id, state: 'paused' },
      { evaluator_id: paused.id, state: 'error' },
      { evaluator_id: paused.id, state: 'paused', run_id: run.id },
      { evaluator_id: evaluatorId, state: 'paused' },
    ]);
    t.match(await api.make(`${path}/resume`, undefined, 'POST'), { id: paused.id, paused: null });
    const stateOf = async (id: string | undefined) => (await api.make<Found>(`/v1/evaluation/${id}`)).state;
    t.equal(await stateOf(own), 'pending');
    t.equal(await stateOf(done), 'error');
    t.equal(await stateOf(ofRun), 'paused');
    t.equal(await stateOf(ofOther), 'paused');
    t.match(
      await api.make(`${path}/resume`, undefined, 'POST'),
      { paused: null },
      'and again changes nothing',
    );
    await api.make(`${path}/run/${run.id}/resume`, undefined, 'POST');
    t.equal(await stateOf(ofRun), 'pending');
  },
);

t.test('resuming an evaluator resumes more evaluations than one batch holds', async (t) => {
  const many = await api.make(`/v1/evaluator`, { name: 'Many', ...RANGE });
  const { sql } = api.database;
  await sql`
    insert into assay.evaluations (organization_id, evaluator_id, version, created_at, request_id, lane, priority, state,
      due_at, scheduled_at)
    select ${api.own.organizationId}, ${many.id}, 1, now(), 'many ' || i, 'remote', 0, 'paused', now(), now()
    from generate_series(1, 12001) as i`;
  await api.make(`/v1/evaluator/${many.id}/resume`, undefined, 'POST');
  const [row] = await sql`
    select count(*)::int4 as count from assay.evaluations where evaluator_id = ${many.id} and state = 'pending'`;
  t.equal(row!.count, 12_001);
});
