/** Evaluations that are claimed, and the states that they are settled with. */
import type { JudgeUse } from '#core/scoring/mod.ts';
import { type Job, LEASE_MS, type NextState, nextState } from '../../../../evaluators/queue/mod.ts';
import type { Evaluator, Scheduled, World } from '../../../support/evaluation-queue.ts';

let calls = 0;

/** Returns the use of one judge call with a new id. */
export function useOf(costNano: number | null): JudgeUse {
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

export const completed = (score: number): NextState =>
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

export const failed = (pause: 'auth' | null = null, attempt = 1): NextState =>
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
export async function claimOne(world: World, given: Partial<Evaluator> & Scheduled = {}) {
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
export async function takeOver(world: World, { evaluationId }: Job): Promise<Job> {
  await world.sql`
    update assay.evaluations set due_at = due_at - ${LEASE_MS + 1} * interval '1 ms' where evaluation_id = ${evaluationId}`;
  const [job] = await world.claimAll('remote');
  return job!;
}

export const pausedReason = async (world: World, { evaluatorId }: Evaluator): Promise<string | null> => {
  const [row] = await world.sql<{ paused_reason: string | null }[]>`
    select paused_reason from assay.evaluators where evaluator_id = ${evaluatorId}`;
  return row!.paused_reason;
};
