/** Settling an evaluation: everything is written, once, and only by the process that still has the lease. */
import t from 'tap';
import type { JudgeUse } from '#core/scoring/mod.ts';
import {
  DEAD,
  type Job,
  LEASE_MS,
  type NextState,
  nextState,
  PAUSED,
  postponed,
  settle,
  skipped,
} from '../../../../evaluators/queue/mod.ts';
import { type Evaluator, type Scheduled, startWorld, type World } from '../../../support/evaluation-queue.ts';

t.setTimeout(120_000);

let calls = 0;

/** Returns the use of one judge call with a new id. */
function useOf(costNano: number | null): JudgeUse {
  calls += 1;
  return {
    calls: 1,
    requestIds: [`call-${calls}`],
    model: 'gpt-4o',
    promptTokens: 100,
    completionTokens: 10,
    costNano,
    latencyMs: 12.4,
  };
}

const completed = (score: number): NextState =>
  nextState(
    {
      outcome: {
        state: 'completed',
        score,
        label: null,
        reasoning: 'It is.',
        traces: null,
        flags: ['repaired'],
      },
      use: null,
      warnings: ['inputs.city is missing in this record'],
    },
    1,
  );

const failed = (pause: 'auth' | null = null, attempt = 1): NextState =>
  nextState(
    {
      outcome: {
        state: 'failed',
        code: pause === null ? 'judge_unavailable' : 'judge_unauthorized',
        message: 'The judge said no',
        retry: 'later',
        retryAfterMs: null,
        pause,
        traces: null,
      },
      use: null,
    },
    attempt,
  );

