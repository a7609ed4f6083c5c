import t from 'tap';
import { definitionText } from '../../../../../../dashboard/pages/evaluator/versions/definition-text.ts';

const none = { llm_template: null, code_template: null, external_config: null };

t.test('the text of a judge has all that a change of makes another version', async (t) => {
  const judge = {
    model: 'gpt-4o',
    prompt: 'Which tone?',
    choices: [{ score: 0, description: 'rude' }],
    examples: [{ input: 'Hi', output: 'Go away', label: 'rude', reasoning: 'It is' }],
    later: 1,
  };
  t.equal(
    definitionText({ ...none, llm_template: judge, threshold: 0.5 }),
    [
      'passes from: 0.5',
      'model: gpt-4o',
      'choice 0: rude',
      'later: 1',
      '',
      'Which tone?',
      '',
      'example: rude',
      'input: Hi',
      'output: Go away',
      'reasoning: It is',
    ].join('\n'),
  );
});

t.test('the text of code has its categories and limits', async (t) => {
  const code_template = { code: 'c', categories: [{ label: 'bad', score: 0 }], limits: { wallMs: 5 } };
  t.equal(definitionText({ ...none, code_template, threshold: null }), '# category 0: bad\n# wallMs: 5\nc');
});
