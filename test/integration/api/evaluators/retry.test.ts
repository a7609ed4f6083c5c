/** Evaluations that are tried again, one or many, with their failures kept; and the versions and the list of evaluators. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { nextState, releaseLeases, settle } from '../../../../evaluators/queue/mod.ts';
import { worldIn } from '../../../support/evaluation-queue.ts';
import { PYTHON, startEvaluatorApi } from '../../../support/evaluators-process.ts';

const api = await startEvaluatorApi(t);
const world = await worldIn(t, api.database);
const { sql } = world;
const { organizationId } = api.own;

type Attempt = { attempt: number; at: string; code: string; message: string | null };
type Evaluation = {
  id: string;
  state: string;
  attempts: number;
  history: Attempt[];
  error: { code: string } | null;
  score: number | null;
};

const failure = (code: 'judge_timeout' | 'judge_malformed', retry: 'later' | 'never') =>
  ({
    outcome: {
      state: 'failed',
      code,
      message: `why ${code}`,
      retry,
      retryAfterMs: null,
      pause: null,
      traces: null,
    },
    use: null,
  }) as never;
const SUCCESS = nextState(
  {
    outcome: { state: 'completed', score: 1, label: null, reasoning: null, traces: null, flags: [] },
    use: null,
  },
  1,
);
const show = async (id: string) => (await api.call(`/v1/evaluation/${id}`)).body.data as Evaluation;
const retryOne = (id: string) => api.call(`/v1/evaluation/${id}/retry`, { method: 'POST' });
const retryAll = (id: string, body: object, key = api.own.key) =>
  api.call(`/v1/evaluator/${id}/retry`, { body, key });
/** Makes an evaluation due now, and claims it. */
async function claimNow(id: string) {
  await sql`update assay.evaluations set due_at = now() - interval '1 s' where evaluation_id = ${id}`;
  const jobs = await world.claimAll();
  return jobs.find((job) => job.evaluationId === id)!;
}
async function scheduled() {
  const evaluator = await world.evaluator(organizationId);
  const [requestId] = await world.requests(organizationId, 1);
  const [id] = await world.schedule(evaluator, [requestId!]);
  return { evaluator, id: id!, requestId: requestId! };
}

t.test(
  'failed attempts are kept as history, before and after a retry, and the row stays the same',
  async (t) => {
    const { id, requestId } = await scheduled();
    const first = await claimNow(id);
    await settle(sql, first, nextState(failure('judge_timeout', 'later'), first.attempt), null);
    t.match(await show(id), { state: 'pending', history: [{ attempt: 1, code: 'judge_timeout' }] });
    const second = await claimNow(id);
    await settle(sql, second, nextState(failure('judge_malformed', 'never'), second.attempt), null);
    const failed = await show(id);
    t.match(failed, { state: 'error', attempts: 2, error: { code: 'judge_malformed' } });
    t.same(
      failed.history.map(({ attempt, code, message }) => [attempt, code, message]),
      [
        [1, 'judge_timeout', 'why judge_timeout'],
        [2, 'judge_malformed', 'why judge_malformed'],
      ],
    );
    const reopened = (await retryOne(id)).body.data as Evaluation;
    t.match(reopened, { id, state: 'pending', attempts: 0, error: null });
    t.same(reopened.history, failed.history, 'nothing of it is noted twice');
    t.equal(await settle(sql, second, SUCCESS, null), false, 'a claim from before the retry cannot settle');
    const third = await claimNow(id);
    t.equal(await settle(sql, third, SUCCESS, null), true);
    const done = await show(id);
    t.match(done, { state: 'completed', score: 1 });
    t.equal(done.history.length, 2);
    t.equal((await world.scores()).filter((score) => score.request_id === requestId).length, 1);
    const [row] =
      await sql`select count(*)::int as count from assay.evaluations where request_id = ${requestId}`;
    t.equal(row!.count, 1);
  },
);

