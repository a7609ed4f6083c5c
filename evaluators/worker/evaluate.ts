/** From claimed evaluations to their fates: what need not be tried, and what came of what was. */

import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { ExternalConfig } from '#core/contracts/external.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { JudgeUse, ScoringType } from '#core/scoring/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { type SecretBox, type SecretOwner, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import {
  type Fate,
  fateOf,
  GIVEN_UP,
  type Job,
  MAX_ATTEMPTS,
  MAX_BODY_BYTES,
  PARKED,
  postponed,
  skipped,
} from '../queue/mod.ts';
import { mapSome } from './map-some.ts';
import type { Definition, Scorer } from './scorer.ts';

export type EvaluateOptions = { scorer: Scorer; secrets: SecretBox; clock: Clock };

export type Evaluation = { fate: Fate; use: JudgeUse | null };

const DAY_MS = 86_400_000;

/**
 * Evaluates what `groupJobs` has put together; never rejects.
 * @returns one for each job, in order
 */
export async function evaluate(jobs: readonly Job[], options: EvaluateOptions): Promise<Evaluation[]> {
  const looked = jobs.map((job) => {
    const fate = withoutTrying(job, options.clock);
    return fate === null ? job : { fate, use: null };
  });
  return await mapSome(looked, isJob, (open) => evaluateOpen(open, options));
}

function isJob(looked: Job | Evaluation): looked is Job {
  return 'evaluationId' in looked;
}

async function evaluateOpen(jobs: Job[], { scorer, secrets }: EvaluateOptions): Promise<Evaluation[]> {
  const { evaluator, organizationId } = jobs[0]!;
  const read = readDefinition(evaluator, secrets, { organizationId, evaluatorId: evaluator.id });
  if ('fate' in read) return jobs.map(() => ({ fate: read.fate, use: null }));
  const scored = await scorer.score({
    organizationId,
    evaluator: { id: evaluator.id, version: evaluator.version, name: evaluator.name },
    definition: read.definition,
    items: jobs.map(({ evaluationId, requestId, request, probe }) => {
      const { requestText, responseText, ...rest } = request!;
      const call = { ...rest, requestId, requestText: requestText!, responseText: responseText! };
      return { evaluationId, call, probe };
    }),
  });
  return scored.map((one, index) => ({ fate: fateOf(one, jobs[index]!.attempt), use: one.use }));
}

function withoutTrying({ attempt, evaluator, request }: Job, clock: Clock): Fate | null {
  if (evaluator.isDeleted) return skipped('evaluator_deleted', 'The evaluator was deleted');
  if (request === null) return skipped('request_deleted', 'The request is not kept any more');
  // Nothing schedules these. Should anything ever, it ends here and not in a circle.
  if (request.source === 'evaluator')
    return skipped('evaluator_call', 'Calls of evaluators are not evaluated');
  if (attempt > MAX_ATTEMPTS) return GIVEN_UP;
  if (evaluator.isPaused) return PARKED;
  if (evaluator.isOverBudget) return postponed(DAY_MS - (clock.now() % DAY_MS));
  if (request.requestText === null || request.responseText === null) {
    return failedForGood('input_too_large', `A body is larger than ${MAX_BODY_BYTES} bytes`);
  }
  return null;
}

function failedForGood(code: 'input_too_large' | 'secrets_unavailable', message: string): Fate {
  const outcome = {
    state: 'failed',
    code,
    message,
    retry: 'never',
    retryAfterMs: null,
    pause: null,
    traces: null,
  } as const;
  return fateOf({ outcome, use: null }, 1);
}

/** What an evaluator is stored as. */
export type StoredDefinition = {
  scoringType: ScoringType;
  llmTemplate: unknown;
  codeTemplate: unknown;
  externalConfig: unknown;
  secrets: Uint8Array | null;
};

/** What an evaluator is made of, or the fate of its evaluations when its secrets cannot be opened here. */
export function readDefinition(
  stored: StoredDefinition,
  secrets: SecretBox,
  owner: SecretOwner,
): { definition: Definition } | { fate: Fate } {
  const { scoringType } = stored;
  switch (scoringType) {
    case 'PYTHON':
      return { definition: { scoringType, template: stored.codeTemplate as CodeTemplate } };
    case 'EXTERNAL':
      try {
        const opened = stored.secrets === null ? {} : secrets.open(stored.secrets, owner);
        const config = stored.externalConfig as JsonObject as ExternalConfig;
        return { definition: { scoringType, config, secrets: opened } };
      } catch (error) {
        if (!(error instanceof SecretsUnavailableError)) throw error;
        return { fate: failedForGood('secrets_unavailable', error.message) };
      }
    default:
      return { definition: { scoringType, template: stored.llmTemplate as LlmTemplate } };
  }
}
