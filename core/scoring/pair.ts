/** Pairs: two answers to one question, which a judge sees beside each other, in either order. Pure. */
import type { Choice } from '../contracts/categories.ts';
import type { Subject } from './outcome.ts';

/** The scores of a pair: those of the candidate's answer. */
const SCORES = { candidate: 1, tie: 0.5, baseline: 0 } as const;

/** The side whose answer a judge prefers. */
export type PairLabel = keyof typeof SCORES;

/** Returns the prompt that shows a judge both answers; `prompt` has no variables. */
export function pairPrompt(prompt: string): string {
  return [
    prompt.trimEnd(),
    '',
    'Two answers to the same input are to be compared. Choose A when answer A is better by this criterion, B when answer B ' +
      'is, and tie when neither is. The order in which they stand says nothing about them.',
    '',
    'Input:',
    '{{input}}',
    '',
    'Answer A:',
    '{{inputs.A}}',
    '',
    'Answer B:',
    '{{inputs.B}}',
    '',
  ].join('\n');
}

/** Returns the choices of a judge, with the scores of the candidate. */
export function pairChoices(isBaselineFirst: boolean): Choice[] {
  const [first, second] = isBaselineFirst
    ? [SCORES.baseline, SCORES.candidate]
    : [SCORES.candidate, SCORES.baseline];
  return [
    { description: 'A', score: first },
    { description: 'B', score: second },
    { description: 'tie', score: SCORES.tie },
  ];
}

/** Returns the subject of a pair: the candidate's, with both answers as inputs of `pairPrompt`. */
export function pairSubject(candidate: Subject, baseline: Subject, isBaselineFirst: boolean): Subject {
  const [first, second] = isBaselineFirst ? [baseline, candidate] : [candidate, baseline];
  return { ...candidate, inputs: { A: first.output, B: second.output } };
}

/** Returns the side that a score of a pair prefers. */
export function pairLabel(score: number): PairLabel {
  return score === SCORES.tie ? 'tie' : score === SCORES.candidate ? 'candidate' : 'baseline';
}
