/** The jury and the criteria of a judge as fields, and what they become. Pure. */
import type { Jury, JuryRule } from '#core/contracts/jury.ts';
import type { LlmScoringType, Scope } from '#core/evaluations/mod.ts';
import { numberOf } from '../../../parts/form/number-of.ts';

/** The types of evaluators that have a judge. */
export type JudgedType = LlmScoringType | 'LLM-RUBRIC' | 'LLM-PAIRWISE';

/** `models` has one a line. Empty fields are left to the API. */
export type JuryDraft = { models: string; rule: JuryRule | ''; quorum: string };

/** Without a version: the current one. */
export type CriterionDraft = { id: string; version?: number };

export const NO_JURY: JuryDraft = { models: '', rule: '', quorum: '' };

/** Returns the fields of a jury. */
export function juryDraft(jury: Jury | undefined): JuryDraft {
  if (jury === undefined) return NO_JURY;
  return { models: jury.models.join('\n'), rule: jury.rule, quorum: String(jury.quorum) };
}

/** Returns the jury that the fields describe; undefined: the judge is alone. */
export function juryOf({ models, rule, quorum }: JuryDraft) {
  const named = models.split('\n').map((model) => model.trim());
  const further = named.filter((model) => model !== '');
  if (further.length === 0) return undefined;
  const least = numberOf(quorum);
  return {
    models: further,
    ...(rule !== '' && { rule }),
    ...(least !== undefined && { quorum: least }),
  };
}

const PROMPTS: Readonly<Record<Scope, string>> = {
  request: 'Is {{output}} a correct and helpful answer to {{input}}?',
  session: 'Was the user helped in the end? The conversation: {{conversation}}',
};
const RUBRIC_PROMPTS: Readonly<Record<Scope, string>> = {
  request: 'Judge the answer {{output}} to {{input}}.',
  session: 'Judge the conversation {{conversation}}.',
};
/** Prompts of pairs have no variables: both answers are appended. */
const PAIR_PROMPT = 'Which answer is more helpful?';

/** Returns the prompt that a form begins with. */
export function promptFor(scoringType: JudgedType, scope: Scope): string {
  if (scoringType === 'LLM-PAIRWISE') return PAIR_PROMPT;
  return (scoringType === 'LLM-RUBRIC' ? RUBRIC_PROMPTS : PROMPTS)[scope];
}

/** Returns the prompt of a form that changes its type or scope: another beginning where nothing was written yet. */
export function promptAfter(prompt: string, scoringType: JudgedType, scope: Scope): string {
  const beginnings = [...Object.values(PROMPTS), ...Object.values(RUBRIC_PROMPTS), PAIR_PROMPT];
  const isUntouched = beginnings.includes(prompt);
  return isUntouched ? promptFor(scoringType, scope) : prompt;
}
