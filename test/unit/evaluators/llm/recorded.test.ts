import fc from 'fast-check';
import t from 'tap';
import { judge } from '../../../../evaluators/llm/judge.ts';
import type { Judged } from '../../../../evaluators/llm/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { RECORDED_ANSWERS, type RecordedAnswer, SCALES } from '../../../support/judge/judge-answers.ts';
import { SUBJECT, scriptedJudge, text } from '../../../support/judge/scripted-judge.ts';

async function judgeWith(scale: RecordedAnswer['scale'], body: string): Promise<Judged> {
  const session = scriptedJudge(body);
  return judge({ ...SCALES[scale], evaluatorName: 'Politeness', subject: SUBJECT, session });
}

for (const { name, scale, body, expected } of RECORDED_ANSWERS) {
  t.test(`${scale}: ${name}`, async (t) => {
    const { outcome, parse, use } = await judgeWith(scale, body);
    if ('code' in expected) {
      t.match(outcome, { state: 'failed', code: expected.code, retry: 'never', pause: null });
      t.notOk('score' in outcome, 'an error has no score');
      t.equal(use?.calls, expected.calls ?? 2);
      t.equal(parse, null);
    } else {
      t.match(outcome, { state: 'completed', score: expected.score, label: expected.label ?? null });
      t.equal(parse, expected.parse);
      t.equal(use?.calls, 1);
      if ('reasoning' in expected && outcome.state === 'completed') {
        t.equal(outcome.reasoning, expected.reasoning);
      }
    }
  });
}

t.test('there are at least 60 recorded judge answers, and the unreadable ones are listed', async (t) => {
  t.ok(RECORDED_ANSWERS.length >= 60, `${RECORDED_ANSWERS.length} answers`);
  t.equal(
    new Set(RECORDED_ANSWERS.map(({ scale, name }) => `${scale} ${name}`)).size,
    RECORDED_ANSWERS.length,
  );
  const failures = RECORDED_ANSWERS.filter(({ expected }) => 'code' in expected);
  for (const { name, expected } of failures) t.comment(`${'code' in expected && expected.code}: ${name}`);
  t.ok(failures.length > 20);
});

/** Texts composed of parts of verdicts, so that random texts come near to those that a parser must tell apart. */
const fragment = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom(
    '{',
    '}',
    '"score"',
    ':',
    '4',
    '11',
    '-1',
    '1e999',
    'NaN',
    'true',
    'yes',
    ',',
    '\n',
    '```json\n',
  ),
  fc.constantFrom(
    '```',
    '"Rude"',
    'Rude',
    'very polite',
    '<think>',
    '</think>',
    'null',
    '[',
    ']',
    '"reasoning":"x",',
  ),
  fc.double().map(String),
);
const texts = fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join(''));
const short = fc.oneof(
  fc.array(fragment, { maxLength: 3 }).map((parts) => parts.join('')),
  fc.constantFrom(
    '4',
    '0.5',
    '"4"',
    '"4/5"',
    'true',
    '"No"',
    '"RUDE"',
    '"very  polite"',
    '5.0000000001',
    '6',
    '-2',
    '{}',
  ),
  fc.double({ min: -3, max: 7 }).map(String),
);
const bodies = fc.oneof(
  short.map((score) => text(`{"reasoning":"x","score":${score}}`)),
  short.map((score) => text(`Thoughts.\n\`\`\`json\n{"score":${score}}\n\`\`\`\n`)),
  short.map((line) => text(`Thoughts.\n${line}`)),
  texts.map((content) => text(content)),
  texts.map((given) =>
    JSON.stringify({
      choices: [{ message: { tool_calls: [{ function: { name: 'submit_verdict', arguments: given } }] } }],
    }),
  ),
  fc.anything().map((value) => {
    const score = typeof value === 'bigint' ? String(value) : value;
    let given: string;
    try {
      given = JSON.stringify({ score }) ?? '';
    } catch {
      given = '';
    }
    return JSON.stringify({
      choices: [{ message: { tool_calls: [{ function: { name: 'submit_verdict', arguments: given } }] } }],
    });
  }),
  fc.json(),
  texts,
);

t.test('no judge answer, however random, gives a score outside its scale', async (t) => {
  let completed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<RecordedAnswer['scale']>('range', 'signed', 'boolean', 'choice'),
      bodies,
      async (scale, body) => {
        const { outcome } = await judgeWith(scale, body);
        if (outcome.state !== 'completed') return !('score' in outcome);
        completed += 1;
        const { score, label } = outcome;
        const { template } = SCALES[scale];
        if ('choices' in template) {
          return template.choices.some((choice) => choice.score === score && choice.description === label);
        }
        if ('min' in template) return score! >= template.min && score! <= template.max && label === null;
        return (score === 0 || score === 1) && label === null;
      },
    ),
    runs(t, 1_500),
  );
  t.ok(completed > 50, `${completed} of them were verdicts`);
});

/** Sentences that contain labels without being one. */
const aside = fc.constantFrom(
  'The answer greets its reader.',
  'Some would call that rude!',
  'It is neutral in tone, I think.',
  'Is it very polite?',
  'Rude or neutral: that is the question…',
  'He wrote "Rude."',
);

t.test(
  'prose whose last sentence is one label is that choice, whatever other labels it mentions',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aside, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('Rude', 'Neutral', 'Very polite', 'neutral', 'VERY POLITE'),
        fc.constantFrom(' ', '  ', '\n', '\n\n'),
        fc.constantFrom('', '.'),
        async (before, label, gap, stop) => {
          const { outcome, use } = await judgeWith(
            'choice',
            text(`${before.join(' ')}${gap}${label}${stop}`),
          );
          return (
            outcome.state === 'completed' &&
            outcome.label?.toLowerCase() === label.toLowerCase() &&
            use?.calls === 1
          );
        },
      ),
    );
  },
);

t.test('prose whose last sentence is no label has no verdict, whatever labels it mentions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aside, { minLength: 1, maxLength: 8 }), async (sentences) => {
      const { outcome } = await judgeWith('choice', text(sentences.join(' ')));
      return outcome.state === 'failed';
    }),
  );
});

t.test('a megabyte of text that is hard to parse is parsed within the time limit', async (t) => {
  const large = 1_000_000;
  const contents = [
    ' '.repeat(large),
    `x${' '.repeat(large)}x`,
    '{'.repeat(large),
    '[{'.repeat(large / 2),
    '{"score":'.repeat(large / 9),
    '"score"'.repeat(large / 7),
    '</s>'.repeat(large / 4),
    '**'.repeat(large / 2),
    '```json\n{'.repeat(large / 9),
    '<think>'.repeat(large / 7),
    `<think>${'</think>'.repeat(large / 8)}`,
    '[TOOL_CALLS]'.repeat(large / 12),
    '9'.repeat(large),
    "I'm sorry, I can't ".repeat(large / 19),
    ...['x', ' ', '{', '*', '"', '\n'].map((character) => `It is\n${character.repeat(60_000)}`),
    `${'{"a":'.repeat(10_000)}4${'}'.repeat(10_000)}`,
  ];
  for (const content of contents) {
    const startedMs = performance.now();
    const { outcome } = await judgeWith('range', text(content));
    const asTool = JSON.stringify({
      choices: [{ message: { tool_calls: [{ function: { name: 'submit_verdict', arguments: content } }] } }],
    });
    await judgeWith('choice', asTool);
    const tookMs = performance.now() - startedMs;
    t.equal(outcome.state, 'failed');
    t.ok(tookMs < 10_000, `${content.slice(0, 20)}: ${Math.round(tookMs)} ms`);
  }
});
