/** The form of a rubric's verdict: one object, with a member for each criterion that has a reasoning and a score. */
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { JudgeMessage } from './completion.ts';
import { isScoreProblem, readScore, type ScoreProblem } from './read-score.ts';
import type { AskedCriterion } from './scale.ts';
import { scoreRules, verdictSchema } from './score-form.ts';
import { findAnswer, type NoVerdict, reasoningOf, type Verdict } from './verdict.ts';

/** The verdicts of one answer, in the order of the criteria. */
export type RubricReading = (Verdict | ScoreProblem)[];

/** Returns the name of a criterion's member: names of evaluators may hold what schemas do not take. */
const memberOf = (index: number) => `criterion_${index + 1}`;

/** Returns the schema of the verdict of a rubric. */
export function rubricSchema(criteria: readonly AskedCriterion[]): JsonObject {
  const members = criteria.map(({ name, scale }, index): [string, JsonObject] => [
    memberOf(index),
    { ...verdictSchema(scale), description: name },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(members),
    required: members.map(([member]) => member),
    additionalProperties: false,
  };
}

/** Returns the criteria, with what their scores may be, as lines of the judge's rules. */
export function criteriaRules(criteria: readonly AskedCriterion[]): string[] {
  return criteria.flatMap(({ name, prompt, scale }, index) => [
    '',
    `${memberOf(index)}, called ${JSON.stringify(name)}:`,
    prompt,
    ...scoreRules(scale),
  ]);
}

/** Returns the verdict of a rubric in words, as JSON. */
export function rubricInWords(criteria: readonly AskedCriterion[]): string {
  return `{${criteria.map((_, index) => `"${memberOf(index)}": {"reasoning": "why", "score": …}`).join(', ')}}`;
}

/** Reads a judge's message: a verdict or its problem for each criterion, or the reason why the message has none at all. */
export function readRubric(
  message: JudgeMessage,
  criteria: readonly AskedCriterion[],
): RubricReading | NoVerdict {
  const scales = criteria.map(({ scale }) => scale);
  const answer = findAnswer(message, scales);
  if ('code' in answer) return answer;
  const { value, text, parse } = answer;
  // Once parsed, a repeated member has only its last value.
  const repeated = (member: string) =>
    (text.match(new RegExp(`(?<!\\\\)"${member}"\\s*:`, 'g'))?.length ?? 0) > 1;
  const given = criteria.filter((_, index) => isObject(value[memberOf(index)])).length;
  const scores = text.match(/(?<!\\)"score"\s*:/g)?.length ?? 0;
  if (scores > given)
    return { code: 'judge_malformed', message: 'it gives more than one score of a criterion' };
  return criteria.map(({ scale }, index): Verdict | ScoreProblem => {
    const member = value[memberOf(index)];
    if (member === undefined) return { code: 'judge_no_verdict', message: 'it does not judge it' };
    if (!isObject(member) || repeated(memberOf(index))) {
      return { code: 'judge_malformed', message: 'it gives no verdict, or more than one' };
    }
    const scored = readScore(Object.hasOwn(member, 'score') ? member.score : undefined, scale);
    if (isScoreProblem(scored)) return scored;
    return { ...scored, reasoning: reasoningOf(member.reasoning), parse };
  });
}

/** Returns the problems of a reading in words, for the judge; empty: there are none that another answer may mend. */
export function problemsOf(reading: RubricReading): string {
  return reading
    .flatMap((one, index) => (isMendable(one) ? [`of ${memberOf(index)}: ${one.message}`] : []))
    .join('; ');
}

/** A score out of range is final: a judge that is pressed picks a bound. */
function isMendable(one: Verdict | ScoreProblem): one is ScoreProblem {
  return 'code' in one && one.code !== 'judge_out_of_range';
}

/** Joins two answers: the second counts only where the first had no verdict that could be read. */
export function mend(first: RubricReading, second: RubricReading): RubricReading {
  return first.map((one, index) => (isMendable(one) ? second[index]! : one));
}
