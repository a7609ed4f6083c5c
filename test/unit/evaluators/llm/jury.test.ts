/** A jury asks each member as a judge alone is asked, and makes one outcome of what they answer. */
import t from 'tap';
import type { Jury } from '#core/contracts/jury.ts';
import type { MemberJudgment } from '#core/scoring/mod.ts';
import { judgeOrJury } from '../../../../evaluators/llm/mod.ts';
import { SCALES } from '../../../support/judge/judge-answers.ts';
import {
  error,
  type Request,
  type ScriptedJudge,
  SUBJECT,
  scriptedJudge,
  text,
  verdict,
} from '../../../support/judge/scripted-judge.ts';

const JURY: Jury = { models: ['second', 'third'], rule: 'median', quorum: 2 };

type Answer = string | { status: number; text: string };
type Scale = 'range' | 'boolean' | 'choice';

/** Returns a judge whose answer depends on the model that is asked. */
const answering = (byModel: Record<string, Answer>): ScriptedJudge =>
  scriptedJudge(({ model }: Request) => byModel[model]!);

function ask(
  session: ScriptedJudge,
  jury: Partial<Jury> = {},
  { scale = 'range', earlier = [] }: { scale?: Scale; earlier?: readonly MemberJudgment[] } = {},
) {
  const whole = { ...JURY, ...jury };
  const { scoringType, template } = SCALES[scale];
  const options = { scoringType, evaluatorName: 'Politeness', subject: SUBJECT, session };
  return judgeOrJury({ ...options, template: { ...template, jury: whole }, earlier });
}

t.test('the score is the rule over all members, whose own judgments are kept', async (t) => {
  const session = answering({
    judge: verdict(2, 'Curt.'),
    second: verdict(5, 'Lovely.'),
    third: verdict(4, 'Fine.'),
  });
  const { outcome, members, use } = await ask(session);
  t.strictSame(outcome, {
    state: 'completed',
    score: 4,
    label: null,
    reasoning: 'Fine.',
    traces: null,
    flags: [],
  });
  t.match(members, [
    { model: 'judge', score: 2, reasoning: 'Curt.', error: null, use: { calls: 1 } },
    { model: 'second', score: 5, reasoning: 'Lovely.', error: null, use: { calls: 1 } },
    { model: 'third', score: 4, reasoning: 'Fine.', error: null, use: { calls: 1 } },
  ]);
  t.same(session.requests.map(({ model }) => model).sort(), ['judge', 'second', 'third']);
  t.match(use, { calls: 3, promptTokens: 300, completionTokens: 60 });
  t.same(
    members!.flatMap((one) => one.use!.requestIds).sort(),
    [...use!.requestIds].sort(),
    "each call is one member's",
  );
});

t.test('a member that fails is left out, and says so, while the others are a quorum', async (t) => {
  const { outcome, members } = await ask(
    answering({ judge: verdict(2), second: error(401, 'Incorrect API key provided'), third: verdict(4) }),
  );
  t.match(outcome, { state: 'completed', score: 3, flags: ['jury_incomplete'] });
  t.match(members![1], { model: 'second', score: null, error: { code: 'judge_unauthorized' } });
});

t.test('fewer members than the quorum give no score', async (t) => {
  const refused = text("I'm sorry, but I can't help with that.");
  const { outcome, members } = await ask(answering({ judge: verdict(5), second: refused, third: refused }));
  t.match(outcome, {
    state: 'failed',
    code: 'jury_no_quorum',
    message: '1 of 3 members judged, and 2 must: second: judge_refused, third: judge_refused',
    retry: 'never',
    pause: null,
  });
  t.match(members![0], { score: 5 }, 'the one score is kept, and is not the score of the jury');
});

