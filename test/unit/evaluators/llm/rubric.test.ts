/** One call of a judge by several criteria: each has a verdict of its own, and none is lost or invented. */
import t from 'tap';
import { type Criterion, judgeRubric } from '../../../../evaluators/llm/mod.ts';
import {
  error,
  type Request,
  type ScriptedJudge,
  SUBJECT,
  scriptedJudge,
  text,
} from '../../../support/judge/scripted-judge.ts';

const CRITERIA: Criterion[] = [
  {
    evaluatorId: 'polite',
    version: 1,
    name: 'Politeness',
    scoringType: 'LLM-RANGE',
    template: { model: 'other', prompt: 'How polite is it?', min: 1, max: 5 },
  },
  {
    evaluatorId: 'right',
    version: 3,
    name: 'Right "or" wrong',
    scoringType: 'LLM-BOOLEAN',
    template: { model: 'other', prompt: 'Is it right?' },
  },
  {
    evaluatorId: 'tone',
    version: 2,
    name: 'Tone',
    scoringType: 'LLM-CHOICE',
    template: {
      model: 'other',
      prompt: 'Which tone?',
      choices: [
        { score: 0, description: 'rude' },
        { score: 1, description: 'friendly' },
      ],
    },
  },
];

const of = (score: unknown, reasoning = 'Because.') => ({ reasoning, score });
const GOOD = { criterion_1: of(4), criterion_2: of(true), criterion_3: of('friendly') };

/** A completion that calls the tool with these arguments. */
function submits(given: unknown): string {
  const call = {
    name: 'submit_verdict',
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  };
  return JSON.stringify({
    model: 'gpt-4o-mini',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, tool_calls: [{ type: 'function', function: call }] },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  });
}

const ask = (session: ScriptedJudge, prompt = 'A support chat.') =>
  judgeRubric(
    { template: { model: 'judge', prompt }, evaluatorName: 'Support', subject: SUBJECT, session },
    CRITERIA,
  );
const statesOf = ({ criteria }: Awaited<ReturnType<typeof ask>>) =>
  criteria!.map(({ outcome }) => (outcome.state === 'completed' ? outcome.score : outcome.code));

t.test('one call asks for all criteria by one schema, and gives each its own score', async (t) => {
  const session = scriptedJudge(submits(GOOD));
  const judged = await ask(session);
  t.match(judged.outcome, { state: 'completed', score: null, flags: [] });
  t.strictSame(judged.criteria, [
    {
      evaluatorId: 'polite',
      version: 1,
      outcome: { state: 'completed', score: 4, label: null, reasoning: 'Because.' },
    },
    {
      evaluatorId: 'right',
      version: 3,
      outcome: { state: 'completed', score: 1, label: null, reasoning: 'Because.' },
    },
    {
      evaluatorId: 'tone',
      version: 2,
      outcome: { state: 'completed', score: 1, label: 'friendly', reasoning: 'Because.' },
    },
  ]);
  t.equal(session.requests.length, 1);
  const [request] = session.requests as [Request];
  const { parameters } = request.tools![0]!.function;
  t.match(parameters, {
    required: ['criterion_1', 'criterion_2', 'criterion_3'],
    properties: {
      criterion_1: { required: ['reasoning', 'score'], properties: { score: { type: 'number' } } },
      criterion_2: { properties: { score: { type: 'boolean' } } },
      criterion_3: { properties: { score: { type: 'string' } } },
    },
  });
  const [rules, user] = request.messages.map(({ content }) => content);
  for (const { template } of CRITERIA) t.match(rules, template.prompt);
  t.match(rules, 'called "Right \\"or\\" wrong"');
  t.match(user, '"It is 4, thank you for asking."');
  t.equal(judged.use?.calls, 1);
});

t.test('criteria without a verdict are asked for once more, and the others stay as they were', async (t) => {
  const session = scriptedJudge(
    submits({ ...GOOD, criterion_2: of('maybe'), criterion_3: undefined }),
    submits({ criterion_1: of(1), criterion_2: of(false), criterion_3: of('rude') }),
  );
  const judged = await ask(session);
  t.same(statesOf(judged), [4, 0, 0], 'the first verdict of a criterion stands');
  t.match(judged.outcome, { state: 'completed', flags: ['repaired'] });
  const repair = session.requests[1]!.messages.at(-1)!.content;
  t.match(repair, 'criterion_2');
  t.match(repair, 'criterion_3');
  t.notMatch(repair, 'criterion_1');
});