/** Schedules one evaluation by a judge, and claims it. */
async function claimOne(world: World, given: Partial<Evaluator> & Scheduled = {}) {
  const organizationId = given.organizationId ?? (await world.organization());
  const evaluator = {
    ...(await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' })),
    ...given,
  };
  const [requestId] = await world.requests(organizationId, 1);
  const [id] = await world.schedule(evaluator, [requestId!], given);
  const [job] = await world.claimAll('remote');
  return { organizationId, evaluator, requestId: requestId!, id: id!, job: job! };
}

/** Lets the lease of an evaluation expire, and claims it as another process. */
async function takeOver(world: World, { evaluationId }: Job): Promise<Job> {
  await world.sql`
    update assay.evaluations set due_at = due_at - ${LEASE_MS + 1} * interval '1 ms' where evaluation_id = ${evaluationId}`;
  const [job] = await world.claimAll('remote');
  return job!;
}

const pausedReason = async (world: World, { evaluatorId }: Evaluator): Promise<string | null> => {
  const [row] = await world.sql<{ paused_reason: string | null }[]>`
    select paused_reason from assay.evaluators where evaluator_id = ${evaluatorId}`;
  return row!.paused_reason;
};

t.test('settling writes the state, the score and the cost together', async (t) => {
  const world = await startWorld(t);
  const { evaluator, requestId, id, job, organizationId } = await claimOne(world);
  const use = useOf(1_500);
  t.equal(await settle(world.sql, job, completed(0.7), use), true);
  t.match(await world.row(id), {
    state: 'completed',
    score: 0.7,
    reasoning: 'It is.',
    flags: ['repaired'],
    warnings: ['inputs.city is missing in this record'],
    attempts: 1,
    error_code: null,
    finished_at: Date,
    judge_calls: 1,
    judge_request_ids: use.requestIds,
    judge_model: 'gpt-4o',
    prompt_tokens: '100',
    completion_tokens: '10',
    cost_nano: '1500',
    judge_latency_ms: '12',
  });
  t.same(await world.scores(), [
    {
      organization_id: organizationId,
      request_id: requestId,
      key: evaluator.scoreKey,
      value: 0.7,
      evaluator_id: evaluator.evaluatorId,
      evaluator_version: 1,
    },
  ]);
  t.same(await world.spent(), { [evaluator.evaluatorId]: 1_500 });
});

t.test('settling writes nothing if the score cannot be written', async (t) => {
  const world = await startWorld(t);
  const { id, job } = await claimOne(world);
  await world.sql`alter table assay.request_scores add constraint unlucky check (value <> 13)`;
  await t.rejects(settle(world.sql, job, completed(13), useOf(1_500)), /unlucky/);
  t.match(await world.row(id), {
    state: 'running',
    score: null,
    cost_nano: null,
    judge_calls: 0,
    finished_at: null,
  });
  t.same([await world.scores(), await world.spent()], [[], {}]);
  t.equal(
    await settle(world.sql, job, completed(14), useOf(1_500)),
    true,
    'the evaluation can still be settled',
  );
});

t.test('only a completed evaluation that is no probe writes a score', async (t) => {
  const world = await startWorld(t);
  const cases: [NextState, Scheduled][] = [
    [skipped('upstream_error', 'There is no answer'), {}],
    [failed(), {}],
    [failed(null, 5), {}],
    [failed('auth'), {}],
    [DEAD, {}],
    [postponed(1_000), {}],
    [completed(1), { probe: 'repeat' }],
  ];
  for (const [next, given] of cases) {
    const { id, job } = await claimOne(world, given);
    t.equal(await settle(world.sql, job, next, null), true);
    const row = await world.row(id);
    t.same([row.state, row.score], [next.state, next.score]);
    t.equal(
      row.finished_at === null,
      ['pending', 'paused'].includes(next.state),
      'finished_at is set in final states only',
    );
  }
  t.same(await world.scores(), []);
});

t.test('a retry is due after its delay, and a postponed evaluation does not count an attempt', async (t) => {
  const world = await startWorld(t);
  for (const [next, attempts] of [
    [failed(), 1],
    [postponed(7_200_000), 0],
  ] as const) {
    const { id, job } = await claimOne(world);
    await settle(world.sql, job, next, null);
    const [row] = await world.sql<{ wait: number; attempts: number }[]>`
      select extract(epoch from due_at - now())::float8 * 1000 as wait, attempts
        from assay.evaluations where evaluation_id = ${id}`;
    t.ok(
      row!.wait > next.dueInMs - 5_000 && row!.wait <= next.dueInMs,
      `${row!.wait} of ${next.dueInMs} ms are left`,
    );
    t.equal(row!.attempts, attempts);
  }
});

t.test('a process that lost its lease changes nothing but the spending', async (t) => {
  const world = await startWorld(t);
  const { evaluator, id, job: lost } = await claimOne(world);
  const job = await takeOver(world, lost);
  t.equal(await settle(world.sql, lost, completed(0.1), useOf(1_000)), false);
  t.match(await world.row(id), { state: 'running', score: null, finished_at: null });
  t.same(await world.scores(), [], 'no score while the other process works on it');
  t.equal(await settle(world.sql, job, completed(0.9), useOf(200)), true);
  t.equal(await settle(world.sql, lost, failed('auth'), useOf(30)), false);
  t.equal(await settle(world.sql, lost, failed(), useOf(4)), false);
  t.equal(await settle(world.sql, lost, completed(0.2), null), false);
  t.match(await world.row(id), {
    state: 'completed',
    score: 0.9,
    error_code: null,
    judge_calls: 4,
    cost_nano: '1234',
  });
  t.match(await world.scores(), [{ value: 0.9 }], 'the score of the process with the lease stays');
  t.same(await world.spent(), { [evaluator.evaluatorId]: 1_234 });
  t.equal(await pausedReason(world, evaluator), null);
});

t.test('settling twice, because the first response was lost, adds nothing', async (t) => {
  const world = await startWorld(t);
  for (const next of [completed(0.5), failed(), failed('auth')]) {
    const { evaluator, id, job } = await claimOne(world);
    const use = useOf(1_500);
    await settle(world.sql, job, next, use);
    await settle(world.sql, job, next, use);
    t.match(await world.row(id), {
      state: next.state,
      judge_calls: 1,
      judge_request_ids: use.requestIds,
      cost_nano: '1500',
      prompt_tokens: '100',
      completion_tokens: '10',
      judge_latency_ms: '12',
    });
    t.equal((await world.spent())[evaluator.evaluatorId], 1_500);
  }
});

t.test('exactly one of many concurrent settlements of one claim takes effect', async (t) => {
  const world = await startWorld(t);
  const { evaluator, id, job } = await claimOne(world);
  const processes = Array.from({ length: 8 }, () => world.connect(1));
  const settled = await Promise.all(
    processes.map((sql, index) => settle(sql, job, completed(index), useOf(10))),
  );
  t.equal(settled.filter(Boolean).length, 1);
  const winner = settled.indexOf(true);
  t.match(await world.row(id), { state: 'completed', score: winner, judge_calls: 8 });
  t.match(await world.scores(), [{ value: winner }]);
  t.same(await world.spent(), { [evaluator.evaluatorId]: 80 }, 'each settlement adds the cost of its call');
});

t.test('the cost of judge calls adds up by evaluator, and unknown costs add nothing', async (t) => {
  const world = await startWorld(t);
  const first = await claimOne(world);
  const { organizationId } = first;
  const second = await claimOne(world, { organizationId });
  await settle(world.sql, first.job, failed(), useOf(100));
  await world.sql`update assay.evaluations set due_at = now() - interval '1 s' where evaluation_id = ${first.id}`;
  const [again] = await world.claimAll('remote');
  await settle(world.sql, again!, completed(1), useOf(23));
  await settle(world.sql, second.job, completed(1), useOf(null));
  t.match(await world.row(first.id), { attempts: 2, judge_calls: 2, cost_nano: '123', prompt_tokens: '200' });
  t.match(await world.row(second.id), { judge_calls: 1, cost_nano: null });
  t.same(await world.spent(), { [first.evaluator.evaluatorId]: 123 });
  const [row] = await world.sql`
    select day = (now() at time zone 'UTC')::date as today, organization_id from assay.evaluation_spend`;
  t.same(row, { today: true, organization_id: organizationId });
});

t.test("an evaluator's score replaces a person's, and a person's replaces the evaluator's", async (t) => {
  const world = await startWorld(t);
  const { evaluator, requestId, job } = await claimOne(world);
  const byPerson = (value: number) => world.sql`
    insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
    select organization_id, created_at, request_id, ${evaluator.scoreKey}, ${value}, now()
      from assay.requests where request_id = ${requestId}
    on conflict (organization_id, created_at, request_id, key)
      do update set value = excluded.value, evaluator_id = null, evaluator_version = null`;
  await byPerson(3);
  await settle(world.sql, job, completed(5), null);
  t.match(await world.scores(), [{ value: 5, evaluator_id: evaluator.evaluatorId, evaluator_version: 1 }]);
  await byPerson(4);
  t.equal(await settle(world.sql, job, completed(5), null), false);
  t.match(await world.scores(), [{ value: 4, evaluator_id: null }]);
});

t.test(
  'the score of the latest version of an evaluator wins, in whatever order versions settle',
  async (t) => {
    const world = await startWorld(t);
    const organizationId = await world.organization();
    const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN', version: 3 });
    const [requestId] = await world.requests(organizationId, 1);
    for (const version of [1, 2, 3]) await world.schedule({ ...evaluator, version }, [requestId!]);
    const jobs = new Map((await world.claimAll('remote')).map((job) => [job.evaluator.version, job]));
    for (const version of [2, 1, 3]) await settle(world.sql, jobs.get(version)!, completed(version), null);
    t.match(await world.scores(), [{ value: 3, evaluator_version: 3 }]);
    const [requestOfOld] = await world.requests(organizationId, 1);
    for (const version of [3, 1]) await world.schedule({ ...evaluator, version }, [requestOfOld!]);
    const more = (await world.claimAll('remote')).sort((a, b) => b.evaluator.version - a.evaluator.version);
    for (const job of more) await settle(world.sql, job, completed(job.evaluator.version), null);
    t.match(await world.scores(), [{ value: 3 }, { value: 3 }]);
  },
);

t.test('an evaluator with the name of a deleted one overwrites its scores', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const given = { name: 'Polite', scoringType: 'LLM-BOOLEAN' } as const;
  const old = await world.evaluator(organizationId, { ...given, version: 7 });
  const [requestId] = await world.requests(organizationId, 1);
  await world.schedule(old, [requestId!]);
  await settle(world.sql, (await world.claimAll('remote'))[0]!, completed(0), null);
  await world.sql`update assay.evaluators set deleted_at = now()`;
  const young = await world.evaluator(organizationId, given);
  await world.schedule(young, [requestId!]);
  await settle(world.sql, (await world.claimAll('remote'))[0]!, completed(1), null);
  t.match(await world.scores(), [
    { key: 'polite', value: 1, evaluator_id: young.evaluatorId, evaluator_version: 1 },
  ]);
});

