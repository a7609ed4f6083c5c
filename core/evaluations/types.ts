/** The types of evaluators, and what depends on them. */

/** The types of evaluators. */
export const SCORING_TYPES = [
  'LLM-BOOLEAN',
  'LLM-CHOICE',
  'LLM-RANGE',
  'PYTHON',
  'EXTERNAL',
  'LLM-RUBRIC',
  'LLM-PAIRWISE',
] as const;
export type ScoringType = (typeof SCORING_TYPES)[number];

/** The scopes of evaluators: each answer, or each whole session, once it is over. */
export const SCOPES = ['request', 'session'] as const;
export type Scope = (typeof SCOPES)[number];

/** Deliberate changes to a judge's input that measure the judge. A probe writes no score. */
export const PROBES = ['repeat', 'order', 'padding', 'injection'] as const;
export type Probe = (typeof PROBES)[number];

/** Types whose judge gives one score of one answer. */
export const JUDGE_TYPES = [
  'LLM-BOOLEAN',
  'LLM-CHOICE',
  'LLM-RANGE',
] as const satisfies readonly ScoringType[];
export type LlmScoringType = (typeof JUDGE_TYPES)[number];

/** Returns whether the judge of evaluators of this type gives one score of one answer. */
export function isJudgeType(scoringType: ScoringType): scoringType is LlmScoringType {
  return (JUDGE_TYPES as readonly ScoringType[]).includes(scoringType);
}

/** Returns the probes that apply to a type of evaluator: none unless it has such a judge, `order` only if it has choices. */
export function probesFor(scoringType: ScoringType): readonly Probe[] {
  if (scoringType === 'LLM-CHOICE') return PROBES;
  return isJudgeType(scoringType) ? PROBES.filter((probe) => probe !== 'order') : [];
}

/** The resource that an evaluation keeps busy: `python` this machine, `remote` a judge or service that is called. */
export const LANES = ['python', 'remote'] as const;
export type Lane = (typeof LANES)[number];

/**
 * Returns the lane of an evaluator's evaluations.
 * @param adapter the adapter of an EXTERNAL evaluator: `autoevals` runs in process, the others call services
 */
export function laneOf(scoringType: ScoringType, adapter: string | null): Lane {
  return scoringType === 'PYTHON' || adapter === 'autoevals' ? 'python' : 'remote';
}

/**
 * Reasons why an evaluator is paused until its owner mends the cause: it would fail for every request alike, or, with `filter`,
 * the filter that chooses its requests fails or is too slow.
 */
export const PAUSE_REASONS = ['auth', 'billing', 'model', 'filter'] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];
