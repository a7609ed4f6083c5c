/** The verdict of a jury: a rule over the scores that its members gave. Pure, so that recorded judgments give it again. */
import type { JuryRule } from '../contracts/jury.ts';

/** A score of a jury or of a member; `label` is that of a choice. */
export type JuryVerdict = { score: number; label: string | null; reasoning: string | null };

/**
 * Returns the verdict of the members that answered, with the reasoning of the first whose score is nearest to it; null when
 * `majority` finds no score that more than half of them gave.
 * @param verdicts at least one, in the order of the members
 */
export function settleJury(rule: JuryRule, verdicts: readonly JuryVerdict[]): JuryVerdict | null {
  if (rule === 'majority') return majorityOf(verdicts);
  if (rule === 'median' && verdicts.some(({ label }) => label !== null)) return middleChoice(verdicts);
  const scores = verdicts.map(({ score }) => score).sort((one, other) => one - other);
  const middle = Math.floor(scores.length / 2);
  const isEven = scores.length % 2 === 0;
  const score =
    rule === 'mean'
      ? meanOf(scores)
      : isEven
        ? scores[middle - 1]! / 2 + scores[middle]! / 2
        : scores[middle]!;
  return { score, label: null, reasoning: nearestTo(score, verdicts).reasoning };
}

function majorityOf(verdicts: readonly JuryVerdict[]): JuryVerdict | null {
  const found = verdicts.find((one) => 2 * countSame(verdicts, one) > verdicts.length);
  return found === undefined ? null : { ...found };
}

/** Returns whether members that are split would have a majority if so many more agreed with some of them. */
export function mayAgree(verdicts: readonly JuryVerdict[], more: number): boolean {
  return verdicts.some((one) => 2 * (countSame(verdicts, one) + more) > verdicts.length + more);
}

function countSame(verdicts: readonly JuryVerdict[], { score, label }: JuryVerdict): number {
  return verdicts.filter((other) => other.score === score && other.label === label).length;
}

/** Returns a choice that was made: of an even number, the lower of the two in the middle, which may not have one between. */
function middleChoice(verdicts: readonly JuryVerdict[]): JuryVerdict {
  const ordered = verdicts.toSorted((one, other) => one.score - other.score);
  return { ...ordered[Math.floor((ordered.length - 1) / 2)]! };
}

/** Returns the mean, which rounding must not move beyond the lowest and the highest. Divides first: sums may be infinite. */
function meanOf(ascending: readonly number[]): number {
  const mean = ascending.reduce((sum, score) => sum + score / ascending.length, 0);
  return Math.min(Math.max(mean, ascending[0]!), ascending.at(-1)!);
}

function nearestTo(score: number, verdicts: readonly JuryVerdict[]): JuryVerdict {
  return verdicts.reduce((best, one) =>
    Math.abs(one.score - score) < Math.abs(best.score - score) ? one : best,
  );
}