t.test(
  'an attempt that does not count, and a settling that comes too late, are not in the history',
  async (t) => {
    const { id } = await scheduled();
    const released = await claimNow(id);
    await releaseLeases(sql, [released]);
    const lost = await claimNow(id);
    // Its lease has expired.
    const again = await claimNow(id);
    await settle(sql, lost, nextState(failure('judge_timeout', 'never'), 1), null);
    t.same((await show(id)).history, []);
    await settle(sql, again, nextState(failure('judge_timeout', 'never'), 1), null);
    await settle(sql, again, nextState(failure('judge_timeout', 'never'), 1), null);
    t.equal((await show(id)).history.length, 1);
  },
);

t.test('a failure from before attempts were kept is noted at the retry', async (t) => {
  const { id } = await scheduled();
  await sql`
    update assay.evaluations set state = 'dead', claims = 9, attempts = 5, error_code = 'worker_lost', error_message = 'lost',
      finished_at = '2026-01-02T03:04:05.678Z' where evaluation_id = ${id}`;
  t.equal((await retryOne(id)).status, 200);
  t.same((await show(id)).history, [
    { attempt: 1, at: '2026-01-02T03:04:05.678Z', code: 'worker_lost', message: 'lost' },
  ]);
});

/** An evaluator with one ended evaluation in each of these states. */
async function withStates(...states: string[]) {
  const evaluator = await world.evaluator(organizationId);
  const ids = await world.schedule(evaluator, await world.requests(organizationId, states.length));
  for (const [index, state] of states.entries()) {
    await sql`
      update assay.evaluations set state = ${state}, claims = 1, attempts = 5, finished_at = now(),
        error_code = ${state === 'dead' ? 'worker_lost' : 'judge_timeout'} where evaluation_id = ${ids[index]!}`;
  }
  const statesNow = async () => {
    const rows = await sql`
      select state from assay.evaluations where evaluator_id = ${evaluator.evaluatorId} order by evaluation_id`;
    return rows.map(({ state }) => state);
  };
  return { ...evaluator, ids, statesNow };
}

t.test('retrying all reopens the given states of one evaluator, and nothing else', async (t) => {
  const all = ['error', 'dead', 'cancelled', 'completed', 'skipped', 'pending'];
  const one = await withStates(...all);
  const other = await withStates('error', 'dead');
  const answer = await retryAll(one.evaluatorId, { states: ['error', 'dead'] });
  t.same([answer.status, answer.body.data], [200, { retried: 2 }]);
  t.same(await one.statesNow(), ['pending', 'pending', 'cancelled', 'completed', 'skipped', 'pending']);
  t.same(await other.statesNow(), ['error', 'dead']);
  t.equal((await show(one.ids[0]!)).history.length, 1);
  t.same((await retryAll(one.evaluatorId, { states: ['error', 'dead'] })).body.data, { retried: 0 });
});

t.test('retrying all can be narrowed by version, run and error code', async (t) => {
  const runId = randomUUID();
  const narrowed: [object, number][] = [
    [{ errorCode: 'worker_lost' }, 1],
    [{ errorCode: 'no such code \0' }, 0],
    [{ version: 2 }, 0],
    [{ version: 1 }, 2],
    [{ runId: randomUUID() }, 0],
    [{ runId: 'no id' }, 0],
    [{ runId }, 2],
  ];
  for (const [body, retried] of narrowed) {
    const one = await withStates('error', 'dead');
    await sql`update assay.evaluations set run_id = ${runId} where evaluator_id = ${one.evaluatorId}`;
    const answer = await retryAll(one.evaluatorId, { states: ['error', 'dead'], ...body });
    t.same(answer.body.data, { retried }, JSON.stringify(body));
  }
});

