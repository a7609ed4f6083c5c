/** The outcomes of evaluations: codes, reasons, results, subjects. */
import type { PauseReason } from '../evaluations/mod.ts';
import type { SubjectSession } from './session.ts';

/** Reasons why a record has nothing to score. */
export const SKIP_REASONS = [
  'upstream_error',
  'interrupted',
  'truncated',
  'body_omitted',
  'evaluator_deleted',
  'request_deleted',
  'evaluator_call',
  'evaluator_imported',
  'run_budget_spent',
  'variables_missing',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Codes of failed evaluations: stable, documented in docs/guides/evaluators.md. */
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
  'jury_no_quorum',
  'jury_split',
  'input_too_large',
  'py_syntax_error',
  'source_too_large',
  'py_no_function',
  'py_bad_signature',
  'py_bad_return_type',
  'py_unknown_label',
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

/** The result of one attempt. Messages are for callers: no control characters, at most 500 characters. */
export type Outcome =
  | {
      state: 'completed';
      /** Finite. Null for a rubric, whose criteria have the scores. */
      score: number | null;
      /** The words of the choice or category; of code without categories, what it returned. */
      label: string | null;
      /** At most `MAX_REASONING_BYTES`. */
      reasoning: string | null;
      /** Output that Python printed: at most 16 KB. */
      traces: string | null;
      /** Cautions about the score: `input_truncated`, `self_preference`, `parse_fallback`, `repaired`, `jury_incomplete`, `rubric_incomplete`. */
      flags: string[];
    }
  | { state: 'skipped'; reason: SkipReason; message: string }
  | {
      state: 'failed';
      code: EvaluationErrorCode;
      message: string;
      /** `later` when another attempt may end differently. */
      retry: 'never' | 'later';
      /** The delay that a provider or service asked for; null: the usual backoff. */
      retryAfterMs: number | null;
      pause: PauseReason | null;
      traces: string | null;
    };

/** An attempt that failed. */
export type FailedOutcome = Extract<Outcome, { state: 'failed' }>;

/** Totals of the judge calls of one attempt, failed calls included. Null: not known. */
export type JudgeUse = {
  calls: number;
  /** Request ids of the calls' records. */
  requestIds: string[];
  model: string | null;
  promptTokens: number | null;
  completionTokens: number | null;
  costNano: number | null;
  latencyMs: number;
};

/** The judgment of one member of a jury: a score, or the reason that there is none. */
export type MemberJudgment = {
  /** The model as the evaluator names it. */
  model: string;
  score: number | null;
  label: string | null;
  reasoning: string | null;
  flags: string[];
  error: { code: string; message: string } | null;
  /** The calls of its last attempt; null: none was made. */
  use: JudgeUse | null;
};

/** The outcome of one criterion of a rubric, in one version of its evaluator. */
export type CriterionOutcome = {
  evaluatorId: string;
  version: number;
  outcome: FinalOutcome;
};

/** An outcome that no further attempt follows: a score with what belongs to it, or the reason that there is none. */
type FinalOutcome =
  | { state: 'completed'; score: number; label: string | null; reasoning: string | null }
  | { state: 'error'; code: EvaluationErrorCode; message: string };

/** An outcome with the judge calls behind it. */
export type Evaluated = {
  outcome: Outcome;
  /** The judgments of a jury's members, in the order of the members. Absent: there is no jury. */
  members?: MemberJudgment[];
  /** The outcomes of a rubric's criteria. Absent: there are none. */
  criteria?: CriterionOutcome[];
  /** Null: no judge was called. */
  use: JudgeUse | null;
  /** Cautions about the record, as sentences for callers. Absent: none. */
  warnings?: string[];
};

/** The fields of a record that evaluators see: one request and its answer, or a session up to its newest request. */
export type Subject = {
  requestId: string;
  /**
   * The text of the last user message, or the JSON of the request where there is none; for a session, its conversation up to
   * the last answer.
   */
  input: string;
  /** The text of the assistant's answer, its tool calls where it has no text, or the JSON of the answer. */
  output: string;
  /** The bodies, parsed; null where they are not JSON. */
  request: unknown;
  response: unknown;
  /** Prompt variables. */
  inputs: Record<string, unknown>;
  /** Keyed by names in lower case. */
  properties: Record<string, string>;
  /** The answer that was expected; undefined: not known. */
  expected?: unknown;
  /** The model that answered. */
  model: string | null;
  /** The whole session, for evaluators of sessions; absent: a request is evaluated by itself. */
  session?: SubjectSession;
};

/** Maximum length of an outcome's reasoning, in bytes of UTF-8. */
export const MAX_REASONING_BYTES = 4_096;

const MAX_MESSAGE_LENGTH = 500;

/** Makes a message fit for callers: one line, without control characters, at most 500 characters. */
export function publicMessage(text: string): string {
  const line = text
    .slice(0, 4 * MAX_MESSAGE_LENGTH)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…` : line;
}
