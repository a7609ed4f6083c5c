/** Evaluations under way when their request is erased, and pages of runs that meet an erasure. */
import t from 'tap';
import { nextState, settle } from '../../../../evaluators/queue/mod.ts';
import { scheduleNextPage } from '../../../../evaluators/worker/runs.ts';
import { waitFor } from '../../../support/assay.ts';
import { erase, eraseIn, waitingForLocks } from '../../../support/erase.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { silentLog } from '../../../support/world.ts';

const world = await startWorld(t);
const { sql } = world;
const pool = world.connect(4);
const organizationId = await world.organization();

const COMPLETED = nextState(
  {
    outcome: { state: 'completed', score: 1, label: null, reasoning: 'because', traces: null, flags: [] },
    use: null,
  },
  1,
);
const USE = {
  calls: 1,
  requestIds: ['judge-call'],
  model: 'gpt-4o',
  promptTokens: 1,
  completionTokens: 1,
  costNano: 7_000,
  latencyMs: 1,
};

/** An evaluation that a process works on. */
async function claimed() {
  const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
  const [requestId] = await world.requests(organizationId, 1);
  await world.schedule(evaluator, [requestId!]);
  const [job] = await world.claimSoon('remote');
  return { evaluator, requestId: requestId!, job: job! };
}

t.test('an evaluation whose request was erased writes no score, and its money is counted', async (t) => {
  const { evaluator, requestId, job } = await claimed();
  await erase(sql, organizationId, requestId);
  t.equal(await settle(pool, job, COMPLETED, USE), false);
  t.same(await world.scores(), []);
  t.equal((await world.spent())[evaluator.evaluatorId], USE.costNano);
  t.same(await sql`select 1 from assay.evaluations`, []);
});

t.test('an evaluation that is settled while its request is being erased writes no score', async (t) => {
  const { requestId, job } = await claimed();
  const erasing = await openTransaction(sql, (tx) => eraseIn(tx, organizationId, [requestId]));
  const settling = settle(pool, job, COMPLETED, null);
  await waitFor('the settling to wait', async () => (await waitingForLocks(sql)) > 0);
  await erasing.end();
  t.equal(await settling, false);
  t.same(await world.scores(), []);
});

t.test('an erasure that begins while an evaluation is being settled erases its score', async (t) => {
  const { requestId, job } = await claimed();
  const settling = await openTransaction(sql, async (tx) => {
    await settle(tx as never, job, COMPLETED, null);
  });
  const erasing = erase(pool, organizationId, requestId);
  await waitFor('the erasure to wait', async () => (await waitingForLocks(sql)) > 0);
  await settling.end();
  t.same(await erasing, { erased: 1, known: 1 });
  t.same(await world.scores(), []);
  t.same(await sql`select 1 from assay.evaluations`, []);
});

t.test('a page of a run that meets an erasure schedules nothing for the erased request', async (t) => {
  const evaluator = await world.evaluator(organizationId);
  const [kept, erased] = await world.requests(organizationId, 2);
  await sql`
    insert into assay.evaluation_runs (organization_id, evaluator_id, version, filter, until, created_at, updated_at)
    values (${organizationId}, ${evaluator.evaluatorId}, 1, '"all"', now(), now(), now())`;
  const erasing = await openTransaction(sql, (tx) => eraseIn(tx, organizationId, [erased!]));
  const scheduling = scheduleNextPage(pool, silentLog);
  await waitFor('the page to wait', async () => (await waitingForLocks(sql)) > 0);
  await erasing.end();
  t.equal(await scheduling, 1);
  t.same(await sql`select request_id from assay.evaluations`, [{ request_id: kept }]);
});
