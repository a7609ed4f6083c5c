/** From a claimed evaluation to its fate: what need not be tried, and what came of what was. */
import type { Clock } from '#core/clock.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { CodeTemplate, LlmTemplate } from '#core/schema/evaluator.ts';
import type { ExternalConfig } from '#core/schema/external.ts';
import type { JudgeUse, ScoringType } from '#core/scoring/mod.ts';
import { type SecretBox, type SecretOwner, SecretsUnavailableError } from '#core/secrets/mod.ts';
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
import type { Definition, Scorer } from './scorer.ts';

export type EvaluateOptions = { scorer: Scorer; secrets: SecretBox; clock: Clock };

export type Evaluation = { fate: Fate; use: JudgeUse | null };

const DAY_MS = 86_400_000;

/** Evaluates; never rejects. */
export async function evaluate(job: Job, options: EvaluateOptions): Promise<Evaluation> {
  const fate = withoutTrying(job, options.clock);
  if (fate !== null) return { fate, use: null };
  const { evaluator, request } = job;
  const { requestText, responseText, ...rest } = request!;
  const read = readDefinition(evaluator, options.secrets, {
    organizationId: job.organizationId,
    evaluatorId: evaluator.id,
  });
  if ('fate' in read) return { fate: read.fate, use: null };
  const evaluated = await options.scorer.score({
    organizationId: job.organizationId,
    evaluationId: job.evaluationId,
    evaluator: { id: evaluator.id, version: evaluator.version, name: evaluator.name },
    definition: read.definition,
    call: { ...rest, requestId: job.requestId, requestText: requestText!, responseText: responseText! },
    probe: job.probe,
  });
  return { fate: fateOf(evaluated, job.attempt), use: evaluated.use };
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
