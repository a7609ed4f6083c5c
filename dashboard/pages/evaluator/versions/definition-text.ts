/** A definition as lines, so that two can be compared. Pure. */
import type { CodeTemplate, LlmTemplate } from '#core/contracts/evaluator.ts';
import type { Example } from '#core/contracts/examples.ts';
import type { EvaluatorVersion, Templates } from '../../../client/evaluators.ts';

function exampleLines({ input, output, score, label, reasoning }: Example): string[] {
  return [
    '',
    `example: ${label ?? score}`,
    `input: ${input}`,
    `output: ${output}`,
    ...(reasoning === undefined ? [] : [`reasoning: ${reasoning}`]),
  ];
}

/** Members that this page knows no words for. */
const otherLines = (rest: object) =>
  Object.entries(rest).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);

function llmLines({ model, prompt, min, max, choices, examples, jury, ...rest }: LlmTemplate): string[] {
  return [
    `model: ${model}`,
    ...(jury?.models ?? []).map((member) => `jury: ${member}`),
    ...(jury === undefined ? [] : [`rule of the jury: ${jury.rule}, quorum ${jury.quorum}`]),
    ...(min === undefined ? [] : [`lowest score: ${min}`]),
    ...(max === undefined ? [] : [`highest score: ${max}`]),
    ...(choices ?? []).map(({ score, description }) => `choice ${score}: ${description}`),
    ...otherLines(rest),
    '',
    prompt,
    ...(examples ?? []).flatMap(exampleLines),
  ];
}

function codeLines({ code, limits, categories }: CodeTemplate): string[] {
  return [
    ...(categories ?? []).map(({ label, score }) => `# category ${score}: ${label}`),
    ...Object.entries(limits ?? {}).map(([name, value]) => `# ${name}: ${value}`),
    code,
  ];
}

function linesOf({ llm_template, code_template, external_config }: Templates): string[] {
  if (llm_template !== null) return llmLines(llm_template);
  return code_template === null ? [JSON.stringify(external_config, null, 2)] : codeLines(code_template);
}

/** Returns the text of a definition: a prompt or code as it is, and everything else a line each. */
export function definitionText(version: Templates & Pick<EvaluatorVersion, 'threshold'>): string {
  const { threshold } = version;
  const lines = linesOf(version);
  return (threshold === null ? lines : [`passes from: ${threshold}`, ...lines]).join('\n');
}
