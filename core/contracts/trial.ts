/**
 * The trials that the API requests of an evaluators process, and their results: `body` and `result` of a row of
 * assay.evaluator_trials.
 */
import type { JsonObject } from '../json/mod.ts';
import type { JudgeUse, LlmScoringType, MemberJudgment, Outcome } from '../scoring/mod.ts';
import type { CodeTemplate, LlmTemplate } from './evaluator.ts';

/** The bodies of a call as JSON texts, and its prompt variables, as `readSubject` takes them; or a session of the log. */
export type TestInput = {
  requestText: string;
  responseText: string;
  /** The session that is scored as a whole; absent: the call by itself. */
  sessionId?: string;
  inputs: Record<string, unknown>;
  /** JSON. */
  expected?: string;
};

/** The definition of an evaluator that is tried out. */
export type TrialDefinition =
  | { scoringType: LlmScoringType; llmTemplate: LlmTemplate }
  | { scoringType: 'PYTHON'; codeTemplate: CodeTemplate }
  | {
      scoringType: 'EXTERNAL';
      /** Without its secrets. */
      externalConfig: JsonObject;
      /** The secrets, sealed for the organization and `TRIAL_EVALUATOR_ID`, in base64; null: none. */
      sealedSecrets: string | null;
    };

/** Replaces the evaluator's id where secrets are sealed for a trial: the evaluator does not exist yet. */
export const TRIAL_EVALUATOR_ID = 'trial';

/** A request to compile code. */
export type CompileTrial = { kind: 'compile'; code: string };
/** A request to try an evaluator out on one input. */
export type TestTrial = { kind: 'test'; evaluatorName: string; testInput: TestInput } & TrialDefinition;
/** The `body` of a trial. */
export type TrialBody = CompileTrial | TestTrial;

/** The result of compiling. `message` is Python's own, or names the rule that the code breaks. Lines and columns count from 1. */
export type CompileTrialResult =
  | { kind: 'compile'; ok: true }
  | {
      kind: 'compile';
      ok: false;
      code: string;
      message: string;
      line: number | null;
      column: number | null;
    };

/** The result of a try-out: the outcome, and the steps that led to it. */
export type TestTrialResult = {
  kind: 'test';
  outcome: Outcome;
  use: JudgeUse | null;
  warnings: string[];
  /** Output that Python printed, whatever the outcome; null for other evaluators. */
  traces: string | null;
  durationMs: number;
  /** The prompt that the judge was sent, its answer, and how the answer was parsed; null without a judge. */
  prompt: string | null;
  raw: string | null;
  parse: string | null;
  /** The judgments of a jury's members; null without a jury. */
  members: MemberJudgment[] | null;
};

/** `unavailable`: the evaluators process cannot do the trial now; the message is for callers. */
export type TrialResult = CompileTrialResult | TestTrialResult | { kind: 'unavailable'; message: string };

/** The result type of a trial body. */
export type TrialResultOf<Body extends TrialBody> = Body extends CompileTrial
  ? CompileTrialResult
  : TestTrialResult;
