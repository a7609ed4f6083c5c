/** Everything that changes records notes it in the change feed, in the transaction of the change, and nothing else does. */
import t, { type Test } from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { type Job, type NextState, nextState, settle } from '../../../../evaluators/queue/mod.ts';
import { BatchStore } from '../../../../ingest/store-batch.ts';
import { startTestApi } from '../../../support/api.ts';
import { worldIn } from '../../../support/evaluation-queue.ts';
import { logEntry } from '../../../support/log-entries.ts';
import { takeChanges } from '../../../support/noted-changes.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { silentLog } from '../../../support/world.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const world = await worldIn(t, api.database);
const { organizationId } = api.own;

const call = async (path: string, method: string, body?: object) => {
  const answer = await api.call(path, { method, ...(body === undefined ? {} : { body }) });
  return answer.status;
};

async function seedOne() {
  const [seeded] = await insertRequests(sql, organizationId, [{ properties: { Plan: 'pro' } }]);
  return { id: seeded!.request_id, createdAt: seeded!.created_at };
}

/** Expects that one change of the own organization was noted, about this request. */
async function noted(t: Test, request: { id: string; createdAt: Date }, kind: string, details: unknown) {
  t.same(await takeChanges(sql), [
    { organizationId, kind, requestIds: [request.id], createdAts: [request.createdAt], details },
  ]);
}

t.test(
  'ingest notes the new records of a batch, once for each organization, and known ones never again',
  async (t) => {
    const store = new BatchStore({ sql, log: silentLog, clock: systemClock, retentionDays: null });
    const entryOf = (owner: string) => ({ ...logEntry({ organizationId: owner }), origin: 'test' });
    const [a, b, c] = [entryOf(organizationId), entryOf(api.other.organizationId), entryOf(organizationId)];
    await store.store({ entries: [a!, b!, c!] });
    const first = await takeChanges(sql);
    const ofOwn = first.filter((change) => change.organizationId === organizationId);
    const ofOther = first.filter((change) => change.organizationId !== organizationId);
    t.match(ofOwn, [{ kind: 'record', details: null, requestIds: [a!.id, c!.id] }]);
    t.match(ofOther, [{ kind: 'record', details: null, requestIds: [b!.id] }]);
    t.equal(first.length, 2);
    const [row] = await sql`select created_at from assay.requests where request_id = ${b!.id}`;
    t.same(ofOther[0]!.createdAts, [row!.created_at]);
    const late = entryOf(organizationId);
    await store.store({ entries: [a!, late, c!, late] });
    t.match(await takeChanges(sql), [{ kind: 'record', requestIds: [late.id] }]);
    await store.store({ entries: [a!, b!] });
    t.same(await takeChanges(sql), []);
  },
);

t.test('scores, feedback and properties that the API sets and takes back are noted', async (t) => {
  const request = await seedOne();
  const path = `/v1/request/${request.id}`;
  t.equal(await call(`${path}/score`, 'POST', { scores: { b: true, a: 0.5 } }), 200);
  t.match(await takeChanges(sql), [
    {
      kind: 'score',
      requestIds: [request.id, request.id],
      details: [
        { key: 'a', value: 0.5 },
        { key: 'b', value: 1 },
      ],
    },
  ]);
  t.equal(await call(`${path}/score/a`, 'DELETE'), 200);
  await noted(t, request, 'score', [{ key: 'a', value: null }]);
  t.equal(await call(`${path}/score/a`, 'DELETE'), 200);
  t.same(await takeChanges(sql), [], 'a score that is not there is not taken back');
  t.equal(await call(`${path}/feedback`, 'POST', { rating: false }), 200);
  await noted(t, request, 'feedback', [{ rating: false }]);
  t.equal(await call(`${path}/feedback`, 'DELETE'), 200);
  await noted(t, request, 'feedback', [{ rating: null }]);
  t.equal(await call(`${path}/property`, 'PUT', { key: 'Tier', value: 'a\0b😀' }), 200);
  await noted(t, request, 'property', [{ key: 'Tier', value: 'a\ufffdb😀' }]);
  t.equal(await call(`${path}/property/PLAN`, 'DELETE'), 200);
  await noted(t, request, 'property', [{ key: 'PLAN', value: null }]);
  t.equal(await call(`${path}/property/PLAN`, 'DELETE'), 200);
  t.same(await takeChanges(sql), [], 'neither is a property');
});

t.test('changes of unknown requests and of those of another organization are not noted', async (t) => {
  const [theirs] = await insertRequests(sql, api.other.organizationId, [{}]);
  for (const id of [theirs!.request_id, 'nothing']) {
    t.equal(await call(`/v1/request/${id}/score`, 'POST', { scores: { a: 1 } }), 404);
    t.equal(await call(`/v1/request/${id}/feedback`, 'POST', { rating: true }), 404);
    t.equal(await call(`/v1/request/${id}/property`, 'PUT', { key: 'a', value: 'b' }), 404);
    t.equal(await call(`/v1/request/${id}`, 'DELETE'), 404);
  }
  t.same(await takeChanges(sql), []);
});

t.test('erased requests are noted with the keys that they had', async (t) => {
  const request = await seedOne();
  t.equal(await call(`/v1/request/${request.id}`, 'DELETE'), 200);
  await noted(t, request, 'deleted', null);
  await call(`/v1/request/${request.id}`, 'DELETE');
  t.same(await takeChanges(sql), []);
});

