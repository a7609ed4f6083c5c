/** What becomes of an evaluation after an attempt. Pure. */
import {
  type Evaluated,
  type EvaluationErrorCode,
  type EvaluationState,
  type PauseReason,
  publicMessage,
  type SkipReason,
} from '#core/scoring/mod.ts';
import { backoffMs } from '#platform/process/backoff.ts';

/** Claims that an evaluation may take: what failed so often, and may pass, is given up as dead. */
export const MAX_ATTEMPTS = 5;

const BACKOFF = { firstMs: 5_000, longestMs: 300_000, factor: 4 };
/** Jitter, so that what failed together does not come back together. */
const JITTER = 0.2;

export type Fate = {
  state: EvaluationState;
  /** From now on, when it is pending. */
  dueInMs: number;
  /** This attempt does not count: nothing was tried. */
  isUncounted: boolean;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  traces: string | null;
  flags: string[];
  warnings: string[];
  errorCode: EvaluationErrorCode | SkipReason | null;
  errorMessage: string | null;
  pause: PauseReason | null;
};

const NOTHING: Omit<Fate, 'state'> = {
  dueInMs: 0,
  isUncounted: false,
  score: null,
  label: null,
  reasoning: null,
  traces: null,
  flags: [],
  warnings: [],
  errorCode: null,
  errorMessage: null,
  pause: null,
};

export function skipped(reason: SkipReason, message: string): Fate {
  return { ...NOTHING, state: 'skipped', errorCode: reason, errorMessage: publicMessage(message) };
}

/** Its evaluator is paused: it waits for it. */
export const PARKED: Fate = { ...NOTHING, state: 'paused', isUncounted: true };

/** It came back so often without an outcome that whoever took it must have died of it. */
export const GIVEN_UP: Fate = {
  ...NOTHING,
  state: 'dead',
  errorCode: 'worker_lost',
  errorMessage: `No process came to an end with it in ${MAX_ATTEMPTS} attempts`,
};

/** @param dueInMs until the budget is there again */
export function postponed(dueInMs: number): Fate {
  return {
    ...NOTHING,
    state: 'pending',
    dueInMs,
    isUncounted: true,
    errorCode: 'budget_exhausted',
    errorMessage: 'The budget of this day (UTC) is spent',
  };
}

/** After an attempt that was made. */
export function fateOf(
  { outcome, warnings = [] }: Evaluated,
  attempt: number,
  random: () => number = Math.random,
): Fate {
  switch (outcome.state) {
    case 'completed': {
      const { score, label, reasoning, traces, flags } = outcome;
      return { ...NOTHING, state: 'completed', score, label, reasoning, traces, flags, warnings };
    }
    case 'skipped':
      return skipped(outcome.reason, outcome.message);
    case 'failed': {
      const { code, retry, retryAfterMs, pause, traces } = outcome;
      const told = { errorCode: code, errorMessage: publicMessage(outcome.message) };
      const failure = { ...NOTHING, ...told, traces, warnings };
      if (pause !== null) return { ...failure, state: 'paused', pause };
      if (retry === 'never') return { ...failure, state: 'error' };
      if (attempt >= MAX_ATTEMPTS) return { ...failure, state: 'dead' };
      const waitMs = Math.max(retryAfterMs ?? 0, backoffMs(BACKOFF, attempt - 1));
      const dueInMs = Math.round(waitMs * (1 + JITTER * random()));
      return { ...failure, state: 'pending', dueInMs };
    }
  }
}