t.test('an invalid criterion is an error of its own and loses no other', async (t) => {
  const judged = await ask(
    scriptedJudge(submits({ ...GOOD, criterion_2: of('maybe'), criterion_3: of('sad') })),
  );
  t.same(statesOf(judged), [4, 'judge_malformed', 'judge_unknown_choice']);
  t.match(judged.outcome, { state: 'completed', score: null, flags: ['repaired', 'rubric_incomplete'] });
});

t.test('a score out of range is not asked for again', async (t) => {
  const session = scriptedJudge(submits({ ...GOOD, criterion_1: of(6) }));
  t.same(statesOf(await ask(session)), ['judge_out_of_range', 1, 1]);
  t.equal(session.requests.length, 1);
});

t.test('verdicts of the first answer are kept when asking for the rest fails', async (t) => {
  const judged = await ask(
    scriptedJudge(submits({ ...GOOD, criterion_2: of(null) }), error(500, 'Down for maintenance')),
  );
  t.same(statesOf(judged), [4, 'judge_no_verdict', 1]);
  t.match(judged.outcome, { state: 'completed', flags: ['repaired', 'rubric_incomplete'] });
});

t.test('an answer without any verdict fails, and gives no criterion an outcome', async (t) => {
  const CASES: [string, string, string][] = [
    ['no member', submits({}), 'judge_no_verdict'],
    ['scores beside the criteria', submits({ score: 4, reasoning: 'All.' }), 'judge_malformed'],
    ['a list', submits([of(4), of(true), of('rude')]), 'judge_malformed'],
    ['a refusal', text("I'm sorry, but I can't help with that."), 'judge_refused'],
    [
      'two scores of each criterion',
      submits(
        '{"criterion_1":{"score":1,"score":5},"criterion_2":{"score":true},"criterion_3":{"score":"rude"}}',
      ),
      'judge_malformed',
    ],
  ];
  for (const [what, answer, code] of CASES) {
    const judged = await ask(scriptedJudge(answer));
    t.match(judged.outcome, { state: 'failed', code }, what);
    t.same(judged.criteria, [], what);
  }
});

t.test('a criterion that is given twice has no verdict, and the others have theirs', async (t) => {
  const twice =
    '{"criterion_1":{"reasoning":"a","score":1},"criterion_2":{"score":true},"criterion_3":{"score":"rude"},"criterion_1":{"reasoning":"b"}}';
  t.same(statesOf(await ask(scriptedJudge(submits(twice)))), ['judge_malformed', 1, 0]);
});

t.test('a provider without tools is asked by a schema, and without that in words', async (t) => {
  const session = scriptedJudge(
    error(400, 'tools are not supported'),
    error(400, 'response_format is not supported'),
    text(`\`\`\`json\n${JSON.stringify(GOOD, null, 2)}\n\`\`\``),
  );
  const judged = await ask(session);
  t.same(statesOf(judged), [4, 1, 1]);
  t.match(session.requests[1]?.response_format, {
    json_schema: { schema: { required: ['criterion_1', 'criterion_2', 'criterion_3'] } },
  });
  t.match(session.requests[2]?.messages[0]?.content, '"criterion_3": {"reasoning": "why", "score": …}');
  t.match(judged, { parse: 'fenced_json', outcome: { flags: ['parse_fallback'] } });
});

t.test('words behind the verdict of a rubric must not be another by any criterion', async (t) => {
  const fenced = (after: string) => text(`\`\`\`json\n${JSON.stringify(GOOD)}\n\`\`\`\n${after}`);
  t.same(statesOf(await ask(scriptedJudge(fenced('Let me know if you need more detail.')))), [4, 1, 1]);
  for (const after of ['My score for politeness is 1.', 'But it is false.', 'The tone is rude.']) {
    const session = scriptedJudge(fenced(after), submits({ ...GOOD, criterion_1: of(1) }));
    const judged = await ask(session);
    t.same(statesOf(judged), [1, 1, 1], after);
    t.match(judged.outcome, { flags: ['repaired'] });
    t.match((await ask(scriptedJudge(fenced(after)))).outcome, { state: 'failed', code: 'judge_malformed' });
  }
});

t.test('a record without the data of the prompt is skipped before the judge is asked', async (t) => {
  const session = scriptedJudge(submits(GOOD));
  t.match((await ask(session, '{{inputs.none}}')).outcome, { state: 'skipped', reason: 'variables_missing' });
  t.equal(session.requests.length, 0);
});
