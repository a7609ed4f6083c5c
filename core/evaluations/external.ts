/** The names that the config of an EXTERNAL evaluator has. */

/** Replaces a secret wherever one would be shown. */
export const SECRET_MARK = '[secret]';

/**
 * The ways to get a score: any service by HTTP, LastMile's AutoEval, a scorer that runs in process, and judgments that were made
 * elsewhere and are imported.
 */
export const ADAPTERS = ['http', 'autoeval', 'autoevals', 'imported'] as const;
export type Adapter = (typeof ADAPTERS)[number];

/** Returns whether an evaluator has only imported judgments: nothing is ever scheduled for it. */
export function isImported(adapter: string | null | undefined): boolean {
  return adapter === 'imported';
}

/** Scorers of the npm library `autoevals` that need neither a model nor the user's code, by its names. */
export const SCORERS = [
  'ExactMatch',
  'Levenshtein',
  'NumericDiff',
  'JSONDiff',
  'ListContains',
  'ValidJSON',
] as const;
export type ScorerName = (typeof SCORERS)[number];
