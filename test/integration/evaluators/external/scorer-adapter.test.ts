import fc from 'fast-check';
import t from 'tap';
import type { ScorerConfig } from '#core/contracts/external.ts';
import { parseExactObject } from '#core/json/mod.ts';
import type { Subject } from '#core/scoring/mod.ts';
import { createOutbound, parseAllowList } from '#platform/outbound/mod.ts';
import { outcomeOf } from './world.ts';

const parsed = parseAllowList([]);
if ('badEntry' in parsed) throw new Error(parsed.badEntry);
const outbound = createOutbound({ allow: parsed.allow });
t.teardown(() => outbound.close());

type Scorer = ScorerConfig['scorer'];
const run = (config: Omit<ScorerConfig, 'adapter'>, subject: Partial<Subject> = {}) =>
  outcomeOf({ config: { adapter: 'autoevals', ...config }, subject, outbound });
const score = (scorer: Scorer, expected: unknown, output: string) => run({ scorer, expected }, { output });

t.test('each in-process scorer scores an answer against the expected value of its config', async (t) => {
  const cases: [Scorer, unknown, string, number][] = [
    ['ExactMatch', 'Paris', 'Paris', 1],
    ['ExactMatch', 'Paris', 'paris', 0],
    ['ExactMatch', { a: 1 }, '{ "a": 1 }', 1],
    ['ExactMatch', 4, '4', 1],
    ['Levenshtein', 'kitten', 'sitting', 1 - 3 / 7],
    ['Levenshtein', '', '', 1],
    ['NumericDiff', 10, ' 10.0 ', 1],
    ['NumericDiff', 10, '30', 0.5],
    ['NumericDiff', 0, '0', 1],
    ['NumericDiff', -1, '1', 0],
    ['JSONDiff', { a: 1, b: 'x' }, '{"a":1,"b":"x"}', 1],
    ['JSONDiff', { a: 1, b: 'x' }, '{"a":1}', 0.5],
    ['JSONDiff', [], '[]', 1],
    ['ListContains', ['a', 'b'], '["b","a"]', 1],
    ['ListContains', ['a', 'b'], '["a"]', 0.5],
    ['ListContains', [], '[]', 1],
  ];
  for (const [scorer, expected, output, expectedScore] of cases) {
    const outcome = await score(scorer, expected, output);
    t.match(outcome, { state: 'completed', reasoning: null }, `${scorer} ${output}`);
    if (outcome.state === 'completed')
      t.ok(Math.abs(outcome.score! - expectedScore) < 1e-9, `${outcome.score}`);
  }
  t.match(await run({ scorer: 'ValidJSON' }, { output: '{"a":[]}' }), { score: 1 });
  t.match(await run({ scorer: 'ValidJSON' }, { output: '{"a":' }), { score: 0 });
  const more = { expected: ['a'], output: '["a","b"]' };
  t.match(await run({ scorer: 'ListContains', expected: more.expected }, more), { score: 0.5 });
  t.match(await run({ scorer: 'ListContains', expected: more.expected, allowExtraEntities: true }, more), {
    score: 1,
  });
});

t.test(
  'expectedFrom takes the expected value from the record, by the names of prompt variables',
  async (t) => {
    const cases: [string, number][] = [
      ['inputs.answer', 1],
      ['properties.Expected-City', 1],
      ['input', 0],
      ['output', 1],
      ['expected', 0],
      ['expected.city', 1],
      ['inputs.a.b', 0],
      ['inputs.list.0', 0],
      ['request.model', 0],
    ];
    for (const [expectedFrom, expected] of cases) {
      t.match(
        await run({ scorer: 'ExactMatch', expectedFrom }),
        { state: 'completed', score: expected },
        expectedFrom,
      );
    }
    for (const expectedFrom of [
      'inputs.other',
      'inputs.constructor',
      'inputs.__proto__',
      'response.choices.5',
      'properties.x',
      'expected.country',
    ]) {
      t.match(
        await run({ scorer: 'ExactMatch', expectedFrom }),
        { state: 'failed', code: 'ext_not_applicable', retry: 'never', message: new RegExp(expectedFrom) },
        'absence is not 0',
      );
    }
  },
);

