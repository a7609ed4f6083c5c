/** Evaluations that wait for the budget of the next day, once the budget is changed. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { setEvaluationBudget } from '#platform/keys/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { type Job, settle } from '../../../../evaluators/queue/mod.ts';
import { evaluate } from '../../../../evaluators/worker/evaluate.ts';
import { type Evaluator, worldIn } from '../../../support/evaluation-queue.ts';
import { BOOLEAN, startEvaluatorApi } from '../../../support/evaluators-process.ts';

const api = await startEvaluatorApi(t);
const world = await worldIn(t, api.database);
const { sql } = world;
const { organizationId } = api.own;

/** Schedules an evaluation by a judge whose budget of the day is nothing, and claims it. */
async function claimed(budget: number | null): Promise<{ evaluatorId: string; job: Job; path: string }> {
  const body = { name: randomUUID(), ...BOOLEAN, daily_budget_usd: budget };
  const { id: evaluatorId } = await api.make('/v1/evaluator', body);
  const evaluator = {
    organizationId,
    evaluatorId,
    version: 1,
    scoringType: 'LLM-BOOLEAN',
    scoreKey: '',
  } as Evaluator;
  const [requestId] = await world.requests(organizationId, 1);
  await world.schedule(evaluator, [requestId!]);
  const jobs = await world.claimAll('remote');
  const job = jobs.find((one) => one.evaluator.id === evaluatorId)!;
  return { evaluatorId, job, path: `/v1/evaluator/${evaluatorId}` };
}

/** Settles a job as a worker does that finds its budget spent. */
async function postpone(job: Job): Promise<void> {
  const options = { scorer: null as never, secrets: createSecretBox([]), clock: systemClock };
  const [result] = await evaluate([job], options);
  await settle(sql, job, result!.next, result!.use);
}

/** Returns whether the one evaluation of an evaluator is due. */
async function isDue(t: Test, evaluatorId: string): Promise<boolean> {
  const [row] = await sql<{ state: string; error_code: string; is_due: boolean }[]>`
    select state, error_code, due_at <= now() as is_due from assay.evaluations where evaluator_id = ${evaluatorId}`;
  t.match(row, { state: 'pending', error_code: 'budget_exhausted' });
  return row!.is_due;
}

t.test('another budget of the evaluator makes what waits for the next day due', async (t) => {
  const { evaluatorId, job, path } = await claimed(0);
  await postpone(job);
  t.equal(await isDue(t, evaluatorId), false);
  await api.call(path, { method: 'PUT', body: { name: randomUUID() } });
  t.equal(await isDue(t, evaluatorId), false, 'another change leaves it');
  await api.call(path, { method: 'PUT', body: { daily_budget_usd: 5 } });
  t.equal(await isDue(t, evaluatorId), true);
});

t.test('so does another budget of the organization, for this organization alone', async (t) => {
  await setEvaluationBudget(sql, 'own', 0);
  const { evaluatorId, job } = await claimed(null);
  await postpone(job);
  await setEvaluationBudget(sql, 'other', 5_000_000_000);
  t.equal(await isDue(t, evaluatorId), false);
  await setEvaluationBudget(sql, 'own', null);
  t.equal(await isDue(t, evaluatorId), true);
});

t.test('a budget that is changed between the claim and its end counts', async (t) => {
  const { evaluatorId, job, path } = await claimed(0);
  await api.call(path, { method: 'PUT', body: { daily_budget_usd: null } });
  await postpone(job);
  t.equal(await isDue(t, evaluatorId), true);
});

t.test('what waits for the next day ends at once when its evaluator is deleted', async (t) => {
  const { evaluatorId, job, path } = await claimed(0);
  await postpone(job);
  await api.call(path, { method: 'DELETE' });
  t.match(await sql`select state, error_code from assay.evaluations where evaluator_id = ${evaluatorId}`, [
    { state: 'skipped', error_code: 'evaluator_deleted' },
  ]);
});