t.test('an evaluation of a paused run waits with its run when it is tried again', async (t) => {
  const one = await withStates('error');
  const [run] = await sql<{ run_id: string }[]>`
    insert into assay.evaluation_runs (organization_id, evaluator_id, version, state, filter, until, created_at, updated_at)
    values (${organizationId}, ${one.evaluatorId}, 1, 'paused', '"all"', now(), now(), now()) returning run_id`;
  await sql`update assay.evaluations set run_id = ${run!.run_id} where evaluator_id = ${one.evaluatorId}`;
  t.same((await retryAll(one.evaluatorId, { states: ['error'] })).body.data, { retried: 1 });
  t.same(await one.statesNow(), ['paused']);
});

t.test('two callers that retry at once reopen each evaluation once', async (t) => {
  const one = await withStates(...Array.from({ length: 40 }, () => 'error'));
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => retryAll(one.evaluatorId, { states: ['error'] })),
  );
  const counts = answers.map(({ body }) => (body.data as { retried: number }).retried);
  t.equal(
    counts.reduce((sum, count) => sum + count),
    40,
  );
});

t.test('a retry of all is refused for bad bodies, unknown evaluators and readers', async (t) => {
  const one = await withStates('error');
  for (const body of [
    {},
    { states: [] },
    { states: ['completed'] },
    { states: 'error' },
    { states: ['error'], version: 0 },
    { states: ['error'], limit: 1 },
  ]) {
    t.equal((await retryAll(one.evaluatorId, body)).status, 400, JSON.stringify(body));
  }
  const body = { states: ['error'] };
  t.equal((await retryAll(one.evaluatorId, body, api.other.key)).status, 404);
  t.equal((await retryAll(randomUUID(), body)).status, 404);
  t.equal((await retryAll(one.evaluatorId, body, await api.own.keyWith(['read']))).status, 403);
  t.same(await one.statesNow(), ['error']);
});

t.test(
  'GET /v1/evaluator lists all evaluators, the newest first, and those of no other organization',
  async (t) => {
    const { id } = await api.make('/v1/evaluator', { name: 'Listed', ...PYTHON });
    const listed = (await api.call('/v1/evaluator')).body.data as { id: string }[];
    t.equal(listed[0]!.id, id);
    t.same(listed, (await api.call('/v1/evaluator/query', { body: {} })).body.data);
    t.same((await api.call('/v1/evaluator', { key: api.other.key })).body.data, []);
  },
);

t.test('the versions of an evaluator are listed with their definitions, the newest first', async (t) => {
  const codeOf = (n: number) => `def evaluate(input, output):\n    return ${n}\n`;
  const { id } = await api.make('/v1/evaluator', {
    name: 'Versioned',
    scoring_type: 'PYTHON',
    code_template: { code: codeOf(1) },
  });
  const change = (body: object) => api.call(`/v1/evaluator/${id}`, { method: 'PUT', body });
  t.equal((await change({ code_template: { code: codeOf(2) } })).status, 200);
  t.equal((await change({ name: 'Renamed' })).status, 200);
  t.equal((await change({ code_template: { code: codeOf(3) } })).status, 200);
  type Version = {
    version: number;
    is_current: boolean;
    code_template: { code: string };
    llm_template: null;
  };
  const list = async (query = '') =>
    (await api.call(`/v1/evaluator/${id}/versions${query}`)).body.data as Version[];
  t.same(
    (await list()).map(({ version, is_current, code_template, llm_template }) => [
      ...[version, is_current, code_template.code, llm_template],
    ]),
    [
      [3, true, codeOf(3), null],
      [2, false, codeOf(2), null],
      [1, false, codeOf(1), null],
    ],
    'another name is no version',
  );
  t.same(
    (await list('?limit=1&offset=1')).map(({ version }) => version),
    [2],
  );
  t.same(await list('?offset=3'), []);
  for (const query of ['?limit=0', '?limit=101', '?limit=x', '?offset=-1', '?page=2']) {
    t.equal((await api.call(`/v1/evaluator/${id}/versions${query}`)).status, 400, query);
  }
  t.equal((await api.call(`/v1/evaluator/${id}/versions`, { key: api.other.key })).status, 404);
  t.equal((await api.call(`/v1/evaluator/${randomUUID()}/versions`)).status, 404);
});
