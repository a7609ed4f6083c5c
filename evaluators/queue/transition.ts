/** Transitions of an evaluation: its next state after an attempt, or without one. Pure. */
import {
  type CriterionOutcome,
  type Evaluated,
  type EvaluationErrorCode,
  type EvaluationState,
  type MemberJudgment,
  type PauseReason,
  publicMessage,
  type SkipReason,
} from '#core/scoring/mod.ts';
import { backoffMs } from '#platform/process/backoff.ts';

/** Attempts of an evaluation. One that fails for a passing reason at the last of them is dead. */
export const MAX_ATTEMPTS = 5;

const BACKOFF = { firstMs: 5_000, longestMs: 300_000, factor: 4 };
/** Jitter, so that evaluations that failed together do not come back together. */
const JITTER = 0.2;

/** The next state of an evaluation, with everything that is written down with it. */
export type NextState = {
  state: EvaluationState;
  /** Delay until a pending evaluation is due. */
  dueInMs: number;
  /** Nothing was tried, so this attempt does not count. */
  isUncounted: boolean;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  traces: string | null;
  flags: string[];
  warnings: string[];
  /** The judgments of a jury's members; null: they stay as they are. */
  members: MemberJudgment[] | null;
  /** The outcomes of a rubric's criteria, which are settled with it. */
  criteria: CriterionOutcome[];
  errorCode: EvaluationErrorCode | SkipReason | null;
  errorMessage: string | null;
  /** Reason for which the evaluator is paused, too. */
  pause: PauseReason | null;
};

const EMPTY: Omit<NextState, 'state'> = {
  dueInMs: 0,
  isUncounted: false,
  score: null,
  label: null,
  reasoning: null,
  traces: null,
  flags: [],
  warnings: [],
  members: null,
  criteria: [],
  errorCode: null,
  errorMessage: null,
  pause: null,
};

/** Returns the final state of an evaluation with nothing to score. */
export function skipped(reason: SkipReason, message: string): NextState {
  return { ...EMPTY, state: 'skipped', errorCode: reason, errorMessage: publicMessage(message) };
}

/** Returns the final state of an evaluation that cannot be attempted, now or later. */
export function failed(code: EvaluationErrorCode, message: string): NextState {
  return { ...EMPTY, state: 'error', errorCode: code, errorMessage: publicMessage(message) };
}

/** The evaluator is paused, and the evaluation waits until it is resumed. */
export const PAUSED: NextState = { ...EMPTY, state: 'paused', isUncounted: true };

/** The lease expired at every attempt: the evaluation probably kills the process that works on it. */
export const DEAD: NextState = {
  ...EMPTY,
  state: 'dead',
  errorCode: 'worker_lost',
  errorMessage: `No process finished it in ${MAX_ATTEMPTS} attempts`,
};

/**
 * Returns the state of an evaluation whose budget is spent.
 * @param dueInMs time until the next day's budget
 */
export function postponed(dueInMs: number): NextState {
  return {
    ...EMPTY,
    state: 'pending',
    dueInMs,
    isUncounted: true,
    errorCode: 'budget_exhausted',
    errorMessage: 'The budget of this day (UTC) is spent',
  };
}

/** Returns the state after an attempt: final, or pending with a backoff, or paused. */
export function nextState(
  { outcome, warnings = [], members, criteria = [] }: Evaluated,
  attempt: number,
  random: () => number = Math.random,
): NextState {
  switch (outcome.state) {
    case 'completed': {
      const { score, label, reasoning, traces, flags } = outcome;
      const scored = { score, label, reasoning, traces, flags, warnings };
      return { ...EMPTY, ...scored, state: 'completed', members: members ?? null, criteria };
    }
    case 'skipped':
      return skipped(outcome.reason, outcome.message);
    case 'failed': {
      const { code, retry, retryAfterMs, pause, traces } = outcome;
      const error = { errorCode: code, errorMessage: publicMessage(outcome.message) };
      const failure = { ...EMPTY, ...error, traces, warnings, members: members ?? null };
      if (pause !== null) return { ...failure, state: 'paused', pause };
      if (retry === 'never') return { ...failure, state: 'error' };
      if (attempt >= MAX_ATTEMPTS) return { ...failure, state: 'dead' };
      const waitMs = Math.max(retryAfterMs ?? 0, backoffMs(BACKOFF, attempt - 1));
      const dueInMs = Math.round(waitMs * (1 + JITTER * random()));
      return { ...failure, state: 'pending', dueInMs };
    }
  }
}
