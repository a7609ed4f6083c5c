/** The states of evaluations and of runs. */

/** The states of an evaluation. The last five are final; `paused` waits for its evaluator, or its run, to be resumed. */
export const EVALUATION_STATES = [
  'pending',
  'running',
  'paused',
  'completed',
  'skipped',
  'error',
  'dead',
  'cancelled',
] as const;
export type EvaluationState = (typeof EVALUATION_STATES)[number];

/** The states that an evaluation can be tried again from. */
export const RETRIED_FROM = ['error', 'dead', 'cancelled'] as const satisfies readonly EvaluationState[];
/** The states that an evaluation can be cancelled from. */
export const CANCELLED_FROM = ['pending', 'paused'] as const satisfies readonly EvaluationState[];

/** `completed`: every request is scheduled, and every evaluation has ended. `budget`: it has spent its maxCost, and ended. */
export const RUN_STATES = ['running', 'paused', 'cancelled', 'completed', 'budget'] as const;
export type RunState = (typeof RUN_STATES)[number];
