import { comesTo } from '../../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../../support/browser/mod.ts';
import { callAs } from '../../as.ts';
import { makeDataset, makeScorer } from '../../experiments/measured.ts';

story('A form is filled in, the experiment starts, and its page opens', async (stage) => {
  const { t, page } = stage;
  const { id: datasetId } = await makeDataset(stage, { member: { split: 'test' } });
  await makeScorer(stage, 'helpful');
  await page.goto('/experiments/new');
  const start = page.getByRole('button', { name: 'Start the experiment' });
  await comesTo(t, () => start.isDisabled(), true, 'nothing is chosen');
  await page.getByLabel('Name', { exact: true }).fill('On the small model');
  await page.getByLabel('Dataset').selectOption({ label: 'Refunds' });
  await page.getByText('4 items').waitFor();
  await page.getByLabel('Repetitions').fill('3');
  await page.getByText('4 items, 12 answers').waitFor();
  await page.locator('#experiment-splits option[value=test]').waitFor({ state: 'attached' });
  await page.getByLabel('Split').fill('test');
  await page.getByLabel('Model', { exact: true }).fill('gpt-4o-mini');
  await page.getByLabel('Parameters (JSON)').fill('{"temperature": }');
  await page.getByText('Must be JSON').waitFor();
  await comesTo(t, () => start.isDisabled(), true);
  await page.getByLabel('Parameters (JSON)').fill('{"temperature": 0}');
  await page.getByLabel('helpful').check();
  await page.getByLabel('Budget').fill('2.5');
  await start.click();
  await page.getByRole('heading', { name: 'On the small model' }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1);
  t.match(await callAs(stage, 'GET', `/v1/experiment/${id}`), {
    dataset_id: datasetId,
    split: 'test',
    runs: 12,
    max_cost_usd: 2.5,
    target: { kind: 'model', model: 'gpt-4o-mini', parameters: { temperature: 0 } },
    evaluators: [{ version: 1 }],
  });
});

story('A prompt is chosen with an environment, and what the API refuses is said', async (stage) => {
  const { t, page, expectComplaint } = stage;
  const { id: datasetId } = await makeDataset(stage);
  const promptBody = { model: 'gpt-4o', messages: [{ role: 'user', content: '{{question}}' }] };
  await callAs(stage, 'POST', '/v1/prompt-2025', { name: 'Support', promptBody });
  await page.goto(`/experiments/new?dataset=${datasetId}&split=none`);
  await page.getByLabel('Name', { exact: true }).fill('By prompt');
  await comesTo(t, () => page.getByLabel('Dataset').inputValue(), datasetId);
  await page.getByLabel('Target').selectOption('A stored prompt');
  await page.getByLabel('Prompt', { exact: true }).selectOption({ label: 'Support' });
  await page.getByLabel('Version of the prompt').selectOption({ label: 'Version 1.0' });
  await page.getByRole('button', { name: 'Start the experiment' }).click();
  await page.getByRole('alert').getByText('no items in this version and split').waitFor();
  expectComplaint(/status of 400/);
  await page.getByLabel('Split').fill('');
  await page.getByRole('button', { name: 'Start the experiment' }).click();
  await page.getByText('Prompt Support').waitFor();
});

story(
  'A key that may not write is told so instead of a form',
  async ({ t, page }) => {
    await page.goto('/experiments/new');
    await page.getByText('The key needs the scope write to make experiments').waitFor();
    await comesTo(t, () => page.getByRole('button', { name: 'Start the experiment' }).count(), 0);
  },
  { scopes: ['read'] },
);

accessibleStory('The form of a new experiment has no barrier', async (stage) => {
  const { page } = stage;
  await makeScorer(stage, 'helpful');
  const { id } = await makeDataset(stage);
  await page.goto(`/experiments/new?dataset=${id}`);
  await page.getByLabel('helpful').waitFor();
  await page.getByText('4 items').waitFor();
  await page.getByText('More', { exact: true }).click();
});
