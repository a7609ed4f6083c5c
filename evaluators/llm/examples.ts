/**
 * Renders the examples of a judge, in the one place where they are sent: before the prompt, in the user's message. They may
 * be answers of strangers, so they are JSON like what is judged: no text of them can close its tag, or stand outside of it.
 */
import { findChoice } from '#core/contracts/categories.ts';
import type { Example } from '#core/contracts/examples.ts';
import { jsonAsData } from '#core/scoring/mod.ts';
import type { Scale } from './scale.ts';

/** Returns the text before the prompt; empty when there are no examples. */
export function renderExamples(examples: readonly Example[], scale: Scale): string {
  if (examples.length === 0) return '';
  const blocks = examples.map(({ input, output, ...given }) =>
    [
      '<example>',
      `Input: ${jsonAsData(input)}`,
      `Output: ${jsonAsData(output)}`,
      `Verdict: ${jsonAsData(verdictOf(given, scale))}`,
      '</example>',
    ].join('\n'),
  );
  return `Examples of verdicts by the criterion that follows them:\n\n${blocks.join('\n')}\n\n`;
}

/** Returns the verdict as the judge itself would give it, the reasoning first. */
function verdictOf({ score, label, reasoning }: Omit<Example, 'input' | 'output'>, scale: Scale) {
  return { ...(reasoning === undefined ? {} : { reasoning }), score: scoreOf(score, label, scale) };
}

function scoreOf(score: Example['score'], label: string | undefined, scale: Scale) {
  switch (scale.kind) {
    case 'boolean':
      return Boolean(score);
    case 'range':
      return score;
    case 'choice':
      return findChoice(label ?? '', scale.choices)?.description ?? label;
  }
}
