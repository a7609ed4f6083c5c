/** Evaluators of sessions over the API: what they may be, how they are used, and what becomes of their scores. */
import t from 'tap';
import type { SessionRow, SessionTree } from '#core/contracts/session.ts';
import {
  BOOLEAN,
  type EvaluatorApi,
  EXTERNAL,
  PYTHON,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { insertEvaluations } from './seed-evaluations.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

type Made = { id: string; scope: string; config: Record<string, unknown> };
let named = 0;
const make = (body: object) => {
  named += 1;
  return api.make<Made>('/v1/evaluator', { name: `Evaluator ${named}`, ...body });
};
/** A prompt without variables, as criteria of rubrics have it. */
const PLAIN = { scoring_type: 'LLM-BOOLEAN', llm_template: { model: 'gpt-4o-mini', prompt: 'Polite?' } };
const SESSIONS = { ...PYTHON, scope: 'session' };

async function refusal(path: string, body: object, method?: string): Promise<string> {
  const { status, body: answer } = await api.call(path, { body, ...(method && { method }) });
  return `${status} ${answer.error}`;
}
const refused = (body: object) => refusal('/v1/evaluator', { name: 'Refused', ...body });

t.test('an evaluator scores requests unless it says sessions, and can be found by that', async (t) => {
  const [ofRequests, ofSessions] = [await make(PYTHON), await make(SESSIONS)];
  t.same([ofRequests.scope, ofSessions.scope], ['request', 'session']);
  const found = await api.make<Made[]>('/v1/evaluator/query', { scope: 'session' });
  t.same(
    found.map(({ id }) => id),
    [ofSessions.id],
  );
  const path = `/v1/evaluator/${ofSessions.id}`;
  t.match(await api.make(path, { name: 'Renamed', scope: 'session' }, 'PUT'), { scope: 'session' });
  t.match(
    await refusal(path, { scope: 'request' }, 'PUT'),
    /^400 scope cannot change: it is session, but request is asked for/,
  );
});

t.test('prompts of sessions may name the conversation; those of requests may not', async (t) => {
  const judge = (prompt: string, scope: string) => ({
    ...BOOLEAN,
    llm_template: { ...BOOLEAN.llm_template, prompt },
    scope,
  });
  t.match(await make(judge('Solved? {{conversation}} {{session.name}}', 'session')), { scope: 'session' });
  t.match(
    await refused(judge('Solved? {{conversation}}', 'request')),
    /^400 llm_template\.prompt names the unknown variable "\{\{conversation\}\}"; allowed are \{\{input\}\}/,
  );
});

t.test('what cannot score sessions is refused', async (t) => {
  const pairwise = { scoring_type: 'LLM-PAIRWISE', llm_template: { model: 'gpt-4o-mini', prompt: 'Which?' } };
  t.match(
    await refused({ ...pairwise, scope: 'session' }),
    /^400 scope must be request for the scoring_type LLM-PAIRWISE/,
  );
  const imported = { scoring_type: 'EXTERNAL', external_config: { adapter: 'imported' } };
  t.match(
    await refused({ ...imported, scope: 'session' }),
    /^400 scope must be request for the adapter "imported"/,
  );
  t.match(await refused({ ...PYTHON, scope: 'user' }), /^400 .*scope/);
  const [criterion, other] = [await make(PLAIN), await make({ ...PLAIN, scope: 'session' })];
  const rubric = {
    scoring_type: 'LLM-RUBRIC',
    llm_template: {
      model: 'gpt-4o-mini',
      prompt: 'How?',
      criteria: [{ id: criterion.id }, { id: other.id }],
    },
  };
  t.match(
    await refused({ ...rubric, scope: 'session' }),
    /^400 llm_template\.criteria\.0 cannot be "Evaluator \d+", which scores each request, and the rubric each session/,
  );
  const own = await make({ ...PLAIN, scope: 'session' });
  const criteria = [{ id: own.id }, { id: other.id }];
  const fitting = { ...rubric, llm_template: { ...rubric.llm_template, criteria } };
  t.match(await make({ ...fitting, scope: 'session' }), { scope: 'session' });
  t.match(await make({ ...EXTERNAL, scope: 'session' }), { scope: 'session' });
});

t.test('an online evaluator of sessions waits for silence, and has no probes', async (t) => {
  const { id } = await make(SESSIONS);
  const path = `/v1/evaluator/${id}/onlineEvaluators`;
  const plain = await api.make<Made>(path, { config: { sampleRate: 10 } });
  t.strictSame(plain.config, {
    sampleRate: 10,
    propertyFilters: [],
    filter: null,
    probeRate: 0,
    idleSeconds: 900,
  });
  t.match(await api.make(path, { config: plain.config }), { config: plain.config });
  const changed = await api.make<Made>(`${path}/${plain.id}`, { config: { idleSeconds: 60 } }, 'PATCH');
  t.match(changed.config, { sampleRate: 10, idleSeconds: 60 });
  t.match(await api.make<Made[]>(path), [{}, { config: { idleSeconds: 60 } }]);
  const probing = { config: { sampleRate: 10, probeRate: 1 } };
  t.match(
    await refusal(path, probing),
    /^400 config\.probeRate does not belong to an evaluator with the scope session/,
  );
  for (const idleSeconds of [0, 86_401, 1.5])
    t.match(await refusal(path, { config: { sampleRate: 1, idleSeconds } }), /^400 .*idleSeconds/);
  const ofRequests = `/v1/evaluator/${(await make(PYTHON)).id}/onlineEvaluators`;
  t.match(
    await refusal(ofRequests, { config: { sampleRate: 10, idleSeconds: 60 } }),
    /^400 config\.idleSeconds does not belong to an evaluator with the scope request/,
  );
});

t.test('an experiment is not graded by evaluators of sessions', async (t) => {
  const { id } = await make(SESSIONS);
  const dataset = await api.make<Made>('/v1/dataset', { name: 'Questions' });
  await api.make(`/v1/dataset/${dataset.id}/items`, {
    items: [{ request: { messages: [{ role: 'user', content: 'Hi' }] } }],
  });
  const body = { name: 'x', datasetId: dataset.id, target: { kind: 'recorded' }, evaluatorIds: [id] };
  t.match(await refusal('/v1/experiment', body), /^400 The evaluator "Evaluator \d+" scores whole sessions/);
});

t.test('a try-out takes two bodies or a session, not both and not half', async (t) => {
  const path = '/v1/evaluator/python/test';
  const code = 'def evaluate(input, output):\n  return 1';
  await api.make(path, { code, testInput: { sessionId: 'chat' } });
  t.match(api.process.bodies.at(-1), { testInput: { sessionId: 'chat', requestText: 'null' } });
  t.match(
    await refusal(path, { code, testInput: { sessionId: 'chat', inputBody: {} } }),
    /^400 testInput\.sessionId takes the place of testInput\.inputBody/,
  );
  for (const [given, missing] of [
    [{}, 'inputBody'],
    [{ inputBody: {} }, 'outputBody'],
  ] as const) {
    t.match(await refusal(path, { code, testInput: given }), `400 testInput.${missing} is required without`);
  }
});

/** A session of two requests, scored after each of them. */
async function scoredSession(sessionId: string, evaluatorId: string) {
  const { sql } = api.database;
  const rows = await insertRequests(sql, api.own.organizationId, [
    { session_id: sessionId, created_at: new Date(Date.now() - 20_000), user_id: 'ada' },
    { session_id: sessionId, created_at: new Date(Date.now() - 10_000) },
  ]);
  for (const [index, { request_id, created_at }] of rows.entries()) {
    const reasoning = `about ${sessionId}`;
    const [evaluation] = await insertEvaluations(api, [
      {
        evaluator_id: evaluatorId,
        request_id,
        created_at,
        state: 'completed',
        score: index + 0.5,
        reasoning,
      },
    ]);
    await sql`update assay.evaluations set session_id = ${sessionId} where evaluation_id = ${evaluation!}`;
  }
  return rows;
}

t.test('a session has the score of its newest evaluation, and no other organization sees it', async (t) => {
  const evaluator = await make(SESSIONS);
  const key = `evaluator_${named}`;
  const rows = await scoredSession('scored', evaluator.id);
  await insertRequests(api.database.sql, api.other.organizationId, [{ session_id: 'scored' }]);
  const tree = await api.make<SessionTree>('/v1/session/scored');
  t.same(Object.values(tree.session.scores), [1.5], key);
  const listed = await api.make<SessionRow[]>('/v1/session/query', { search: 'scored' });
  t.same(
    listed.map(({ scores }) => scores),
    [tree.session.scores],
  );
  const { body } = await api.call('/v1/session/scored', { key: api.other.key });
  t.same((body.data as SessionTree).session.scores, {});
  const evaluations = await api.make<{ request_id: string; session_id: string }[]>('/v1/evaluation/query', {
    sessionId: 'scored',
  });
  t.same(
    evaluations.map(({ request_id, session_id }) => [request_id, session_id]).sort(),
    rows.map(({ request_id }) => [request_id, 'scored']).sort(),
  );
});

t.test('erasing a request erases the evaluations of its session, which may quote it', async (t) => {
  const evaluator = await make(SESSIONS);
  const [first] = await scoredSession('erased', evaluator.id);
  await scoredSession('kept', evaluator.id);
  const { status } = await api.call(`/v1/request/${first!.request_id}`, { method: 'DELETE' });
  t.equal(status, 200);
  t.same(await api.make('/v1/evaluation/query', { sessionId: 'erased' }), []);
  t.equal((await api.make<object[]>('/v1/evaluation/query', { sessionId: 'kept' })).length, 2);
  const [row] = await api.database
    .sql`select count(*)::int4 as count from assay.evaluations e where e::text like '%about erased%'`;
  t.equal(row!.count, 0);
});