t.test(
  'an expected number keeps its digits where texts are compared, and is a number elsewhere',
  async (t) => {
    const inputs = parseExactObject('{"order":9007199254740993,"all":{"id":9007199254740993}}')!;
    const cases = [
      ['ExactMatch', 'inputs.order', '9007199254740993', 1],
      ['ExactMatch', 'inputs.order', '9007199254740992', 0],
      ['ExactMatch', 'inputs.all', '{"id": 9007199254740993}', 1],
      ['Levenshtein', 'inputs.order', '9007199254740993', 1],
      ['NumericDiff', 'inputs.order', '9007199254740993', 1],
      ['JSONDiff', 'inputs.all', '{"id": 9007199254740993}', 1],
    ] as const;
    for (const [scorer, expectedFrom, output, score] of cases) {
      t.match(await run({ scorer, expectedFrom }, { output, inputs }), { state: 'completed', score }, scorer);
    }
  },
);

t.test('an answer that the scorer cannot read fails with ext_not_applicable', async (t) => {
  for (const output of ['', 'ten', '1,000', '4/5', 'NaN', 'Infinity', '1e999', '0x10', '١']) {
    t.match(await score('NumericDiff', 1, output), { code: 'ext_not_applicable', retry: 'never' }, output);
  }
  for (const output of ['', 'a, b', '{"a":1}', '"a"', 'null']) {
    t.match(
      await score('ListContains', ['a'], output),
      { code: 'ext_not_applicable', retry: 'never' },
      output,
    );
  }
});

t.test('an answer or expected value over the bounds fails with input_too_large', async (t) => {
  const began = performance.now();
  const long = 'x'.repeat(8_193);
  for (const scorer of ['ExactMatch', 'Levenshtein', 'JSONDiff'] as const) {
    t.match(await score(scorer, 'a', long), { code: 'input_too_large', retry: 'never' });
    t.match(await score(scorer, long, 'a'), { code: 'input_too_large', retry: 'never' });
  }
  t.match(await score('ListContains', ['a'], JSON.stringify(Array(101).fill(''))), {
    code: 'input_too_large',
  });
  // A character is a code point: 8,192 emoji are allowed, although they are twice as many UTF-16 units.
  t.match(await score('Levenshtein', '🎉', '🎉'.repeat(8_192)), { score: 1 / 8_192 });
  t.match(await score('ExactMatch', 'a', '🎉'.repeat(8_193)), { code: 'input_too_large' });
  const deep = `${'['.repeat(4_000)}${']'.repeat(4_000)}`;
  t.match(await score('JSONDiff', deep, deep), { code: 'input_too_large' });
  const random = () =>
    Array.from({ length: 8_192 }, () => String.fromCharCode(97 + Math.random() * 26)).join('');
  t.match(await score('Levenshtein', random(), random()), { state: 'completed' });
  const list = JSON.stringify(Array.from({ length: 100 }, () => random().slice(0, 75)));
  t.match(
    await run({ scorer: 'ListContains', expectedFrom: 'inputs.list' }, { output: list, inputs: { list } }),
    { score: 1 },
  );
  // Far below what a comparison of every length would take.
  t.ok(performance.now() - began < 60_000);
});

t.test('any answer text ends in a score from 0 to 1 or in a failure, never in an exception', async () => {
  const json = fc.json({ maxDepth: 3 });
  const text = fc.oneof(fc.string({ unit: 'binary' }), json, fc.double().map(String));
  const scorer = fc.constantFrom<Scorer>(
    'ExactMatch',
    'Levenshtein',
    'NumericDiff',
    'JSONDiff',
    'ListContains',
    'ValidJSON',
  );
  await fc.assert(
    fc.asyncProperty(scorer, text, text, async (name, output, answer) => {
      const from = name === 'ValidJSON' ? {} : { expectedFrom: 'inputs.answer' };
      const outcome = await run({ scorer: name, ...from }, { output, inputs: { answer } });
      return outcome.state === 'completed'
        ? outcome.score! >= 0 && outcome.score! <= 1
        : outcome.state === 'failed';
    }),
    { numRuns: 500 },
  );
});
