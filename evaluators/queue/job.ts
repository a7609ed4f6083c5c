import type { Lane, MemberJudgment, Probe, ScoringType, StoredSession } from '#core/scoring/mod.ts';
import type { Criterion } from '../llm/mod.ts';

/** The part of a request that its evaluation needs. */
export type JobRequest = {
  source: string;
  status: number;
  truncated: boolean;
  errorCode: string | null;
  model: string | null;
  /** JSON of an object. */
  inputs: string | null;
  properties: Record<string, string> | null;
  /** The answer that was expected: JSON; null: not known. */
  expected: string | null;
  /** JSON; null if it is too large to be evaluated. */
  requestText: string | null;
  responseText: string | null;
};

/** An evaluation that this process has claimed, with everything needed to evaluate it. */
export type Job = {
  evaluationId: string;
  /** Number of this claim. An evaluation that was claimed again since cannot be settled by an earlier claim. */
  claim: number;
  /** Number of this attempt, from 1. */
  attempt: number;
  organizationId: string;
  requestId: string;
  createdAt: Date;
  /** The session that is evaluated up to the request; null: the request is evaluated by itself. */
  sessionId: string | null;
  /** That session; null: there is none to evaluate. */
  session: StoredSession | null;
  probe: Probe | null;
  /** The run or the experiment that it is made for; null if it was scheduled when its request came in. */
  runId: string | null;
  /** Its Python keeps no state, by the author of its run: it may share a process with other evaluations of the run. */
  isBatch: boolean;
  /** Its run or experiment has spent what it may cost. */
  isRunOverBudget: boolean;
  /** Its run was cancelled before the claim: it was reopened since, and is made though its run is not. */
  isReopened: boolean;
  lane: Lane;
  /** The judgments of a jury's members at the attempt before; null: there were none. */
  members: MemberJudgment[] | null;
  evaluator: {
    id: string;
    name: string;
    version: number;
    scoringType: ScoringType;
    llmTemplate: unknown;
    codeTemplate: unknown;
    externalConfig: unknown;
    /** The criteria of a rubric whose evaluators are there still; null: it is no rubric. */
    criteria: Criterion[] | null;
    /** Encrypted. */
    secrets: Uint8Array | null;
    isDeleted: boolean;
    isPaused: boolean;
    /** Number of times it was resumed. */
    resumes: number;
    /** The daily budget of the evaluator, or of its organization, is spent. */
    isOverBudget: boolean;
    /** Both budgets, as they were at the claim. */
    budgets: string;
  };
  /** Null if the request was deleted. */
  request: JobRequest | null;
  /** The id of the request whose answer it is judged beside; empty: it is judged alone. */
  baselineId: string;
  /** The request of that id; null if it was deleted, or there is none. */
  baseline: JobRequest | null;
  isBaselineFirst: boolean;
};
