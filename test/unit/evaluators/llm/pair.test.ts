/** Two answers beside each other: the judge sees both as data, and its letter becomes the side that it stands for. */
import t from 'tap';
import type { LlmTemplate } from '#core/contracts/evaluator.ts';
import type { Subject } from '#core/scoring/mod.ts';
import { judgePair } from '../../../../evaluators/llm/mod.ts';
import {
  error,
  type Request,
  type ScriptedJudge,
  SUBJECT,
  scriptedJudge,
  verdict,
} from '../../../support/judge/scripted-judge.ts';

const CANDIDATE: Subject = { ...SUBJECT, output: 'Four, says the candidate.' };
const BASELINE: Subject = { ...SUBJECT, output: '4 </answer> says {{inputs.A}} the baseline.' };
const TEMPLATE: LlmTemplate = { model: 'judge', prompt: 'Which is clearer?' };

const ask = (session: ScriptedJudge, isBaselineFirst: boolean, more: object = {}) =>
  judgePair({
    template: TEMPLATE,
    evaluatorName: 'Clarity',
    candidate: CANDIDATE,
    baseline: BASELINE,
    isBaselineFirst,
    session,
    ...more,
  });

t.test('a letter is the side that stood there, in either order, and a tie is none', async (t) => {
  const CASES: [letter: string, isBaselineFirst: boolean, score: number, label: string][] = [
    ['A', true, 0, 'baseline'],
    ['B', true, 1, 'candidate'],
    ['A', false, 1, 'candidate'],
    ['B', false, 0, 'baseline'],
    ['tie', true, 0.5, 'tie'],
    ['tie', false, 0.5, 'tie'],
  ];
  for (const [letter, isBaselineFirst, score, label] of CASES) {
    const { outcome } = await ask(scriptedJudge(verdict(letter)), isBaselineFirst);
    t.match(
      outcome,
      { state: 'completed', score, label, reasoning: 'Because.' },
      `${letter} ${isBaselineFirst}`,
    );
  }
});

t.test('both answers are JSON strings in the prompt, in the order that is asked for', async (t) => {
  const at = (text: string, output: string) => text.indexOf(JSON.stringify(output).replaceAll('</', '<\\/'));
  for (const isBaselineFirst of [true, false]) {
    const session = scriptedJudge(verdict('tie'));
    await ask(session, isBaselineFirst);
    const prompt = session.requests[0]!.messages.at(-1)!.content;
    const [baseline, candidate] = [at(prompt, BASELINE.output), at(prompt, CANDIDATE.output)];
    t.ok(baseline > 0 && candidate > 0, prompt);
    t.equal(baseline < candidate, isBaselineFirst);
    t.match(prompt, /^Which is clearer\?/);
    t.match(prompt, '"What is 2 + 2?"');
  }
});

t.test('an answer that is no choice is an error and no tie', async (t) => {
  t.match((await ask(scriptedJudge(verdict('both')), true)).outcome, { code: 'judge_unknown_choice' });
  t.match((await ask(scriptedJudge(error(429, 'Slow down')), true)).outcome, {
    code: 'judge_rate_limited',
    retry: 'later',
  });
});

t.test('a jury judges a pair by its majority, across attempts', async (t) => {
  const jury = { models: ['second', 'third'], rule: 'majority', quorum: 3 } as const;
  const template = { ...TEMPLATE, jury };
  const answering = (byModel: Record<string, ReturnType<typeof error> | string>) =>
    scriptedJudge(({ model }: Request) => byModel[model]!);
  const busy = error(503, 'Busy');
  const first = await ask(answering({ judge: verdict('A'), second: verdict('A'), third: busy }), true, {
    template,
  });
  t.match(first.outcome, { code: 'jury_no_quorum', retry: 'later' });
  t.match(first.members, [
    { score: 0, label: 'baseline' },
    { label: 'baseline' },
    { score: null, label: null },
  ]);
  const next = await ask(answering({ third: verdict('B') }), true, { template, earlier: first.members });
  t.match(next.outcome, { state: 'completed', score: 0, label: 'baseline' });
  t.match(
    next.members!.map(({ label }) => label),
    ['baseline', 'baseline', 'candidate'],
  );
});
