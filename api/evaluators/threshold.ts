/** The threshold of an evaluator: the score from which an answer passes. Pure. */
import { choicesOf } from '#core/contracts/categories.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { ExternalConfig, ImportedConfig } from '#core/contracts/external.ts';
import type { ScoringType } from '#core/scoring/mod.ts';
import { middleOf } from '#core/statistics/mod.ts';

/** The parts of a definition that decide which scores an evaluator can give. */
export type ScoreDefinition = {
  scoringType: ScoringType;
  llmTemplate: LlmTemplate | null;
  codeTemplate: CodeTemplate | null;
  externalConfig: ExternalConfig | null;
};

const HALF = 0.5;

/** Returns the scale of an evaluator whose judgments are imported; null: another evaluator. */
function importedScale({ externalConfig }: ScoreDefinition): ImportedConfig | null {
  return externalConfig?.adapter === 'imported' ? externalConfig : null;
}

/** Returns the labels of an evaluator with their scores: a judge's choices, or the categories of code or of imported judgments. */
export function choicesFor(definition: ScoreDefinition) {
  const { llmTemplate, codeTemplate } = definition;
  const categories = codeTemplate?.categories ?? importedScale(definition)?.categories;
  return categories === undefined ? llmTemplate?.choices : choicesOf(categories);
}

/** Returns the range that an evaluator's definition names; null: it names none. */
export function rangeOf(definition: ScoreDefinition): { min: number; max: number } | null {
  const { min, max } = definition.llmTemplate ?? importedScale(definition) ?? {};
  return min === undefined || max === undefined ? null : { min, max };
}

/** Returns the lowest and the highest score that an evaluator can give; null: they are not known. */
export function boundsOf(definition: ScoreDefinition): { low: number; high: number } | null {
  const { scoringType } = definition;
  if (scoringType === 'LLM-BOOLEAN' || scoringType === 'LLM-PAIRWISE') return { low: 0, high: 1 };
  const range = rangeOf(definition);
  if (range !== null) return { low: range.min, high: range.max };
  const scores = choicesFor(definition)?.map(({ score }) => score);
  return scores === undefined ? null : { low: Math.min(...scores), high: Math.max(...scores) };
}

/** Returns the score from which an answer passes: the evaluator's own, else the middle of its scores, or half. */
export function passThreshold(version: ScoreDefinition & { threshold: number | null }): number {
  if (version.threshold !== null) return version.threshold;
  const bounds = boundsOf(version);
  return bounds === null ? HALF : middleOf(bounds.low, bounds.high);
}

/**
 * Refuses a threshold that no score, or every score, would reach by the definition alone.
 * @param isKept whether it is that of the version before, and the definition has changed
 * @throws AssayError invalid_body
 */
export function checkThreshold(threshold: number | null, definition: ScoreDefinition, isKept: boolean): void {
  const bounds = boundsOf(definition);
  if (threshold !== null && definition.scoringType === 'LLM-RUBRIC') {
    throw new AssayError(
      'invalid_body',
      'threshold does not belong to the scoring_type LLM-RUBRIC: its criteria have their own',
    );
  }
  if (threshold === null || bounds === null) return;
  const { low, high } = bounds;
  if (threshold >= low && threshold <= high) return;
  const rule = `threshold must be a number from ${low} to ${high}, the scores that the evaluator can give, but is ${threshold}`;
  const advice = isKept ? ', as in the version before: give another one, or null' : '';
  throw new AssayError('invalid_body', rule + advice);
}
