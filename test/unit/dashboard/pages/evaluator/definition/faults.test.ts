import t from 'tap';
import {
  fieldOf,
  unknownVariable,
  variablesOf,
} from '../../../../../../dashboard/pages/evaluator/definition/faults.ts';

const UNKNOWN = 'names the unknown variable "{{answer}}"; allowed are {{input}}, {{output}}';

t.test("A refusal belongs to the field that its sentence's path names", async (t) => {
  const sentences = {
    [`llm_template.prompt ${UNKNOWN}`]: 'prompt',
    [`evaluatorConfig.evaluator_llm_template.prompt ${UNKNOWN}`]: 'prompt',
    'llm_template.model names "gpt-5o", which no gateway here knows': 'model',
    'llm_template.choices.1 has the label of llm_template.choices.0': 'choices',
    'llm_template.min must be less than llm_template.max': 'range',
    'code_template.code cannot be used: expected ":" (line 1, column 28)': 'code',
    'code has a NUL character in line 1': 'code',
    'code_template.limits.wallMs must be at most 10000': 'limits',
    'external_config.url is not public (ext_forbidden_url)': 'url',
    'external_config.headers.x-api-key must not be empty': 'headers',
    'external_config.metricId or external_config.metric is required': 'metric',
    'name must have 1 to 100 characters': 'name',
    'daily_budget_usd must be at least 0': 'budget',
  };
  for (const [sentence, field] of Object.entries(sentences)) t.equal(fieldOf(sentence), field, sentence);
});

t.test('A refusal that names no field of the form belongs to none', async (t) => {
  t.equal(fieldOf('An evaluator of the score key "polite" exists already'), null);
  t.equal(fieldOf('testInput.inputBody must be JSON'), null);
  t.equal(fieldOf(''), null);
});

t.test('The unknown variable of a refusal is found as the prompt writes it', async (t) => {
  t.equal(unknownVariable(`llm_template.prompt ${UNKNOWN}`), 'answer');
  t.equal(unknownVariable('llm_template.prompt must not be empty'), null);
  t.equal(unknownVariable(null), null);
});

t.test('The variables of a prompt are listed once each, without their spaces', async (t) => {
  t.same(variablesOf('{{input}} {{ output }} {{input}} {{}} { {x} }'), ['input', 'output', '']);
  t.same(variablesOf('none'), []);
});
