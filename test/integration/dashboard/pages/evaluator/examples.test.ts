/** Examples of verdicts, categories and thresholds in the form of an evaluator. */

import type { Evaluator } from '../../../../../dashboard/client/evaluators.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callApiOf } from '../evaluators/call-api.ts';
import { talk } from '../grading.ts';

const TONE = {
  name: 'Tone',
  scoring_type: 'LLM-CHOICE',
  llm_template: {
    model: 'gpt-4o-mini',
    prompt: 'Which tone has {{output}}?',
    choices: [
      { score: 0, description: 'rude' },
      { score: 1, description: 'friendly' },
    ],
    examples: [
      { input: 'Where is it?', output: '<b>Look</b> yourself', label: 'rude', reasoning: 'It refuses' },
    ],
  },
  threshold: 0.75,
};

const make = ({ product, organization }: Stage, body: object) =>
  callApiOf(product, organization)<Evaluator>('POST', '/v1/evaluator', body);
const read = ({ product, organization }: Stage, id: string) =>
  callApiOf(product, organization)<Evaluator>('GET', `/v1/evaluator/${id}`);

story('An example is added to a judge in a new version, and the others stay', async (stage) => {
  const { t, page } = stage;
  const { id } = await make(stage, TONE);
  await page.goto(`/evaluators/${id}?tab=definition`);
  await page.getByText('Passes from 0.75').waitFor();
  await comesTo(t, () => page.getByLabel('Output of example 1').inputValue(), '<b>Look</b> yourself');
  await page.getByRole('button', { name: 'Add an example' }).click();
  await page.getByLabel('Input of example 2').fill('Where is it?');
  await page.getByLabel('Output of example 2').fill('In Lyon');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('examples.1.label is required').waitFor();
  stage.expectComplaint(/status of 400/);
  await page.getByLabel('Verdict of example 2').selectOption({ label: 'friendly' });
  await page.getByLabel('Passes from').fill('');
  await page.getByText('Saving makes version 2').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved as version 2').waitFor();
  const { llm_template, threshold } = await read(stage, id);
  t.same(llm_template, {
    ...TONE.llm_template,
    examples: [
      ...TONE.llm_template.examples,
      { input: 'Where is it?', output: 'In Lyon', label: 'friendly' },
    ],
  });
  t.equal(threshold, null);
  await page.getByRole('link', { name: 'Versions' }).click();
  const definition = page.getByRole('region', { name: 'Definition' });
  await comesToMatch(t, () => definition.innerText(), /passes from: 0\.75/);
  await comesToMatch(t, () => definition.innerText(), /example: friendly/);
});

story('Another name of an evaluator changes nothing else of it', async (stage) => {
  const { t, page } = stage;
  const { id } = await make(stage, TONE);
  await page.goto(`/evaluators/${id}?tab=definition`);
  await page.getByLabel('Name', { exact: true }).fill('Tone of voice');
  await page.getByText('No new version').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Tone of voice' }).waitFor();
  t.match(await read(stage, id), { ...TONE, name: 'Tone of voice', version: 1 });
});

story('Categories of code are written, tried out with a label, and stored', async (stage) => {
  const { t, page, organization, callPath } = stage;
  await callPath();
  await organization.insert([talk('Where is it?', 'There')]);
  await page.goto('/evaluators/new?kind=python');
  await page.getByLabel('Name', { exact: true }).fill('Length');
  await page
    .getByLabel('Python code')
    .fill('def evaluate(input, output): return {"label": "bad", "reasoning": "Too short"}');
  await page.getByText('Labels that it may return').click();
  for (const [number, label] of ['bad', 'good'].entries()) {
    await page.getByRole('button', { name: 'Add a category' }).click();
    await page.getByLabel(`Score of category ${number + 1}`).fill(String(number));
    await page.getByLabel(`Words of category ${number + 1}`).fill(label);
  }
  await page.getByLabel('Newest requests').selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Try it out' }).click();
  const tried = page.getByRole('region', { name: 'Try-out' });
  await tried.getByText('Too short').waitFor();
  await comesToMatch(t, () => tried.innerText(), /Score\s+0 bad/);
  await page.getByLabel('Passes from').fill('1');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Length' }).waitFor();
  const { code_template, threshold } = await read(stage, page.url().split(/[/?]/)[4]!);
  t.same(code_template?.categories, [
    { label: 'bad', score: 0 },
    { label: 'good', score: 1 },
  ]);
  t.equal(threshold, 1);
});

accessibleStory('The form of a judge with examples has no barrier', async (stage) => {
  const { id } = await make(stage, TONE);
  await stage.page.goto(`/evaluators/${id}?tab=definition`);
  await stage.page.getByLabel('Output of example 1').waitFor();
});