t.test('an evaluation whose request was deleted meanwhile finishes without a score', async (t) => {
  const world = await startWorld(t);
  const { id, job, evaluator } = await claimOne(world);
  await world.sql`delete from assay.requests`;
  t.equal(await settle(world.sql, job, completed(1), useOf(7)), true);
  t.match(await world.row(id), { state: 'completed', cost_nano: '7' });
  t.same(await world.scores(), []);
  t.same(await world.spent(), { [evaluator.evaluatorId]: 7 });
});

t.test('the cost of an evaluation that was deleted meanwhile is kept', async (t) => {
  const world = await startWorld(t);
  const { job, evaluator } = await claimOne(world);
  await world.sql`delete from assay.evaluations`;
  t.equal(await settle(world.sql, job, completed(1), useOf(7)), false);
  t.same(await world.scores(), []);
  t.same(await world.spent(), { [evaluator.evaluatorId]: 7 });
});

t.test('an evaluation under way finishes after its evaluator was deleted', async (t) => {
  const world = await startWorld(t);
  const { job, id } = await claimOne(world);
  await world.sql`update assay.evaluators set deleted_at = now()`;
  t.equal(await settle(world.sql, job, completed(1), useOf(7)), true);
  t.match(await world.row(id), { state: 'completed', score: 1 });
});

