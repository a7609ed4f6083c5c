/** Evaluators that break a rule: which rule each is told of. */
import t from 'tap';
import {
  BOOLEAN,
  CHOICE,
  CODE,
  type Evaluator,
  type EvaluatorApi,
  EXTERNAL,
  PYTHON,
  RANGE,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

const llm = (fields: object) => ({ ...BOOLEAN, llm_template: { ...BOOLEAN.llm_template, ...fields } });
const range = (fields: object) => ({ ...RANGE, llm_template: { ...RANGE.llm_template, ...fields } });
const choices = (...given: unknown[]) => ({
  ...CHOICE,
  llm_template: { ...CHOICE.llm_template, choices: given },
});

const categories = (...given: unknown[]) => ({
  ...PYTHON,
  code_template: { ...PYTHON.code_template, categories: given },
});
const GOOD = { label: 'good', score: 1 };

const REFUSALS: [what: string, body: unknown, sentence: string | RegExp][] = [
  ['no object', [], 'body must be an object, but is []'],
  ['no name', BOOLEAN, 'name is required'],
  ['a name that is none', { name: 7, ...BOOLEAN }, 'name must be a string, but is 7'],
  ['an empty name', { name: '', ...BOOLEAN }, 'name must have 1 to 100 characters, but has 0'],
  ['a long name', { name: '😀'.repeat(101), ...BOOLEAN }, 'name must have 1 to 100 characters, but has 101'],
  [
    'a name without a letter',
    { name: '👍!', ...BOOLEAN },
    'name must hold a letter or a digit, as its scores are stored by those, but is "👍!"',
  ],
  ['no type', { name: 'a', llm_template: {} }, 'scoring_type is required'],
  [
    'another type',
    { name: 'a', scoring_type: 'LLM' },
    'scoring_type must be one of "LLM-BOOLEAN", "LLM-CHOICE", "LLM-RANGE", "PYTHON", "EXTERNAL", "LLM-RUBRIC", "LLM-PAIRWISE", but is "LLM"',
  ],
  ['an unknown field', { name: 'a', ...BOOLEAN, llmTemplate: {} }, 'llmTemplate is not a known field'],
  [
    'no template',
    { name: 'a', scoring_type: 'LLM-RANGE' },
    'llm_template is required for the scoring_type LLM-RANGE',
  ],
  [
    'no code',
    { name: 'a', scoring_type: 'PYTHON', code_template: null },
    'code_template is required for the scoring_type PYTHON',
  ],
  [
    'no config',
    { name: 'a', scoring_type: 'EXTERNAL' },
    'external_config is required for the scoring_type EXTERNAL',
  ],
  [
    "another type's template",
    { name: 'a', ...PYTHON, llm_template: {} },
    'llm_template does not belong to the scoring_type PYTHON',
  ],
  [
    "another type's config",
    { name: 'a', ...RANGE, external_config: {} },
    'external_config does not belong to the scoring_type LLM-RANGE',
  ],
  [
    'a template that is none',
    { name: 'a', ...BOOLEAN, llm_template: 'x' },
    'llm_template must be an object, but is "x"',
  ],
  [
    'an unknown field of a template',
    { name: 'a', ...llm({ temperature: 1 }) },
    'llm_template.temperature is not a known field',
  ],
  [
    'a range for a boolean',
    { name: 'a', ...llm({ min: 0 }) },
    'llm_template.min does not belong to the scoring_type LLM-BOOLEAN',
  ],
  [
    'choices for a range',
    { name: 'a', ...range({ choices: ['a', 'b'] }) },
    'llm_template.choices does not belong to the scoring_type LLM-RANGE',
  ],
  ['no model', { name: 'a', ...llm({ model: undefined }) }, 'llm_template.model is required'],
  ['a blank model', { name: 'a', ...llm({ model: ' ' }) }, 'llm_template.model must not be empty'],
  [
    'a long model',
    { name: 'a', ...llm({ model: 'm'.repeat(201) }) },
    'llm_template.model must have at most 200 characters, but has 201',
  ],
  ['a blank prompt', { name: 'a', ...llm({ prompt: '\n' }) }, 'llm_template.prompt must not be empty'],
  [
    'an unknown variable',
    { name: 'a', ...llm({ prompt: 'Is {{answer}} good?' }) },
    /^llm_template\.prompt .*answer.*\{\{input\}\}/,
  ],
  [
    'an open variable',
    { name: 'a', ...llm({ prompt: 'Is {{output good?' }) },
    /^llm_template\.prompt has "\{\{" without "\}\}"/,
  ],
  ['one category', { name: 'a', ...categories(GOOD) }, /^code_template\.categories must .*2/],
  [
    'a category without a score',
    { name: 'a', ...categories(GOOD, { label: 'bad' }) },
    'code_template.categories.1.score is required',
  ],
  [
    'a category with a field of its own',
    { name: 'a', ...categories(GOOD, { label: 'bad', score: 0, description: 'x' }) },
    'code_template.categories.1.description is not a known field',
  ],
  [
    'a blank category',
    { name: 'a', ...categories(GOOD, { label: ' ', score: 0 }) },
    'code_template.categories.1.label must not be empty',
  ],
  [
    'categories of one label',
    { name: 'a', ...categories(GOOD, { label: 'GOOD ', score: 0 }) },
    'code_template.categories.1 has the label of code_template.categories.0, ignoring case and surrounding space: "GOOD "',
  ],
  [
    'choices and categories',
    {
      name: 'a',
      ...CHOICE,
      llm_template: { ...CHOICE.llm_template, categories: [GOOD, { label: 'bad', score: 0 }] },
    },
    'llm_template.categories is another name of llm_template.choices: give one of the two',
  ],
  [
    'categories of a judge that are none',
    { name: 'a', ...CHOICE, llm_template: { model: 'm', prompt: 'p', categories: [GOOD, 'bad'] } },
    /^llm_template\.categories\.1 must be an object/,
  ],
  [
    'categories for a range',
    { name: 'a', ...range({ categories: [GOOD, { label: 'bad', score: 0 }] }) },
    'llm_template.categories does not belong to the scoring_type LLM-RANGE',
  ],
  [
    'examples that are none',
    { name: 'a', ...llm({ examples: 'x' }) },
    'llm_template.examples must be an array, but is "x"',
  ],
  [
    '21 examples',
    { name: 'a', ...llm({ examples: Array(21).fill({ input: 'i', output: 'o', score: true }) }) },
    /^llm_template\.examples must .*20/,
  ],
  [
    'an example without an output',
    { name: 'a', ...llm({ examples: [{ input: 'i', score: true }] }) },
    'llm_template.examples.0.output is required',
  ],
  [
    'an example without a score',
    { name: 'a', ...llm({ examples: [{ input: 'i', output: 'o' }] }) },
    'llm_template.examples.0.score is required',
  ],
  [
    'an example of a boolean with a grade',
    { name: 'a', ...llm({ examples: [{ input: 'i', output: 'o', score: 0.5 }] }) },
    'llm_template.examples.0.score must be true, false, 1 or 0, but is 0.5',
  ],
  [
    'an example outside of the range',
    { name: 'a', ...range({ examples: [{ input: 'i', output: 'o', score: 99 }] }) },
    'llm_template.examples.0.score must be a number from 1 to 5, but is 99',
  ],
  [
    'an example with a label for a range',
    { name: 'a', ...range({ examples: [{ input: 'i', output: 'o', label: 'x' }] }) },
    'llm_template.examples.0.label belongs to a judge with choices only: give score',
  ],
  [
    'an example with a label that is no choice',
    {
      name: 'a',
      ...CHOICE,
      llm_template: {
        model: 'm',
        prompt: 'p',
        choices: ['a', 'b'],
        examples: [{ input: 'i', output: 'o', label: 'c' }],
      },
    },
    'llm_template.examples.0.label must be one of "a", "b", but is "c"',
  ],
  [
    'an example with a score for choices',
    {
      name: 'a',
      ...CHOICE,
      llm_template: {
        model: 'm',
        prompt: 'p',
        choices: ['a', 'b'],
        examples: [{ input: 'i', output: 'o', score: 1 }],
      },
    },
    'llm_template.examples.0.score does not belong to a judge with choices: give label',
  ],
  [
    'large examples',
    {
      name: 'a',
      ...llm({
        examples: Array(2).fill({ input: 'é'.repeat(10_000), output: 'é'.repeat(10_000), score: true }),
      }),
    },
    'llm_template.examples must have at most 65536 bytes as UTF-8 in all texts together, but has 80000',
  ],
  ['a threshold that is none', { name: 'a', ...BOOLEAN, threshold: 'x' }, /^threshold must be a number/],
  [
    'a threshold above a boolean',
    { name: 'a', ...BOOLEAN, threshold: 1.5 },
    'threshold must be a number from 0 to 1, the scores that the evaluator can give, but is 1.5',
  ],
  [
    'a threshold below the choices',
    { name: 'a', ...choices('a', 'b', 'c'), threshold: -1 },
    'threshold must be a number from 0 to 2, the scores that the evaluator can give, but is -1',
  ],
  [
    'a threshold above the categories',
    { name: 'a', ...categories(GOOD, { label: 'bad', score: 0 }), threshold: 2 },
    'threshold must be a number from 0 to 1, the scores that the evaluator can give, but is 2',
  ],
  ['no least score', { name: 'a', ...range({ min: undefined }) }, 'llm_template.min is required'],
  ['a null least score', { name: 'a', ...range({ min: null }) }, 'llm_template.min is required'],
  ['no greatest score', { name: 'a', ...range({ max: undefined }) }, 'llm_template.max is required'],
  ['a range of text', { name: 'a', ...range({ min: '1' }) }, 'llm_template.min must be a number, but is "1"'],
  [
    'an equal range',
    { name: 'a', ...range({ min: 5 }) },
    'llm_template.min must be less than llm_template.max, which is 5, but is 5',
  ],
  [
    'a range upside down',
    { name: 'a', ...range({ min: 9 }) },
    'llm_template.min must be less than llm_template.max, which is 5, but is 9',
  ],
  [
    'no choices',
    { name: 'a', ...CHOICE, llm_template: { model: 'm', prompt: 'p' } },
    'llm_template.choices is required',
  ],
  [
    'choices that are none',
    { name: 'a', ...CHOICE, llm_template: { model: 'm', prompt: 'p', choices: 'ab' } },
    'llm_template.choices must be an array, but is "ab"',
  ],
  [
    'empty choices',
    { name: 'a', ...choices() },
    'llm_template.choices must hold 2 to 50 choices, but holds 0',
  ],
  [
    'one choice',
    { name: 'a', ...choices('a') },
    'llm_template.choices must hold 2 to 50 choices, but holds 1',
  ],
  [
    '51 choices',
    { name: 'a', ...choices(...Array.from({ length: 51 }, (_, index) => index)) },
    'llm_template.choices must hold 2 to 50 choices, but holds 51',
  ],
  [
    'labels that differ in case',
    { name: 'a', ...choices('Good', { score: 3, description: ' good ' }) },
    'llm_template.choices.1 has the label of llm_template.choices.0, ignoring case and surrounding space: " good "',
  ],
  [
    'equal numbers',
    { name: 'a', ...choices(1, 2, '1') },
    /^llm_template\.choices\.2 has the label of llm_template\.choices\.0/,
  ],
  ['an empty label', { name: 'a', ...choices('a', ' ') }, 'llm_template.choices.1 must not be empty'],
  [
    'a label of 10 KB',
    { name: 'a', ...choices('a', { score: 1, description: 'x'.repeat(10_240) }) },
    'llm_template.choices.1.description must have at most 500 characters, but has 10240',
  ],
  [
    'a choice without a score',
    { name: 'a', ...choices('a', { description: 'b' }) },
    'llm_template.choices.1.score is required',
  ],
  [
    'a choice without a label',
    { name: 'a', ...choices('a', { score: 1 }) },
    'llm_template.choices.1.description is required',
  ],
  [
    'a choice with a label of number',
    { name: 'a', ...choices('a', { score: 1, description: 1 }) },
    'llm_template.choices.1.description must be a string, but is 1',
  ],
  [
    'a choice with more',
    { name: 'a', ...choices('a', { score: 1, description: 'b', why: 'c' }) },
    'llm_template.choices.1.why is not a known field',
  ],
  [
    'a choice that is none',
    { name: 'a', ...choices('a', true) },
    'llm_template.choices.1 must be a string, a number or an object of score and description, but is true',
  ],
  [
    'code that is none',
    { name: 'a', ...PYTHON, code_template: { code: 1 } },
    'code_template.code must be a string, but is 1',
  ],
  ['no code in it', { name: 'a', ...PYTHON, code_template: {} }, 'code_template.code is required'],
  [
    'more than code',
    { name: 'a', ...PYTHON, code_template: { code: CODE, lang: 'py' } },
    'code_template.lang is not a known field',
  ],
  [
    'blank code',
    { name: 'a', ...PYTHON, code_template: { code: '\n' } },
    'code_template.code must not be empty',
  ],
  [
    'NUL in code',
    { name: 'a', ...PYTHON, code_template: { code: 'a = 1\nb = "\0"' } },
    'code_template.code has a NUL character in line 2, which Python does not allow',
  ],
  [
    'half a character in code',
    { name: 'a', ...PYTHON, code_template: { code: 'a = "\ud800"' } },
    'code_template.code is not valid Unicode: it has half of a surrogate pair',
  ],
  [
    'code that is no Python',
    { name: 'a', ...PYTHON, code_template: { code: 'syntax error' } },
    'code_template.code cannot be used: SyntaxError: invalid syntax (line 2, column 5)',
  ],
  [
    'an unknown adapter',
    { name: 'a', ...EXTERNAL, external_config: { adapter: 'x' } },
    /^external_config\.adapter must be one of/,
  ],
  [
    'a private address',
    { name: 'a', ...EXTERNAL, external_config: { adapter: 'http', url: 'http://10.0.0.1/' } },
    'external_config.url must lead to a public host, or to one that OUTBOUND_ALLOW admits (ext_forbidden_url)',
  ],
  [
    'a budget of text',
    { name: 'a', ...BOOLEAN, daily_budget_usd: '1' },
    'daily_budget_usd must be a number or null, but is "1"',
  ],
  [
    'a negative budget',
    { name: 'a', ...BOOLEAN, daily_budget_usd: -1 },
    'daily_budget_usd must be at least 0, but is -1',
  ],
  [
    'a huge budget',
    { name: 'a', ...BOOLEAN, daily_budget_usd: 1e7 },
    'daily_budget_usd must be at most 1000000, but is 10000000',
  ],
  [
    'a budget below a nano-dollar',
    { name: 'a', ...BOOLEAN, daily_budget_usd: 1e-10 },
    'daily_budget_usd must have at most 9 decimals, but is 1e-10',
  ],
  [
    'a budget for Python',
    { name: 'a', ...PYTHON, daily_budget_usd: 1 },
    'daily_budget_usd does not belong to the scoring_type PYTHON',
  ],
];

t.test('an evaluator that breaks a rule is refused with the path, the value and the rule', async (t) => {
  const before = await api.make<Evaluator[]>('/v1/evaluator/query', {});
  for (const [what, body, sentence] of REFUSALS) {
    const answer = await api.call('/v1/evaluator/', { body });
    t.equal(answer.status, 400, what);
    t.equal(answer.body.data, null);
    if (typeof sentence === 'string') t.equal(answer.body.error, sentence, what);
    else t.match(answer.body.error, sentence, what);
  }
  const infinite = await api.call('/v1/evaluator/', {
    raw: JSON.stringify({ name: 'a', ...RANGE }).replace('"max":5', '"max":1e999'),
  });
  t.strictSame(
    [infinite.status, infinite.body.error],
    [400, 'llm_template.max must be a finite number, but is larger than any'],
  );
  t.strictSame(await api.make('/v1/evaluator/query', {}), before, 'and nothing is made');
});
