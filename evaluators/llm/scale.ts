/** Scales: the values that a judge may answer. */
import { createHash } from 'node:crypto';
import type { Choice } from '#core/contracts/categories.ts';
import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import type { Probe, ScoringType } from '#core/scoring/mod.ts';

/** The values that a judge may answer for one request. */
export type Scale =
  | { kind: 'boolean' }
  /** Choices are in the order in which the judge sees them. */
  | { kind: 'choice'; choices: readonly Choice[] }
  | { kind: 'range'; min: number; max: number };

/** A criterion as the judge sees it. */
export type AskedCriterion = { name: string; prompt: string; scale: Scale };

/** The values that a judge may answer for one request by several criteria. */
export type RubricScale = { kind: 'rubric'; criteria: readonly AskedCriterion[] };

/**
 * Returns the scale of an evaluator for one request. Judges favour the first choice, so each request has its own order of
 * choices, always the same; the probe `order` reverses it.
 * @throws Error when the template does not fit its type, which creation refuses
 */
export function scaleOf(options: {
  scoringType: ScoringType;
  template: LlmTemplate;
  requestId: string;
  probe: Probe | null;
}): Scale {
  const { scoringType, template, requestId, probe } = options;
  if (scoringType === 'LLM-BOOLEAN') return { kind: 'boolean' };
  if (scoringType === 'LLM-CHOICE' && template.choices !== undefined && template.choices.length > 0) {
    const choices = shuffle(template.choices, requestId);
    return { kind: 'choice', choices: probe === 'order' ? choices.reverse() : choices };
  }
  const { min, max } = template;
  if (scoringType === 'LLM-RANGE' && typeof min === 'number' && typeof max === 'number') {
    return { kind: 'range', min, max };
  }
  throw new Error(`The template does not fit an evaluator of type ${scoringType}`);
}

/** Shuffles by Fisher and Yates, with digests of the seed in place of random numbers. */
function shuffle<T>(items: readonly T[], seed: string): T[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const digest = createHash('sha256').update(`${last}\0${seed}`).digest();
    // 2^48 values for a few dozen choices: the remainder favours none by more than one in 10^12.
    const other = digest.readUIntBE(0, 6) % (last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
  }
  return shuffled;
}
