/** Estimates what a judgment costs before any of its evaluator has been made. Pure. */
import type { LlmTemplate } from '../contracts/evaluator.ts';
import { membersOf } from '../contracts/jury.ts';
import { MAX_VERDICT_TOKENS, parseTemplate, type Scope, type ScoringType } from '../scoring/mod.ts';
import { BYTES_PER_TOKEN, costOfBody, type Prices } from './estimate.ts';

/** The judges of an evaluator in one version: a judge, a jury, or the judge of a rubric with the templates of its criteria. */
export type Judges = {
  scoringType: ScoringType;
  scope: Scope;
  template: LlmTemplate;
  criteria: readonly LlmTemplate[];
};

/** Tokens of what is judged. */
export type JudgedSize = { promptTokens: number; answerTokens: number };

/** Nano-dollars: what a judgment is likely to cost, and the most that it is likely to. */
export type JudgmentCost = { likelyNano: number; mostNano: number };

/** Tokens of a judge's rules and form, and of a verdict with its reasoning: of typical calls. */
const TYPICAL = { rules: 400, verdict: 150, bytesPerToken: 4 };
/** Twice the rules, because not all models count alike; the verdict as long as its call allows. */
const LONGEST = { rules: 800, verdict: MAX_VERDICT_TOKENS, bytesPerToken: BYTES_PER_TOKEN };
/** Values of a prompt are cut to 200,000 characters together. */
const MOST_VALUE_TOKENS = 200_000 / BYTES_PER_TOKEN;

/**
 * Returns the cost of one attempt without a second question, by the prices of all judges; null: one of them is not known. An
 * answer that cannot be read, for which a judge is asked once more, costs up to twice as much.
 */
export function estimateJudgment(
  catalog: Prices,
  judges: Judges,
  size: JudgedSize,
  atMs: number,
): JudgmentCost | null {
  const valueTokens = Math.min(MOST_VALUE_TOKENS, valuesOf(judges, size));
  const bytes = bytesOf(judges);
  const sum = ({ rules, verdict, bytesPerToken }: typeof TYPICAL): number | null => {
    const verdicts = Math.max(1, judges.criteria.length);
    const tokens = {
      prompt: Math.ceil(rules + bytes / bytesPerToken + valueTokens),
      // The limit of a call holds for all criteria of a rubric together.
      completion: Math.min(MAX_VERDICT_TOKENS, verdict * verdicts),
    };
    const costs = membersOf(judges.template).map((model) => costOfBody(catalog, { model }, tokens, atMs));
    return costs.includes(null) ? null : (costs as number[]).reduce((total, cost) => total + cost, 0);
  };
  const [likelyNano, mostNano] = [sum(TYPICAL), sum(LONGEST)];
  return likelyNano === null || mostNano === null ? null : { likelyNano, mostNano };
}

/** Returns the bytes of everything in a judge's call that the evaluator brings. */
function bytesOf({ template, criteria }: Judges): number {
  const { model: _model, jury: _jury, ...asked } = template;
  return Buffer.byteLength(JSON.stringify([asked, criteria]));
}

/** Returns the tokens of the values that a prompt inserts: each of its variables may hold all of the question, or of the answer. */
function valuesOf(
  { scoringType, scope, template }: Judges,
  { promptTokens, answerTokens }: JudgedSize,
): number {
  if (scoringType === 'LLM-PAIRWISE') return promptTokens + 2 * answerTokens;
  let tokens = 0;
  for (const part of parseTemplate(template.prompt, scope).parts) {
    if (!('variable' in part)) continue;
    if (/^(?:output|response)\b/.test(part.variable)) tokens += answerTokens;
    else if (/^(?:conversation|session)\b/.test(part.variable)) tokens += promptTokens + answerTokens;
    else tokens += promptTokens;
  }
  return tokens;
}
