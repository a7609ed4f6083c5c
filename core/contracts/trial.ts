/**
 * What the API asks an evaluators process to do at once, and what comes back: `body` and `result` of a row of
 * assay.evaluator_trials.
 */
import type { JsonObject } from '../json/mod.ts';
import type { JudgeUse, Outcome } from '../scoring/mod.ts';
import type { CodeTemplate, LlmScoringType, LlmTemplate } from './evaluator.ts';

/** A call and its answer as texts of JSON, and the prompt variables: what `readSubject` takes. */
export type TestInput = { requestText: string; responseText: string; inputs: Record<string, unknown> };

/** What an evaluator would be made of. */
export type TrialDefinition =
  | { scoringType: LlmScoringType; llmTemplate: LlmTemplate }
  | { scoringType: 'PYTHON'; codeTemplate: CodeTemplate }
  | {
      scoringType: 'EXTERNAL';
      /** Without its secrets. */
      externalConfig: JsonObject;
      /** The secrets, sealed for the organization and `TRIAL_EVALUATOR_ID`, in base64; null: there are none. */
      sealedSecrets: string | null;
    };

/** Stands for the evaluator's id where secrets are sealed for a trial: the evaluator is not there yet. */
export const TRIAL_EVALUATOR_ID = 'trial';

export type CompileTrial = { kind: 'compile'; code: string };
export type TestTrial = { kind: 'test'; evaluatorName: string; testInput: TestInput } & TrialDefinition;
export type TrialBody = CompileTrial | TestTrial;

/** `message` is Python's own, or says which rule the code breaks. Line and column count from 1. */
export type CompileResult =
  | { kind: 'compile'; ok: true }
  | {
      kind: 'compile';
      ok: false;
      code: string;
      message: string;
      line: number | null;
      column: number | null;
    };

/** How the evaluation ended, and what it looked like on the way. */
export type TestResult = {
  kind: 'test';
  outcome: Outcome;
  use: JudgeUse | null;
  warnings: string[];
  /** What Python printed, whatever the outcome; null where nothing can print. */
  traces: string | null;
  durationMs: number;
  /** What the judge was sent, what it answered, and how that was read; null where there was no judge. */
  prompt: string | null;
  raw: string | null;
  parse: string | null;
};

/** `unavailable`: this process cannot do it now; the message is for callers. */
export type TrialResult = CompileResult | TestResult | { kind: 'unavailable'; message: string };

/** The result that belongs to a body. */
export type TrialResultOf<Body extends TrialBody> = Body extends CompileTrial ? CompileResult : TestResult;
