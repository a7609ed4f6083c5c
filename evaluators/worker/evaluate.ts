/** Evaluates claimed evaluations: decides those that need no scoring, and has the others scored. */

import { isImported } from '#core/evaluations/mod.ts';
import type { JudgeUse, StoredRecord } from '#core/scoring/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { SecretBox } from '#platform/secrets/mod.ts';
import {
  DEAD,
  failed,
  type Job,
  type JobRequest,
  MAX_ATTEMPTS,
  MAX_BODY_BYTES,
  type NextState,
  nextState,
  PAUSED,
  postponed,
  skipped,
} from '../queue/mod.ts';
import { completeBatch, done, open } from './batch.ts';
import { readDefinition } from './definition.ts';
import type { ScoreItem, Scorer } from './scorer.ts';

type EvaluateOptions = { scorer: Scorer; secrets: SecretBox; clock: Clock };

export type EvaluationResult = { next: NextState; use: JudgeUse | null };

const DAY_MS = 86_400_000;

/**
 * Evaluates a group made by `groupJobs`. Never rejects.
 * @returns one result for each job, in order
 */
export async function evaluate(jobs: readonly Job[], options: EvaluateOptions): Promise<EvaluationResult[]> {
  const batch = jobs.map((job) => {
    const next = decideWithoutScoring(job, options.clock);
    return next === null ? open(job) : done({ next, use: null });
  });
  return await completeBatch(batch, (openJobs) => score(openJobs, options));
}

async function score(jobs: Job[], { scorer, secrets }: EvaluateOptions): Promise<EvaluationResult[]> {
  const { evaluator, organizationId } = jobs[0]!;
  const read = readDefinition(evaluator, secrets, { organizationId, evaluatorId: evaluator.id });
  if (read.kind === 'unreadable') return jobs.map(() => ({ next: read.next, use: null }));
  const scored = await scorer.score({
    organizationId,
    evaluator: { id: evaluator.id, version: evaluator.version, name: evaluator.name },
    definition: read.definition,
    items: jobs.map(itemOf),
  });
  return scored.map((one, index) => ({ next: nextState(one, jobs[index]!.attempt), use: one.use }));
}

function itemOf({ evaluationId, requestId, request, session, probe, members, ...job }: Job): ScoreItem {
  const call = callOf(requestId, request!);
  const item = {
    evaluationId,
    call: session === null ? call : { ...call, session },
    probe,
    earlier: members ?? [],
  };
  if (job.baseline === null) return item;
  const { baselineId, baseline, isBaselineFirst } = job;
  return { ...item, pair: { baseline: callOf(baselineId, baseline), isBaselineFirst } };
}

function callOf(requestId: string, { requestText, responseText, ...rest }: JobRequest): StoredRecord {
  // Bodies of a session that are too large are left out.
  return { ...rest, requestId, requestText: requestText ?? 'null', responseText: responseText ?? 'null' };
}

/** Returns the next state of an evaluation that is not to be scored now; null if it is. */
function decideWithoutScoring(
  { attempt, evaluator, request, session, baselineId, baseline, isRunOverBudget }: Job,
  clock: Clock,
): NextState | null {
  if (evaluator.isDeleted || evaluator.criteria?.length === 0) {
    const what = evaluator.isDeleted ? 'The evaluator was' : 'All criteria of the rubric were';
    return skipped('evaluator_deleted', `${what} deleted`);
  }
  if (request === null || (baselineId !== '' && baseline === null))
    return skipped('request_deleted', 'The request is not kept any more');
  // Such evaluations are never scheduled. If one ever were, it would end here instead of in an endless loop.
  if (request.source === 'evaluator')
    return skipped('evaluator_call', 'Calls of evaluators are not evaluated');
  // An older process may have scheduled one that this version never schedules.
  if (isImported((evaluator.externalConfig as { adapter: string } | null)?.adapter))
    return skipped('evaluator_imported', 'The judgments of this evaluator are imported');
  if (isRunOverBudget) return skipped('run_budget_spent', 'Its run has spent what it may cost');
  if (attempt > MAX_ATTEMPTS) return DEAD;
  if (evaluator.isPaused) return PAUSED;
  if (evaluator.isOverBudget) return postponed(DAY_MS - (clock.now() % DAY_MS));
  const isLeftOut = [request, baseline].some(
    (one) => one?.requestText === null || one?.responseText === null,
  );
  if (isLeftOut && session === null) {
    return failed('input_too_large', `A body is larger than ${MAX_BODY_BYTES} bytes`);
  }
  return null;
}
