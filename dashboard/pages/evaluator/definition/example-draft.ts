/** Examples of verdicts and the categories of code as texts, and what they become. Pure. */
import type { Category } from '#core/contracts/categories.ts';
import type { LlmScoringType } from '#core/contracts/evaluator.ts';
import type { Example } from '#core/contracts/examples.ts';
import type { LabelField } from '../../../parts/form/label-fields.tsx';
import { numberOf } from '../../../parts/form/number-of.ts';

/** An example as it is written; `key` names its row while rows come and go. */
export type ExampleDraft = {
  key: number;
  input: string;
  output: string;
  /** A label, a number, or `true` or `false`, by the type of the judge. */
  verdict: string;
  /** Null: there is none. */
  reasoning: string | null;
};

/** Returns the rows of examples. */
export function exampleDrafts(examples: readonly Example[]): ExampleDraft[] {
  return examples.map(({ input, output, score, label, reasoning = null }, key) => ({
    key,
    input,
    output,
    verdict: label ?? (score === undefined ? '' : String(score)),
    reasoning,
  }));
}

function verdictOf(scoringType: LlmScoringType, verdict: string): Pick<Example, 'score' | 'label'> {
  if (verdict === '') return {};
  if (scoringType === 'LLM-CHOICE') return { label: verdict };
  if (verdict === 'true' || verdict === 'false') return { score: verdict === 'true' };
  const score = numberOf(verdict);
  return score === undefined ? {} : { score };
}

/** Returns the examples that the rows describe; undefined: there are none. */
export function examplesOf(scoringType: LlmScoringType, drafts: readonly ExampleDraft[]) {
  if (drafts.length === 0) return undefined;
  return drafts.map(({ input, output, verdict, reasoning }) => ({
    input,
    output,
    ...verdictOf(scoringType, verdict),
    ...(reasoning !== null && { reasoning }),
  }));
}

/** Returns the rows of categories. */
export function categoryDrafts(categories: readonly Category[]): LabelField[] {
  return categories.map(({ label, score }, key) => ({ key, label, score: String(score) }));
}

/** Returns the categories that the rows describe; undefined: there are none. */
export function categoriesOf(drafts: readonly LabelField[]) {
  if (drafts.length === 0) return undefined;
  return drafts.map(({ label, score }) => {
    const number = numberOf(score);
    return { label, ...(number !== undefined && { score: number }) };
  });
}

/** Returns a key that no row has. */
export function nextKey(rows: readonly { key: number }[]): number {
  return Math.max(-1, ...rows.map(({ key }) => key)) + 1;
}
