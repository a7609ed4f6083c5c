/** The scorers of the npm library `autoevals`, by themselves: what they are given can be sent to another thread. */
import type { ScorerName } from '#core/schema/external.ts';

export type ScorerJob = {
  scorer: ScorerName;
  output: unknown;
  expected: unknown;
  allowExtraEntities: boolean;
};

/** @returns the score; null where the scorer cannot take what it is given. Rejects when the library is not there. */
export type RunScorer = (job: ScorerJob) => Promise<number | null>;

/**
 * Runs a scorer in this thread. The library brings the clients of model providers along, so it is loaded at the first
 * use, and the scorers that call models are not reached: those calls would go past the gateway.
 */
export const runScorer: RunScorer = async (job) => {
  const library = await import('autoevals');
  try {
    return (await scoreWith(library, job)).score;
  } catch {
    return null;
  }
};

function scoreWith(
  library: typeof import('autoevals'),
  { scorer, output, expected, allowExtraEntities }: ScorerJob,
): Promise<{ score: number | null }> | { score: number | null } {
  switch (scorer) {
    case 'ExactMatch':
      return library.ExactMatch({ output, expected });
    case 'Levenshtein':
      return library.Levenshtein({ output: output as string, expected: expected as string });
    case 'NumericDiff':
      return library.NumericDiff({ output: output as number, expected: expected as number });
    case 'JSONDiff':
      return library.JSONDiff({ output, expected });
    case 'ListContains':
      return library.ListContains({
        output: output as string[],
        expected: expected as string[],
        allowExtraEntities,
      });
    case 'ValidJSON':
      return library.ValidJSON({ output: output as string });
  }
}
