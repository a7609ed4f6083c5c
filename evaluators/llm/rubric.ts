/** Judges a subject by several criteria in one call. Each criterion has an outcome of its own. */
import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import {
  type CriterionOutcome,
  cleanText,
  type LlmScoringType,
  parseTemplate,
  publicMessage,
  renderTemplate,
} from '#core/scoring/mod.ts';
import { JudgeAttempt } from './attempt.ts';
import { addCautions, type Judged, type JudgeOptions, skippedWithoutData, warningsOf } from './judge.ts';
import { isScoreProblem, type ScoreProblem } from './read-score.ts';
import { scaleOf } from './scale.ts';
import type { Verdict } from './verdict.ts';

/** A criterion of a rubric: an evaluator in the version that the rubric names. */
export type Criterion = {
  evaluatorId: string;
  version: number;
  name: string;
  scoringType: LlmScoringType;
  template: LlmTemplate;
};

/** @param criteria at least one: those whose evaluators were deleted are left out */
export async function judgeRubric(
  options: Omit<JudgeOptions, 'scoringType' | 'probe'>,
  criteria: readonly Criterion[],
): Promise<Judged> {
  const { template, subject, evaluatorName } = options;
  const parsed = parseTemplate(template.prompt, subject.session === undefined ? 'request' : 'session');
  const { text: prompt, truncated, missing } = renderTemplate(parsed, subject);
  if (missing.length === parsed.variables.length) return skippedWithoutData(prompt, missing);
  const asked = criteria.map(({ name, scoringType, template: own }) => ({
    name,
    prompt: own.prompt,
    scale: scaleOf({ scoringType, template: own, requestId: subject.requestId, probe: null }),
  }));
  const scale = { kind: 'rubric', criteria: asked } as const;
  const question = { model: template.model, evaluatorName, scale, hasExamples: false, prompt, turns: [] };
  const attempt = new JudgeAttempt(question, options);
  const outcome = await attempt.run();
  const use = attempt.use.total();
  addCautions(outcome, { truncated, subject, models: [template.model, use?.model ?? null] });
  const verdicts = outcome.state === 'completed' ? attempt.rubric! : [];
  return {
    outcome,
    criteria: verdicts.map((verdict, index) => outcomeOf(criteria[index]!, verdict)),
    use,
    warnings: warningsOf(missing),
    prompt,
    raw: attempt.raw,
    parse: attempt.parse,
  };
}

function outcomeOf({ evaluatorId, version }: Criterion, verdict: Verdict | ScoreProblem): CriterionOutcome {
  if (isScoreProblem(verdict)) {
    const message = publicMessage(`The judge's answer has no verdict by this criterion: ${verdict.message}`);
    return { evaluatorId, version, outcome: { state: 'error', code: verdict.code, message } };
  }
  const { score, label, reasoning } = verdict;
  return {
    evaluatorId,
    version,
    outcome: { state: 'completed', score, label, reasoning: cleanText(reasoning) },
  };
}
