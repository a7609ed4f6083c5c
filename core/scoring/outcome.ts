/** How an evaluation ends, and what is told of it. */

export const SCORING_TYPES = ['LLM-BOOLEAN', 'LLM-CHOICE', 'LLM-RANGE', 'PYTHON', 'EXTERNAL'] as const;
export type ScoringType = (typeof SCORING_TYPES)[number];

/** What an evaluation can be in. The last five are final; `paused` waits for its evaluator to be resumed. */
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

/** A deliberate change of what a judge sees, to measure the judge: such an evaluation writes no score. */
export const PROBES = ['repeat', 'order', 'padding', 'injection'] as const;
export type Probe = (typeof PROBES)[number];

/** The probes that tell something of a kind of evaluator: only of judges, and of an order only where there are choices. */
export function probesFor(scoringType: ScoringType): readonly Probe[] {
  if (scoringType === 'LLM-CHOICE') return PROBES;
  return scoringType.startsWith('LLM-') ? PROBES.filter((probe) => probe !== 'order') : [];
}

/** Whom an evaluation keeps busy: this machine, or somebody that is called. */
export const LANES = ['python', 'remote'] as const;
export type Lane = (typeof LANES)[number];

/** @param adapter of an EXTERNAL evaluator: `autoevals` runs in process, the others are services */
export function laneOf(scoringType: ScoringType, adapter: string | null): Lane {
  return scoringType === 'PYTHON' || adapter === 'autoevals' ? 'python' : 'remote';
}

/** Why there was nothing to score. */
export const SKIP_REASONS = [
  'upstream_error',
  'interrupted',
  'truncated',
  'body_omitted',
  'evaluator_deleted',
  'request_deleted',
  'evaluator_call',
  'variables_missing',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Codes of evaluations that failed: stable, documented in docs/guides/evaluators.md. */
export const EVALUATION_ERROR_CODES = [
  'judge_no_verdict',
  'judge_malformed',
  'judge_out_of_range',
  'judge_unknown_choice',
  'judge_refused',
  'judge_truncated',
  'judge_content_filtered',
  'judge_too_large',
  'judge_timeout',
  'judge_rate_limited',
  'judge_unavailable',
  'judge_unauthorized',
  'judge_billing',
  'judge_model_unavailable',
  'judge_rejected',
  'input_too_large',
  'py_syntax_error',
  'source_too_large',
  'py_no_function',
  'py_bad_signature',
  'py_bad_return_type',
  'py_not_finite',
  'py_exception',
  'py_no_result',
  'py_crash',
  'py_timeout',
  'py_memory',
  'bad_result',
  'sandbox_crashed',
  'sandbox_unavailable',
  'ext_forbidden_url',
  'ext_timeout',
  'ext_unavailable',
  'ext_rate_limited',
  'ext_unauthorized',
  'ext_billing',
  'ext_rejected',
  'ext_bad_answer',
  'ext_too_large',
  'ext_not_applicable',
  'secrets_unavailable',
  'budget_exhausted',
  'worker_lost',
  'internal_error',
] as const;
export type EvaluationErrorCode = (typeof EVALUATION_ERROR_CODES)[number];

/** Why an evaluator was stopped: going on would fail for every request alike, until somebody does something. */
export const PAUSE_REASONS = ['auth', 'billing', 'model'] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** What one attempt came to. Messages are for callers: no control characters, at most 500 characters. */
export type Outcome =
  | {
      state: 'completed';
      /** Finite. */
      score: number;
      /** The choice's own words, of an LLM-CHOICE. */
      label: string | null;
      /** At most 4 KB. */
      reasoning: string | null;
      /** What Python printed: at most 16 KB. */
      traces: string | null;
      /** What whoever trusts the score should know: `input_truncated`, `self_preference`, `parse_fallback`, `repaired`. */
      flags: string[];
    }
  | { state: 'skipped'; reason: SkipReason; message: string }
  | {
      state: 'failed';
      code: EvaluationErrorCode;
      message: string;
      /** Whether another attempt may end differently. */
      retry: 'never' | 'later';
      /** What a provider asked for; null: the usual backoff. */
      retryAfterMs: number | null;
      pause: PauseReason | null;
      traces: string | null;
    };

/** What the judge calls of one attempt used, whatever came of them. Null: not known. */
export type JudgeUse = {
  calls: number;
  /** The gateway's ids of their records. */
  requestIds: string[];
  model: string | null;
  promptTokens: number | null;
  completionTokens: number | null;
  costNano: number | null;
  latencyMs: number;
};

export type Evaluated = {
  outcome: Outcome;
  use: JudgeUse | null;
  /** What whoever trusts the outcome should know of the record: sentences for callers. Absent: nothing. */
  warnings?: string[];
};

/** What an evaluator looks at: one request and its answer. */
export type Subject = {
  requestId: string;
  /** The text of the last user message, or the JSON of the request where there is none. */
  input: string;
  /** The text of the assistant's answer, its tool calls where it has no text, or the JSON of the answer. */
  output: string;
  /** The bodies, parsed; null where they are not JSON. */
  request: unknown;
  response: unknown;
  /** Prompt variables. */
  inputs: Record<string, unknown>;
  /** By names in lower case. */
  properties: Record<string, string>;
  /** What answered. */
  model: string | null;
};

const MAX_MESSAGE_LENGTH = 500;

/** A message as callers may see it: in one line, without control characters, 500 characters at most. */
export function publicMessage(text: string): string {
  const line = text
    .slice(0, 4 * MAX_MESSAGE_LENGTH)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…` : line;
}
