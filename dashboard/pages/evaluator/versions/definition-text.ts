/** A definition as lines, so that two can be compared. Pure. */
import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import type { Templates } from '../../../client/evaluators.ts';

function llmText({ model, prompt, min, max, choices, jury }: LlmTemplate): string {
  return [
    `model: ${model}`,
    ...(jury?.models ?? []).map((member) => `jury: ${member}`),
    ...(jury === undefined ? [] : [`rule of the jury: ${jury.rule}, quorum ${jury.quorum}`]),
    ...(min === undefined ? [] : [`lowest score: ${min}`]),
    ...(max === undefined ? [] : [`highest score: ${max}`]),
    ...(choices ?? []).map(({ score, description }) => `choice ${score}: ${description}`),
    '',
    prompt,
  ].join('\n');
}

/** Returns the text of a definition: a prompt or code as it is, and everything else a line each. */
export function definitionText({ llm_template, code_template, external_config }: Templates): string {
  if (llm_template !== null) return llmText(llm_template);
  if (code_template !== null) {
    const limits = Object.entries(code_template.limits ?? {}).map(([name, value]) => `# ${name}: ${value}`);
    return [...limits, code_template.code].join('\n');
  }
  return JSON.stringify(external_config, null, 2);
}
