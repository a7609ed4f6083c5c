/** Settling an evaluation: everything is written, once, and only by the process that still has the lease. */
import t from 'tap';
import { DEAD, type NextState, postponed, settle, skipped } from '../../../../evaluators/queue/mod.ts';
import { type Scheduled, startWorld } from '../../../support/evaluation-queue.ts';
import { claimOne, completed, failed, pausedReason, takeOver, useOf } from './settle-world.ts';

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
