/** Judges two answers beside each other, in one order. The score is the candidate's: 1, 0, or a half for a tie. */
import { pairChoices, pairLabel, pairPrompt, pairSubject, type Subject } from '#core/scoring/mod.ts';
import type { Judged } from './judge.ts';
import { type JuryOptions, judgeOrJury } from './jury.ts';

/** The input of one attempt. */
export type PairOptions = Omit<JuryOptions, 'scoringType' | 'subject'> & {
  candidate: Subject;
  baseline: Subject;
  isBaselineFirst: boolean;
};

/** The letters A and B, by which a judge names the answers, become the sides that they stand for. */
export async function judgePair(options: PairOptions): Promise<Judged> {
  const { candidate, baseline, isBaselineFirst, template, earlier = [], ...rest } = options;
  const choices = pairChoices(isBaselineFirst);
  const letterOf = (score: number | null) =>
    choices.find((choice) => choice.score === score)?.description ?? null;
  const judged = await judgeOrJury({
    ...rest,
    earlier: earlier.map((member) => ({ ...member, label: letterOf(member.score) })),
    scoringType: 'LLM-CHOICE',
    template: { ...template, prompt: pairPrompt(template.prompt), choices },
    subject: pairSubject(candidate, baseline, isBaselineFirst),
  });
  const { outcome, members } = judged;
  if (outcome.state === 'completed') outcome.label = sideOf(outcome.score);
  const named = members?.map((member) => ({ ...member, label: sideOf(member.score) }));
  return { ...judged, ...(named !== undefined && { members: named }) };
}

const sideOf = (score: number | null) => (score === null ? null : pairLabel(score));
