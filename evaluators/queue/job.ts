import type { Lane, Probe, ScoringType } from '#core/scoring/mod.ts';

/** What of a request an evaluation needs: null when the request is no more. */
export type JobRequest = {
  source: string;
  status: number;
  truncated: boolean;
  errorCode: string | null;
  model: string | null;
  inputs: Record<string, unknown> | null;
  properties: Record<string, string> | null;
  /** JSON; null when it is too large to be evaluated. */
  requestText: string | null;
  responseText: string | null;
};

/** An evaluation that this process has claimed, with all that it needs. */
export type Job = {
  evaluationId: string;
  /** Which claim this is: what a later one has taken over, an earlier one cannot settle. */
  claim: number;
  /** From 1, this one included. */
  attempt: number;
  organizationId: string;
  requestId: string;
  createdAt: Date;
  probe: Probe | null;
  /** Null: as requests come. */
  runId: string | null;
  /** Of a run whose author said that its Python keeps no state: may be done with others in one process. */
  isBatch: boolean;
  lane: Lane;
  evaluator: {
    id: string;
    name: string;
    version: number;
    scoringType: ScoringType;
    llmTemplate: unknown;
    codeTemplate: unknown;
    externalConfig: unknown;
    /** Sealed. */
    secrets: Uint8Array | null;
    isDeleted: boolean;
    isPaused: boolean;
    /** How often it has been resumed. */
    resumes: number;
    /** What its judges, or all of its organization, may cost a day is spent. */
    isOverBudget: boolean;
  };
  request: JobRequest | null;
};
