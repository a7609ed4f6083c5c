/** Evaluations of pairs in the queue: both answers are claimed, and their score is none of the request. */
import t, { type Test } from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { settle } from '../../../../evaluators/queue/mod.ts';
import { evaluate } from '../../../../evaluators/worker/evaluate.ts';
import type { ScoreJob } from '../../../../evaluators/worker/scorer.ts';
import { erase } from '../../../support/erase.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';
import { completed, takeOver, useOf } from './settle-world.ts';

async function setUp(t: Test) {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const evaluator = await world.evaluator(organizationId, {
    scoringType: 'LLM-PAIRWISE',
    llmTemplate: { model: 'gpt-4o', prompt: 'Which is clearer?' },
  });
  const [baselineId, candidateId] = await world.requests(organizationId, 2);
  await world.sql`
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, baseline_id, baseline_created_at, is_baseline_first,
       lane, priority, due_at, scheduled_at)
    select c.organization_id, ${evaluator.evaluatorId}, 1, c.created_at, c.request_id, b.request_id, b.created_at,
           is_baseline_first, 'remote', 2, now(), now()
      from assay.requests c, assay.requests b, (values (true), (false)) as orders (is_baseline_first)
     where c.request_id = ${candidateId!} and b.request_id = ${baselineId!}`;
  const jobs = (await world.claimAll('remote')).sort(
    (one, other) => Number(other.isBaselineFirst) - Number(one.isBaselineFirst),
  );
  return { world, organizationId, evaluator, baselineId: baselineId!, candidateId: candidateId!, jobs };
}

/** Returns what a scripted scorer is sent for a job, and the state that follows. */
async function evaluateOne(job: Parameters<typeof evaluate>[0][number]) {
  const sent: ScoreJob[] = [];
  const scorer = {
    score: async (given: ScoreJob) => {
      sent.push(given);
      const outcome = {
        state: 'completed',
        score: 1,
        label: 'candidate',
        reasoning: null,
        traces: null,
        flags: [],
      } as const;
      return [{ outcome: { ...outcome, flags: [] }, use: null }];
    },
    close: async () => {},
  };
  const options = { scorer, secrets: createSecretBox([Buffer.alloc(32, 1)]), clock: systemClock };
  const [result] = await evaluate([job], options);
  return { sent, next: result!.next };
}

t.test('a claim brings both answers, and the scorer gets them with their order', async (t) => {
  const { jobs, baselineId, candidateId } = await setUp(t);
  t.match(jobs, [
    { requestId: candidateId, baselineId, isBaselineFirst: true },
    { requestId: candidateId, baselineId, isBaselineFirst: false },
  ]);
  for (const job of jobs) {
    const { sent, next } = await evaluateOne(job);
    t.match(next, { state: 'completed', score: 1, label: 'candidate' });
    t.match(sent[0], {
      definition: { scoringType: 'LLM-PAIRWISE' },
      items: [
        {
          call: { requestId: candidateId, responseText: job.request!.responseText },
          pair: {
            isBaselineFirst: job.isBaselineFirst,
            baseline: { requestId: baselineId, responseText: job.baseline!.responseText },
          },
        },
      ],
    });
    t.not(job.request!.responseText, job.baseline!.responseText);
  }
});

t.test('a judgment of a pair is one outcome in each order, and no score of the request', async (t) => {
  const { world, jobs, evaluator } = await setUp(t);
  const [first, second] = jobs as [(typeof jobs)[0], (typeof jobs)[0]];
  t.equal(await settle(world.sql, first, completed(1), useOf(1_000)), true);
  t.equal(await settle(world.sql, first, completed(0), null), false);
  const other = await takeOver(world, second);
  t.equal(await settle(world.sql, second, completed(0), null), false, 'the lease was lost');
  t.equal(await settle(world.sql, other, completed(0.5), useOf(500)), true);
  t.match(await world.row(first.evaluationId), { state: 'completed', score: 1 });
  t.match(await world.row(second.evaluationId), { state: 'completed', score: 0.5 });
  t.same(await world.scores(), []);
  t.same(await world.spent(), { [evaluator.evaluatorId]: 1_500 });
});

t.test('a pair whose baseline is not kept any more is skipped', async (t) => {
  const { world, jobs, baselineId } = await setUp(t);
  await world.sql`delete from assay.requests where request_id = ${baselineId}`;
  const { sent, next } = await evaluateOne(await takeOver(world, jobs[0]!));
  t.match(next, { state: 'skipped', errorCode: 'request_deleted' });
  t.equal(sent.length, 0);
});

t.test('erasing the baseline erases the judgments that its answer is quoted in', async (t) => {
  const { world, jobs, organizationId, baselineId } = await setUp(t);
  await settle(world.sql, jobs[0]!, completed(1), useOf(1_000));
  await erase(world.sql, organizationId, baselineId);
  const [left] = await world.sql`select count(*)::int4 as count from assay.evaluations`;
  t.equal(left!.count, 0);
  t.equal(
    await settle(world.sql, jobs[1]!, completed(1), null),
    false,
    'the other order is under way, and finds nothing',
  );
});
