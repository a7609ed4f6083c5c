/**
 * Has a jury judge a subject: each member is asked as a judge alone would be, all at once. The score is a rule over those that
 * answered, if they are a quorum; members that answered at an earlier attempt of the evaluation are not asked again.
 */
import { type Jury, membersOf } from '#core/contracts/jury.ts';
import {
  type FailedOutcome,
  type MemberJudgment,
  mayAgree,
  type Outcome,
  settleJury,
} from '#core/scoring/mod.ts';
import { failed } from './failure.ts';
import { type Judged, type JudgeOptions, judge } from './judge.ts';
import { sumUse } from './use.ts';

/** A member's judgment, and the outcome of asking it at this attempt; null: it had answered before. */
type Asked = { judgment: MemberJudgment; judged: Judged | null };

/** The input of one attempt by a judge or a jury. */
export type JuryOptions = JudgeOptions & {
  /** The judgments of a jury's members at an earlier attempt at the same evaluation. Absent: this is the first. */
  earlier?: readonly MemberJudgment[];
};

/** Judges a subject by the jury of the template, or by its judge alone. */
export async function judgeOrJury({ earlier = [], ...options }: JuryOptions): Promise<Judged> {
  const { jury } = options.template;
  return jury === undefined ? await judge(options) : await judgeByJury(options, jury, earlier);
}

async function judgeByJury(
  options: JudgeOptions,
  jury: Jury,
  earlier: readonly MemberJudgment[],
): Promise<Judged> {
  const { template } = options;
  // When all had answered, it is their answers that are to be had anew: a person has asked for another attempt.
  const kept = earlier.every(({ score }) => score !== null) ? [] : earlier;
  const asked = await Promise.all(
    membersOf(template).map(async (model): Promise<Asked> => {
      const before = kept.find((one) => one.model === model && one.score !== null);
      if (before !== undefined) return { judgment: before, judged: null };
      const judged = await judge({ ...options, template: { ...template, model } });
      return { judgment: judgmentOf(model, judged), judged };
    }),
  );
  const judged = asked.flatMap((one) => (one.judged === null ? [] : [one.judged]));
  const [first] = judged;
  // A record without data is skipped before a member is asked, so by all members alike.
  const skipped = judged.find(({ outcome }) => outcome.state === 'skipped');
  if (skipped !== undefined) return skipped;
  const members = asked.map(({ judgment }) => judgment);
  return {
    outcome: outcomeOf(jury, asked),
    members,
    use: sumUse(judged.map(({ use }) => use)),
    ...(first?.warnings !== undefined && { warnings: first.warnings }),
    prompt: first?.prompt ?? '',
    raw: null,
    parse: null,
  };
}

function judgmentOf(model: string, { outcome, use }: Judged): MemberJudgment {
  const judgment = { model, score: null, label: null, reasoning: null, flags: [], error: null, use };
  switch (outcome.state) {
    case 'completed': {
      const { score, label, reasoning, flags } = outcome;
      return { ...judgment, score, label, reasoning, flags };
    }
    case 'failed':
      return { ...judgment, error: { code: outcome.code, message: outcome.message } };
    case 'skipped':
      return { ...judgment, error: { code: outcome.reason, message: outcome.message } };
  }
}

function outcomeOf({ rule, quorum }: Jury, asked: readonly Asked[]): Outcome {
  const answered = asked.flatMap(({ judgment }) => {
    const { score, label, reasoning } = judgment;
    return score === null ? [] : [{ score, label, reasoning }];
  });
  if (answered.length < quorum) return withoutQuorum(quorum, answered.length, asked);
  const verdict = settleJury(rule, answered);
  if (verdict === null) {
    const message = `None of the scores has a majority of the ${answered.length} that were given`;
    const passing = passingFailures(asked);
    return mayAgree(answered, passing.length)
      ? failed('jury_split', message, later(passing))
      : failed('jury_split', message);
  }
  const flags = new Set(asked.flatMap(({ judgment }) => judgment.flags));
  if (answered.length < asked.length) flags.add('jury_incomplete');
  return { state: 'completed', ...verdict, traces: null, flags: [...flags] };
}

/**
 * Fails a jury of which too few answered. It is tried again if those that may answer later would make a quorum, and paused if
 * those would whose key, bill or model must be mended first.
 */
function withoutQuorum(quorum: number, answered: number, asked: readonly Asked[]): FailedOutcome {
  const passing = passingFailures(asked);
  const pausing = failuresOf(asked).filter(({ pause }) => pause !== null);
  const reasons = asked
    .filter(({ judgment }) => judgment.error !== null)
    .map(({ judgment }) => `${judgment.model}: ${judgment.error!.code}`)
    .join(', ');
  const message = `${answered} of ${asked.length} members judged, and ${quorum} must: ${reasons}`;
  if (answered + passing.length >= quorum) return failed('jury_no_quorum', message, later(passing));
  if (answered + passing.length + pausing.length >= quorum) {
    return failed('jury_no_quorum', message, { retry: 'later', pause: pausing[0]!.pause });
  }
  return failed('jury_no_quorum', message);
}

function failuresOf(asked: readonly Asked[]): FailedOutcome[] {
  return asked.flatMap(({ judged }) => (judged?.outcome.state === 'failed' ? [judged.outcome] : []));
}

/** Returns the failures of the members that may answer later. */
function passingFailures(asked: readonly Asked[]): FailedOutcome[] {
  return failuresOf(asked).filter(({ retry, pause }) => retry === 'later' && pause === null);
}

/** Tries a jury again, not before all of these members may be asked. */
function later(passing: readonly FailedOutcome[]): Pick<FailedOutcome, 'retry' | 'retryAfterMs'> {
  const delays = passing.flatMap(({ retryAfterMs }) => (retryAfterMs === null ? [] : [retryAfterMs]));
  return { retry: 'later', retryAfterMs: delays.length === 0 ? null : Math.max(...delays) };
}
