/** Evaluations that nobody can score now are set aside together, and those of other evaluators come up. */
import t from 'tap';
import { PAUSED, postponed, settle } from '../../../../evaluators/queue/mod.ts';
import { type Evaluator, startWorld, type World } from '../../../support/evaluation-queue.ts';
import { claimOne, failed } from './settle-world.ts';

/** Counts the evaluations of an evaluator by state, error code and whether they are due. */
async function countsOf(world: World, { evaluatorId }: Evaluator) {
  const rows = await world.sql<{ what: string; count: number }[]>`
    select concat_ws(' ', state, error_code, case when due_at > now() then 'later' end) as what, count(*)::int4
      from assay.evaluations where evaluator_id = ${evaluatorId} group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ what, count }) => [what, count]));
}

async function runOf(world: World, { organizationId, evaluatorId }: Evaluator): Promise<string> {
  const [run] = await world.sql<{ run_id: string }[]>`
    insert into assay.evaluation_runs (organization_id, evaluator_id, version, filter, until, created_at, updated_at)
    values (${organizationId}, ${evaluatorId}, 1, '"all"', now(), now(), now()) returning run_id`;
  return run!.run_id;
}

t.test(
  'a paused evaluator has a thousand of what waits paused with each evaluation that is claimed, of the same run alone',
  async (t) => {
    const world = await startWorld(t);
    const { evaluator, job, organizationId } = await claimOne(world);
    const sibling = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
    const stranger = await world.evaluator(await world.organization(), { scoringType: 'LLM-BOOLEAN' });
    await world.scheduleMany(evaluator, 999, { dueInMs: -60_000 });
    await world.scheduleMany(sibling, 1, { dueInMs: -50_000 });
    await world.scheduleMany(evaluator, 3, { dueInMs: -40_000 });
    await world.scheduleMany(evaluator, 4, { dueInMs: 60_000 });
    await world.scheduleMany(evaluator, 2, {
      dueInMs: -90_000,
      priority: 2,
      runId: await runOf(world, evaluator),
    });
    await world.scheduleMany(stranger, 2);
    await world.sql`update assay.evaluators set paused_reason = 'auth' where evaluator_id = ${evaluator.evaluatorId}`;
    t.equal(await settle(world.sql, job, PAUSED, null), true);
    t.same(await countsOf(world, evaluator), { paused: 1_000, pending: 5, 'pending later': 4 });
    t.same(await countsOf(world, sibling), { pending: 1 });
    t.same(await countsOf(world, stranger), { pending: 2 });
    const [next] = await world.claimAll('remote', 1);
    t.ok([sibling, stranger].some(({ evaluatorId }) => evaluatorId === next?.evaluator.id));
    const [row] = await world.sql`
      select max(attempts) as attempts from assay.evaluations where state = 'paused'`;
    t.same(row, { attempts: 0 });
  },
);

t.test('what waits is paused with the evaluation whose failure pauses its evaluator', async (t) => {
  const world = await startWorld(t);
  const { evaluator, job } = await claimOne(world);
  await world.scheduleMany(evaluator, 20);
  await settle(world.sql, job, failed('auth'), null);
  t.same(await countsOf(world, evaluator), { 'paused judge_unauthorized': 1, paused: 20 });
});

t.test('a failure that is tried again sets nothing else aside', async (t) => {
  const world = await startWorld(t);
  const { evaluator, job } = await claimOne(world);
  await world.scheduleMany(evaluator, 20);
  await settle(world.sql, job, failed(), null);
  t.same(await countsOf(world, evaluator), { pending: 20, 'pending judge_unavailable later': 1 });
});

t.test('what waits is postponed together where the budget of the day is spent', async (t) => {
  const world = await startWorld(t);
  const { evaluator, job } = await claimOne(world);
  await world.scheduleMany(evaluator, 20);
  await settle(world.sql, job, postponed(3_600_000), null);
  t.same(await countsOf(world, evaluator), { 'pending budget_exhausted later': 21 });
});

t.test('nothing is postponed where a budget was changed since the claim', async (t) => {
  for (const change of ['evaluator', 'organization']) {
    const world = await startWorld(t);
    const { evaluator, job } = await claimOne(world);
    await world.scheduleMany(evaluator, 20);
    if (change === 'evaluator') await world.sql`update assay.evaluators set daily_budget_nano = 5`;
    else await world.sql`update assay.organizations set evaluation_budget_nano = 5`;
    await settle(world.sql, job, postponed(3_600_000), null);
    t.same(await countsOf(world, evaluator), { pending: 20, 'pending budget_exhausted': 1 }, change);
  }
});

t.test('a process that lost its lease sets nothing aside', async (t) => {
  const world = await startWorld(t);
  const { evaluator, job } = await claimOne(world);
  await world.scheduleMany(evaluator, 20);
  await world.sql`update assay.evaluations set claims = claims + 1 where state = 'running'`;
  t.equal(await settle(world.sql, job, failed('auth'), null), false);
  t.same(await countsOf(world, evaluator), { pending: 20, 'running later': 1 });
});
