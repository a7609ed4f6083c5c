/**
 * Scorers that compare an output with the expected value, in process. They have the names of the npm library `autoevals`
 * and its scores (version 0.3.0), except for texts beyond ASCII, which the library counts in UTF-16 units.
 */
import type { ScorerName } from '#core/contracts/external.ts';
import { jsonSimilarity } from './json-diff.ts';
import { listSimilarity } from './list-contains.ts';
import { numberSimilarity, textSimilarity } from './similarity.ts';

export type ScorerInput = {
  scorer: ScorerName;
  output: unknown;
  expected: unknown;
  allowExtraEntities: boolean;
};

/** @returns the score; null if the scorer cannot compare these values */
export type RunScorer = (job: ScorerInput) => Promise<number | null>;

export const runScorer: RunScorer = async (job) => {
  try {
    return scoreWith(job);
  } catch {
    return null;
  }
};

function scoreWith({ scorer, output, expected, allowExtraEntities }: ScorerInput): number {
  switch (scorer) {
    case 'ExactMatch':
      return isExactMatch(output, expected) ? 1 : 0;
    case 'Levenshtein':
      return textSimilarity(output as string, expected as string);
    case 'NumericDiff':
      return numberSimilarity(output as number, expected as number);
    case 'JSONDiff':
      return jsonSimilarity(output, expected);
    case 'ListContains':
      return listSimilarity(output as string[], expected as string[], allowExtraEntities);
    case 'ValidJSON':
      return isJsonContainer(output as string) ? 1 : 0;
  }
}

/** Compares a text with an object or array by the JSON that the text contains; other values are compared as texts. */
function isExactMatch(output: unknown, expected: unknown): boolean {
  const asJson = [output, expected].some((value) => typeof value === 'object');
  return plainText(output, asJson) === plainText(expected, asJson);
}

function plainText(value: unknown, asJson: boolean): string {
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value !== 'string' || !asJson) return String(value);
  try {
    return JSON.stringify(JSON.parse(value));
  } catch {
    return value;
  }
}

/** Whether a text is an object or an array in JSON. */
function isJsonContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
