/** Failures that pause an evaluator, and retries of runs that are paused or cancelled. */
import t from 'tap';
import { PAUSED, settle } from '../../../../evaluators/queue/mod.ts';
import { type Evaluator, startWorld, type World } from '../../../support/evaluation-queue.ts';
import { claimOne, completed, failed, pausedReason, takeOver } from './settle-world.ts';

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

t.test(
  'a failure leaves an evaluator paused because of its filter, so that ingest does not apply it',
  async (t) => {
    const world = await startWorld(t);
    const { evaluator, id, job } = await claimOne(world);
    await world.sql`update assay.evaluators set paused_reason = 'filter', paused_message = 'Too slow'`;
    await settle(world.sql, job, failed('auth'), null);
    t.equal(await pausedReason(world, evaluator), 'filter');
    t.match(await world.row(id), { state: 'paused', error_code: 'judge_unauthorized' });
  },
);

t.test('an evaluation that was reopened after its run was cancelled keeps its attempts', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
  const [run] = await world.sql<{ run_id: string }[]>`
    insert into assay.evaluation_runs
      (organization_id, evaluator_id, version, filter, state, until, created_at, updated_at)
    values (${organizationId}, ${evaluator.evaluatorId}, 1, '"all"', 'cancelled', now(), now(), now()) returning run_id`;
  const { id, job } = await claimOne(world, { ...evaluator, runId: run!.run_id });
  await settle(world.sql, job, failed(), null);
  t.match(await world.row(id), { state: 'pending', attempts: 1, finished_at: null });
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
