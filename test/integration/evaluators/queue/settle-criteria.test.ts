/** The criteria of a rubric are settled with its evaluation: each once, and each as an evaluation of its own evaluator. */
import t, { type Test } from 'tap';
import type { CriterionOutcome } from '#core/scoring/mod.ts';
import { nextState, settle } from '../../../../evaluators/queue/mod.ts';
import { type Evaluator, startWorld, type World } from '../../../support/evaluation-queue.ts';
import { takeOver, useOf } from './settle-world.ts';

const PROMPT = { model: 'gpt-4o', prompt: 'Is it good?' };

async function setUp(t: Test) {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const given = { scoringType: 'LLM-BOOLEAN', llmTemplate: PROMPT } as const;
  const first = await world.evaluator(organizationId, given);
  const second = await world.evaluator(organizationId, { ...given, version: 2 });
  const criteria = [
    { id: first.evaluatorId, version: 1 },
    { id: second.evaluatorId, version: 1 },
  ];
  const rubric = await world.evaluator(organizationId, {
    scoringType: 'LLM-RUBRIC',
    llmTemplate: { ...PROMPT, criteria },
  });
  const [requestId] = await world.requests(organizationId, 1);
  const [id] = await world.schedule(rubric, [requestId!]);
  const [job] = await world.claimAll('remote');
  return { world, organizationId, first, second, rubric, requestId: requestId!, id: id!, job: job! };
}

const outcomes = (first: Evaluator, second: Evaluator): CriterionOutcome[] => [
  {
    evaluatorId: first.evaluatorId,
    version: 1,
    outcome: { state: 'completed', score: 1, label: null, reasoning: 'It is.' },
  },
  {
    evaluatorId: second.evaluatorId,
    version: 1,
    outcome: { state: 'error', code: 'judge_malformed', message: 'No verdict' },
  },
];

const settled = (criteria: CriterionOutcome[]) =>
  nextState(
    {
      outcome: {
        state: 'completed',
        score: null,
        label: null,
        reasoning: null,
        traces: null,
        flags: ['repaired'],
      },
      use: null,
      criteria,
    },
    1,
  );

const rowsOf = async (world: World) => [
  ...(await world.sql`
    select evaluator_id, version, state, score, reasoning, error_code, flags, rubric_id::text as rubric_id, judge_calls,
           cost_nano, finished_at is not null as is_finished
      from assay.evaluations where rubric_id is not null order by evaluation_id`),
];

t.test('a claimed rubric has its criteria in their versions, without those that were deleted', async (t) => {
  const { world, first, second, job } = await setUp(t);
  t.match(job.evaluator.criteria, [
    { evaluatorId: first.evaluatorId, version: 1, scoringType: 'LLM-BOOLEAN', template: PROMPT },
    { evaluatorId: second.evaluatorId, version: 1, template: PROMPT },
  ]);
  await world.sql`update assay.evaluators set deleted_at = now() where evaluator_id = ${first.evaluatorId}`;
  const again = await takeOver(world, job);
  t.match(again.evaluator.criteria, [{ evaluatorId: second.evaluatorId }]);
  t.equal(again.evaluator.criteria?.length, 1);
});

t.test('each criterion gets its outcome, and only a score is one', async (t) => {
  const { world, first, second, rubric, requestId, id, job } = await setUp(t);
  const use = useOf(1_500);
  t.equal(await settle(world.sql, job, settled(outcomes(first, second)), use), true);
  const shared = {
    version: 1,
    flags: ['repaired'],
    rubric_id: id,
    judge_calls: 0,
    cost_nano: null,
    is_finished: true,
  };
  t.same(await rowsOf(world), [
    {
      ...shared,
      evaluator_id: first.evaluatorId,
      state: 'completed',
      score: 1,
      reasoning: 'It is.',
      error_code: null,
    },
    {
      ...shared,
      evaluator_id: second.evaluatorId,
      state: 'error',
      score: null,
      reasoning: null,
      error_code: 'judge_malformed',
    },
  ]);
  t.match(await world.row(id), { state: 'completed', score: null, judge_request_ids: use.requestIds });
  const scores = await world.scores();
  t.equal(scores.length, 1, 'neither the rubric nor an error has a score');
  t.match(scores, [{ request_id: requestId, key: first.scoreKey, value: 1, evaluator_version: 1 }]);
  t.same(await world.spent(), { [rubric.evaluatorId]: 1_500 }, 'the call is paid for once');
  const changes = await world.sql`
    select details -> 0 ->> 'evaluator_id' as evaluator, details -> 0 ->> 'state' as state
      from assay.changes where kind = 'evaluation' order by 1, 2`;
  t.equal(changes.length, 3, 'the feed has the rubric and both criteria');
});

t.test('settling again, and by a process that lost the lease, adds nothing', async (t) => {
  const { world, first, second, job } = await setUp(t);
  const other = await takeOver(world, job);
  t.equal(await settle(world.sql, job, settled(outcomes(first, second)), null), false);
  t.same(await rowsOf(world), []);
  t.equal(await settle(world.sql, other, settled(outcomes(first, second)), null), true);
  t.equal(await settle(world.sql, other, settled(outcomes(first, second)), null), false);
  t.equal((await rowsOf(world)).length, 2);
});

t.test('a criterion that has evaluated the request alone keeps that evaluation', async (t) => {
  const { world, first, second, requestId, job } = await setUp(t);
  const [alone] = await world.schedule({ ...first, version: 1 }, [requestId]);
  await settle(world.sql, job, settled(outcomes(first, second)), null);
  t.equal((await rowsOf(world)).length, 1);
  t.match(await world.row(alone!), { state: 'pending', score: null });
});

t.test('a rubric whose request was erased leaves nothing of its criteria', async (t) => {
  const { world, first, second, id, job } = await setUp(t);
  await world.sql`delete from assay.evaluations where evaluation_id = ${id}`;
  t.equal(await settle(world.sql, job, settled(outcomes(first, second)), null), false);
  t.same(await rowsOf(world), []);
});
