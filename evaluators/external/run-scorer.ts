/**
 * The scorers that compare an answer with an expected value, in process. They have the names of scorers of the npm library
 * `autoevals`, and give the scores of its version 0.3.0 for ASCII texts; of other texts the library counts UTF-16 units,
 * these scorers characters.
 */
import type { ScorerName } from '#core/evaluations/mod.ts';
import { parseExactJson } from '#core/json/mod.ts';
import { jsonSimilarity, listSimilarity, numberSimilarity, textSimilarity } from './similarity.ts';

/** One comparison, its values already read as the scorer needs them. */
export type ScorerJob = {
  scorer: ScorerName;
  output: unknown;
  expected: unknown;
  allowExtraEntities: boolean;
};

/** Returns the score, from 0 to 1; null when the scorer cannot take the values. */
export function runScorer(job: ScorerJob): number | null {
  try {
    return compare(job);
  } catch {
    return null;
  }
}

function compare({ scorer, output, expected, allowExtraEntities }: ScorerJob): number {
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

/** Compares a text with an object or an array by the JSON that the text holds; compares other values as texts. */
function isExactMatch(output: unknown, expected: unknown): boolean {
  const asJson = [output, expected].some((value) => typeof value === 'object');
  return comparableText(output, asJson) === comparableText(expected, asJson);
}

function comparableText(value: unknown, asJson: boolean): string {
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value !== 'string' || !asJson) return String(value);
  try {
    return JSON.stringify(parseExactJson(value));
  } catch {
    return value;
  }
}

function isJsonContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