t.test('settling never touches a request of another organization with the same id', async (t) => {
  const world = await startWorld(t);
  const { job, requestId, organizationId, evaluator } = await claimOne(world);
  const other = await world.organization();
  await world.sql`
    insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status,
      properties_folded, is_stream, truncated)
    select ${other}, created_at, request_id, source, path, provider, model, status, '{}', false, false
      from assay.requests`;
  const theirs = await world.evaluator(other, { scoringType: 'LLM-BOOLEAN' });
  const [theirId] = await world.schedule(theirs, [requestId]);
  await settle(world.sql, job, completed(1), useOf(5));
  t.match(await world.scores(), [{ organization_id: organizationId }]);
  t.equal((await world.scores()).length, 1);
  t.match(await world.row(theirId!), { state: 'pending', score: null, judge_calls: 0 });
  const spend = await world.sql`select organization_id, evaluator_id from assay.evaluation_spend`;
  t.same([...spend], [{ organization_id: organizationId, evaluator_id: evaluator.evaluatorId }]);
});

t.test('a failure that pauses the evaluator writes the reason, and its other evaluations wait', async (t) => {
  const world = await startWorld(t);
  const { evaluator, id, job, organizationId } = await claimOne(world);
  const sibling = await claimOne(world, { ...evaluator });
  const stranger = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
  await settle(world.sql, job, failed('auth'), null);
  const [row] = await world.sql`
    select paused_reason, paused_message from assay.evaluators where evaluator_id = ${evaluator.evaluatorId}`;
  t.same(row, { paused_reason: 'auth', paused_message: 'The judge said no' });
  t.equal(await pausedReason(world, stranger), null);
  t.match(await world.row(id), { state: 'paused', error_code: 'judge_unauthorized', attempts: 1 });
  await settle(world.sql, sibling.job, PAUSED, null);
  t.match(await world.row(sibling.id), { state: 'paused', attempts: 0 });
});