t.test(
  'a jury waits for members that may answer later, and pauses for those that must be mended',
  async (t) => {
    const busy = error(429, 'Slow down');
    const unpaid = error(402, 'Payment required');
    const later = await ask(answering({ judge: verdict(5), second: busy, third: unpaid }));
    t.match(later.outcome, { code: 'jury_no_quorum', retry: 'later', pause: null });
    const paused = await ask(answering({ judge: verdict(5), second: error(400, 'No'), third: unpaid }));
    t.match(paused.outcome, { code: 'jury_no_quorum', pause: 'billing' });
    const all = await ask(answering({ judge: verdict(5), second: busy, third: unpaid }), { quorum: 3 });
    t.match(all.outcome, { code: 'jury_no_quorum', pause: 'billing' }, 'waiting would not bring a quorum');
  },
);

t.test('members that had answered are not asked again at the next attempt', async (t) => {
  const busy = { status: 429, text: '{}' };
  const first = await ask(answering({ judge: verdict(5, 'First.'), second: busy, third: busy }));
  const session = answering({ judge: verdict(1), second: verdict(4), third: busy });
  const next = await ask(session, {}, { earlier: first.members! });
  t.same(session.requests.map(({ model }) => model).sort(), ['second', 'third']);
  t.match(next.outcome, { state: 'completed', score: 4.5 });
  t.match(next.members![0], { score: 5, reasoning: 'First.' });
  t.equal(next.use?.calls, 2, 'only the calls of this attempt are counted');
});

t.test('members that disagree have no majority, and are all asked anew when a person retries', async (t) => {
  const split = { judge: verdict('Rude'), second: verdict('Neutral'), third: verdict('Very polite') };
  const first = await ask(answering(split), { rule: 'majority' }, { scale: 'choice' });
  t.match(first.outcome, { state: 'failed', code: 'jury_split', retry: 'never' });
  const session = answering({ ...split, third: verdict('Rude') });
  const next = await ask(session, { rule: 'majority' }, { scale: 'choice', earlier: first.members! });
  t.match(next.outcome, { state: 'completed', score: 0, label: 'Rude' });
  t.equal(session.requests.length, 3);
});

t.test('a split jury waits for a member that may answer later, and asks that one alone', async (t) => {
  const boolean = { scale: 'boolean' } as const;
  const split = { judge: verdict(true), second: verdict(false) };
  const first = await ask(
    answering({ ...split, third: error(503, 'overloaded') }),
    { rule: 'majority' },
    boolean,
  );
  t.match(first.outcome, { state: 'failed', code: 'jury_split', retry: 'later', pause: null });
  const session = answering({ third: verdict(true) });
  const next = await ask(session, { rule: 'majority' }, { ...boolean, earlier: first.members! });
  t.match(next.outcome, { state: 'completed', score: 1, flags: [] });
  t.equal(session.requests.length, 1);
  for (const third of [error(401, 'bad key'), error(400, 'no'), text('I will not say.')]) {
    const { outcome } = await ask(answering({ ...split, third }), { rule: 'majority' }, boolean);
    t.match(
      outcome,
      { code: 'jury_split', retry: 'never', pause: null },
      'one that will not answer decides nothing',
    );
  }
  const models = ['second', 'third', 'fourth', 'fifth'];
  const four = { judge: verdict('Rude'), second: verdict('Neutral'), third: verdict('Very polite') };
  const hopeless = answering({ ...four, fourth: verdict('Neutral'), fifth: error(503, 'overloaded') });
  const even = await ask(hopeless, { rule: 'majority', models, quorum: 3 }, { scale: 'choice' });
  t.match(even.outcome, { code: 'jury_split', retry: 'later' }, 'three of five would agree');
  const late = answering({ ...four, fourth: error(503, 'overloaded'), fifth: error(400, 'no') });
  const never = await ask(late, { rule: 'majority', models, quorum: 3 }, { scale: 'choice' });
  t.match(never.outcome, { code: 'jury_split', retry: 'never' }, 'two of four would be no majority');
});

t.test('a record without data is skipped before any member is asked', async (t) => {
  const session = answering({});
  const { scoringType, template } = SCALES.boolean;
  const judged = await judgeOrJury({
    scoringType,
    template: { ...template, prompt: '{{inputs.missing}}', jury: JURY },
    evaluatorName: 'Politeness',
    subject: SUBJECT,
    session,
  });
  t.match(judged.outcome, { state: 'skipped', reason: 'variables_missing' });
  t.equal(session.requests.length, 0);
});