const outcome = (score: number) =>
  nextState(
    {
      outcome: { state: 'completed', score, label: null, reasoning: null, traces: null, flags: [] },
      use: null,
    },
    1,
  );
const failure = (pause: 'auth' | null, retry: 'later' | 'never') =>
  nextState(
    {
      outcome: {
        state: 'failed',
        code: 'judge_unauthorized',
        message: 'no',
        retry,
        retryAfterMs: null,
        pause,
        traces: null,
      },
      use: null,
    },
    1,
  );

/** Schedules an evaluation of a new request, and claims it. */
async function claimed(
  given: { evaluator?: Awaited<ReturnType<typeof world.evaluator>>; probe?: string } = {},
) {
  const evaluator =
    given.evaluator ?? (await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' }));
  const [requestId] = await world.requests(organizationId, 1);
  const [id] = await world.schedule(evaluator, [requestId!], { probe: given.probe ?? '' });
  const job = (await world.claimAll('remote')).find(({ evaluationId }) => evaluationId === id)!;
  const detail = (state: string, score: number | null, isProbe = false) => ({
    evaluation_id: id,
    evaluator_id: evaluator.evaluatorId,
    state,
    score,
    is_probe: isProbe,
  });
  return { evaluator, id: id!, job, request: { id: requestId!, createdAt: job.createdAt }, detail };
}
const settleAs = (job: Job, next: NextState) => settle(sql, job, next, null);

t.test('an evaluation that ends is noted with its score, once, and the score that it wrote', async (t) => {
  const { job, request, detail, evaluator } = await claimed();
  t.equal(await settleAs(job, outcome(0.25)), true);
  const about = { organizationId, requestIds: [request.id], createdAts: [request.createdAt] };
  t.same(await takeChanges(sql), [
    { ...about, kind: 'evaluation', details: [detail('completed', 0.25)] },
    { ...about, kind: 'score', details: [{ key: evaluator.scoreKey, value: 0.25 }] },
  ]);
  t.equal(await settleAs(job, outcome(0.25)), false);
  t.same(await takeChanges(sql), [], 'the same settlement again changes nothing');
});

t.test('a probe that ends is noted as one, without a score of the request', async (t) => {
  const { job, request, detail } = await claimed({ probe: 'repeat' });
  await settleAs(job, outcome(1));
  await noted(t, request, 'evaluation', [detail('completed', 1, true)]);
});

t.test(
  'an evaluation that fails for good is noted, and again when it is reopened or cancelled',
  async (t) => {
    const { job, request, detail, id } = await claimed();
    await settleAs(job, failure(null, 'later'));
    t.same(await takeChanges(sql), [], 'an attempt that will be made again is no outcome');
    await sql`update assay.evaluations set due_at = now() - interval '1 s' where evaluation_id = ${id}`;
    const again = (await world.claimAll('remote')).find(({ evaluationId }) => evaluationId === id)!;
    await settleAs(again, failure(null, 'never'));
    await noted(t, request, 'evaluation', [detail('error', null)]);
    t.equal(await call(`/v1/evaluation/${id}/retry`, 'POST'), 200);
    await noted(t, request, 'evaluation', [detail('pending', null)]);
    t.equal(await call(`/v1/evaluation/${id}/cancel`, 'POST'), 200);
    await noted(t, request, 'evaluation', [detail('cancelled', null)]);
    t.equal(await call(`/v1/evaluation/${id}/cancel`, 'POST'), 409);
    t.same(await takeChanges(sql), []);
  },
);

t.test('a run that is cancelled notes its evaluations, and one that is paused does not', async (t) => {
  const evaluator = await world.evaluator(organizationId);
  const ids = await world.requests(organizationId, 3);
  const [run] = await sql<{ run_id: string }[]>`
    insert into assay.evaluation_runs (organization_id, evaluator_id, version, state, filter, until, created_at, updated_at)
    values (${organizationId}, ${evaluator.evaluatorId}, 1, 'running', '"all"', now(), now(), now()) returning run_id`;
  await world.schedule(evaluator, ids, { runId: run!.run_id, dueInMs: 600_000 });
  t.equal(await call(`/v1/evaluator/${evaluator.evaluatorId}/run/${run!.run_id}/pause`, 'POST'), 200);
  t.same(await takeChanges(sql), []);
  t.equal(await call(`/v1/evaluator/${evaluator.evaluatorId}/run/${run!.run_id}/cancel`, 'POST'), 200);
  const changes = await takeChanges(sql);
  t.same(changes.flatMap(({ requestIds }) => requestIds).sort(), [...ids].sort());
  t.ok(
    changes
      .flatMap(({ details }) => details as { state: string }[])
      .every(({ state }) => state === 'cancelled'),
  );
});

t.test('an evaluator that is paused is told once, however many of its evaluations fail', async (t) => {
  const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN', name: 'Tone 😀' });
  const jobs = [
    (await claimed({ evaluator })).job,
    (await claimed({ evaluator })).job,
    (await claimed({ evaluator })).job,
  ];
  await Promise.all(jobs.map((job) => settleAs(job, failure('auth', 'later'))));
  t.same(await takeChanges(sql), [
    {
      organizationId,
      kind: 'event',
      requestIds: [],
      createdAts: [],
      details: [
        {
          type: 'evaluator.paused',
          evaluator_id: evaluator.evaluatorId,
          name: 'Tone 😀',
          reason: 'auth',
          message: 'no',
        },
      ],
    },
  ]);
});