/** Resumes an evaluator as the API does. */
async function resume(world: World, { evaluatorId }: Evaluator): Promise<void> {
  await world.sql`
    update assay.evaluators set paused_reason = null, paused_message = null, resumes = resumes + 1
     where evaluator_id = ${evaluatorId}`;
  await world.sql`
    update assay.evaluations set state = 'pending', due_at = now() - interval '1 ms'
     where evaluator_id = ${evaluatorId} and state = 'paused'`;
}

t.test(
  'an evaluation claimed while its evaluator was paused becomes pending if the evaluator was resumed since',
  async (t) => {
    const world = await startWorld(t);
    const { evaluator, id, job } = await claimOne(world);
    await world.sql`update assay.evaluators set paused_reason = 'auth'`;
    const claimedWhilePaused = await takeOver(world, job);
    t.equal(claimedWhilePaused.evaluator.isPaused, true);
    await resume(world, evaluator);
    await settle(world.sql, claimedWhilePaused, PAUSED, null);
    t.match(await world.row(id), { state: 'pending' });
    t.match(await world.claimSoon('remote'), [{ evaluationId: id, evaluator: { isPaused: false } }]);
  },
);

t.test('a failure claimed before an evaluator was resumed does not pause it again', async (t) => {
  const world = await startWorld(t);
  const { evaluator, id, job } = await claimOne(world);
  await world.sql`update assay.evaluators set paused_reason = 'auth'`;
  await resume(world, evaluator);
  await settle(world.sql, job, failed('auth'), null);
  t.equal(await pausedReason(world, evaluator), null);
  t.match(await world.row(id), { state: 'pending', error_code: 'judge_unauthorized' });
  const [again] = await world.claimSoon('remote');
  await settle(world.sql, again!, failed('auth'), null);
  t.equal(await pausedReason(world, evaluator), 'auth', 'a failure claimed after the resume pauses it');
  t.match(await world.row(id), { state: 'paused' });
});

t.test('a retry follows its run: it is paused or cancelled with it', async (t) => {
  const world = await startWorld(t);
  for (const [state, expected] of [
    ['running', 'pending'],
    ['scheduled', 'pending'],
    ['paused', 'paused'],
    ['cancelled', 'cancelled'],
  ] as const) {
    const organizationId = await world.organization();
    const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
    const [run] = await world.sql<{ run_id: string }[]>`
      insert into assay.evaluation_runs (organization_id, evaluator_id, version, filter, until, created_at, updated_at)
      values (${organizationId}, ${evaluator.evaluatorId}, 1, '"all"', now(), now(), now()) returning run_id`;
    const { id, job } = await claimOne(world, { ...evaluator, runId: run!.run_id });
    await world.sql`update assay.evaluation_runs set state = ${state} where run_id = ${run!.run_id}`;
    await settle(world.sql, job, failed(), null);
    const row = await world.row(id);
    t.equal(row.state, expected, `retry of a ${state} run`);
    t.equal(row.finished_at !== null, expected === 'cancelled');

    const done = await claimOne(world, { ...evaluator, runId: run!.run_id });
    await settle(world.sql, done.job, completed(1), null);
    t.match(await world.row(done.id), { state: 'completed' }, 'a completed evaluation stays completed');
  }
});
