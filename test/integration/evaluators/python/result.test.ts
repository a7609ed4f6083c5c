/** What `evaluate` may return beside a number: a dict of score, label and reasoning, and labels of categories. */
import t from 'tap';
import type { Sandbox } from '../../../../evaluators/python/mod.ts';
import { brief, define, messageOf, openSandbox } from './support/sandbox.ts';

const texts = { input: 'input', output: 'output' };
const CHOICES = [
  { score: 0, description: 'bad' },
  { score: 0.5, description: 'Fair enough' },
  { score: 1, description: 'good' },
];

const run = async (sandbox: Sandbox, body: string, choices?: typeof CHOICES) =>
  (await sandbox.evaluate({ code: define(body), ...texts, choices })).outcome;

t.test('a dict gives score, label and reasoning, of which the texts may be absent or None', async (t) => {
  const sandbox = await openSandbox(t);
  const returned: [body: string, score: number, label: string | null, reasoning: string | null][] = [
    ['return {"score": 0.5, "label": "fair", "reasoning": "So so."}', 0.5, 'fair', 'So so.'],
    ['return {"score": True}', 1, null, null],
    ['return {"score": 2, "label": None, "reasoning": None}', 2, null, null],
    ['return {"score": 2, "reasoning": "  "}', 2, null, null],
    ['return {"score": 1, "label": "é🎉", "reasoning": "a\\n\\x07b"}', 1, 'é🎉', 'a\nb'],
  ];
  for (const [body, score, label, reasoning] of returned) {
    t.match(await run(sandbox, body), { state: 'completed', score, label, reasoning }, body);
  }
});

t.test('a long reasoning is cut to 4 KB, and printed output is kept beside it', async (t) => {
  const sandbox = await openSandbox(t);
  const outcome = await run(
    sandbox,
    'print("é" * 20_000)\nreturn {"score": 1, "label": "🎉" * 500, "reasoning": "é" * 5_000}',
  );
  if (outcome.state !== 'completed') return t.fail(messageOf(outcome));
  t.equal(Buffer.byteLength(outcome.reasoning!), 4_095);
  t.match(outcome.reasoning, /^é+…$/);
  t.equal(outcome.label, '🎉'.repeat(500));
  t.match(outcome.traces, /é\n\[more was printed\]$/);
});

t.test('a dict that breaks a rule is an error that names the rule', async (t) => {
  const sandbox = await openSandbox(t);
  const wrong: [body: string, message: string, code?: string][] = [
    [
      'return {"score": 1, "lable": "x"}',
      "evaluate returned a dict with the unknown member 'lable'; its members are score, label and reasoning",
    ],
    [
      'return {1: 2}',
      'evaluate returned a dict with the unknown member of type int; its members are score, label and reasoning',
    ],
    ['return {"score": "1"}', 'evaluate returned str as the score; it must be a bool, an int or a float'],
    ['return {"score": 1, "label": 3}', 'evaluate returned int as the label; it must be a str'],
    [
      'return {"score": 1, "label": ""}',
      'evaluate returned a label of 0 characters; it must have 1 to 500, and not only spaces',
    ],
    [
      'return {"score": 1, "label": "x" * 501}',
      'evaluate returned a label of 501 characters; it must have 1 to 500, and not only spaces',
    ],
    ['return {"score": 1, "reasoning": ["x"]}', 'evaluate returned list as the reasoning; it must be a str'],
    [
      'return {"reasoning": "x"}',
      'evaluate returned a dict without a score, which only an evaluator with categories may do, for a label',
    ],
    [
      'return {"score": None, "label": "good"}',
      'evaluate returned a dict without a score, which only an evaluator with categories may do, for a label',
    ],
    ['return {"score": float("inf")}', 'evaluate returned inf; a score must be finite', 'py_not_finite'],
  ];
  for (const [body, message, code = 'py_bad_return_type'] of wrong) {
    t.match(await run(sandbox, body), { state: 'failed', code, message, retry: 'never' }, body);
  }
});

t.test('with categories, the label decides the score, and a score its label', async (t) => {
  const sandbox = await openSandbox(t);
  for (const body of [
    'return "fair ENOUGH"',
    'return {"label": "Fair enough"}',
    'return {"score": 0.5, "label": "Fair enough"}',
    'return {"score": 0.5}',
    'return 0.5',
  ]) {
    t.match(
      await run(sandbox, body, CHOICES),
      { state: 'completed', score: 0.5, label: 'Fair enough' },
      body,
    );
  }
  t.match(await run(sandbox, 'return {"label": "good", "reasoning": "Yes."}', CHOICES), {
    score: 1,
    reasoning: 'Yes.',
  });
  t.match(await run(sandbox, 'return True', CHOICES), { score: 1, label: 'good' });
});

t.test('a label or a score that no category has is an error that names the categories', async (t) => {
  const sandbox = await openSandbox(t);
  const allowed = '"bad" (0), "Fair enough" (0.5), "good" (1)';
  const wrong: [body: string, message: string][] = [
    ['return "great"', `evaluate returned the label "great", which no category has; they are ${allowed}`],
    ['return 0.7', `evaluate returned the score 0.7, which no category has; they are ${allowed}`],
    [
      'return {"score": 0, "label": "good"}',
      'evaluate returned the label "good" with the score 0, but its score is 1',
    ],
  ];
  for (const [body, message] of wrong) {
    const outcome = await run(sandbox, `print("seen")\n${body}`, CHOICES);
    t.match(
      outcome,
      { state: 'failed', code: 'py_unknown_label', message, retry: 'never', traces: 'seen\n' },
      body,
    );
  }
  const twins = [...CHOICES, { score: 1, description: 'excellent' }];
  t.match(await run(sandbox, 'return 1', twins), {
    code: 'py_unknown_label',
    message: 'evaluate returned the score 1, which several categories have; it must return the label',
  });
  t.match(await run(sandbox, 'return {"reasoning": "x"}', CHOICES), {
    code: 'py_bad_return_type',
    message: 'evaluate returned a dict without a score and without a label; it must have one of them',
  });
  t.match(await run(sandbox, 'return [1]', CHOICES), {
    message:
      'evaluate returned list; it must return a label, a score, or a dict of score, label and reasoning',
  });
});

t.test('records of a batch have their own labels, and one with a wrong label fails alone', async (t) => {
  const sandbox = await openSandbox(t);
  const records = ['good', 'none', 'bad'].map((input) => ({ input, output: '' }));
  const results = await sandbox.evaluateMany({ code: define('return input'), records, choices: CHOICES });
  t.same(
    results.map(({ outcome }) => (outcome.state === 'completed' ? outcome.label : brief(outcome))),
    ['good', 'py_unknown_label', 'bad'],
  );
});
