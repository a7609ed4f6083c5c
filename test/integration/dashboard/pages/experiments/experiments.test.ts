import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { answer, makeDataset, makeExperiment, makeScorer } from './measured.ts';

story(
  'The list has each experiment with its dataset, target, state, progress, cost and evaluators',
  async (stage) => {
    const { t, page, product } = stage;
    const dataset = await makeDataset(stage);
    const { id: helpful } = await makeScorer(stage, 'helpful');
    const target = { kind: 'model', model: 'gpt-4o-mini', parameters: { temperature: 0 } };
    const experiment = await makeExperiment(stage, {
      name: 'On the small model',
      datasetId: dataset.id,
      evaluatorIds: [helpful],
      target,
      maxCost: 5,
    });
    await answer(stage, experiment, { itemIds: dataset.itemIds, answers: [{}, {}, { isError: true }] });
    await product.database.sql`
    update assay.experiments set state = 'budget', spent_nano = 4000000000, judge_spent_nano = 500000000
     where experiment_id = ${experiment.id}`;
    await page.goto('/experiments');
    const row = page.getByRole('row').filter({ hasText: 'On the small model' });
    await comesToMatch(t, () => row.textContent(), /Refunds version 1/);
    const text = (await row.textContent())!;
    t.match(text, 'Model gpt-4o-mini with temperature 0');
    t.match(text, 'Budget spent');
    t.match(text, '3 of 4 (75%)');
    t.match(text, '1 failed');
    t.match(text, '$4.50 of $5.00');
    t.match(text, 'helpful v1');
    await row.getByRole('link', { name: 'On the small model' }).click();
    await page.waitForURL(`**/experiments/${experiment.id}`);
  },
);

story(
  'Picked experiments of one dataset are compared, the recorded answers as the baseline',
  async (stage) => {
    const { t, page } = stage;
    const { id: datasetId } = await makeDataset(stage);
    const { id: elsewhere } = await makeDataset(stage, { name: 'Greetings' });
    const small = await makeExperiment(stage, { name: 'Small', datasetId });
    const recorded = await makeExperiment(stage, {
      name: 'As logged',
      datasetId,
      target: { kind: 'recorded' },
    });
    await makeExperiment(stage, { name: 'Other', datasetId: elsewhere });
    await page.goto('/experiments');
    await page.getByLabel('Pick Small').check();
    await page.getByLabel('Pick As logged').check();
    await comesTo(t, () => page.getByLabel('Pick Other').isDisabled(), true, 'it is over another dataset');
    await page
      .getByRole('region', { name: 'Picked experiments' })
      .getByRole('link', { name: 'Compare' })
      .click();
    await page.waitForURL('**/experiments/compare?**');
    const query = new URL(page.url()).searchParams;
    t.same([query.get('baseline'), query.get('candidates')], [recorded.id, small.id]);
  },
);

story('The list is restricted to a dataset, by the address', async (stage) => {
  const { t, page } = stage;
  const first = await makeDataset(stage, { name: 'First' });
  const second = await makeDataset(stage, { name: 'Second' });
  await makeExperiment(stage, { name: 'Over the first', datasetId: first.id });
  await makeExperiment(stage, { name: 'Over the second', datasetId: second.id });
  await page.goto('/experiments');
  await page.getByRole('link', { name: 'Over the first' }).waitFor();
  await page.getByLabel('Dataset', { exact: true }).selectOption({ label: 'Second' });
  await page.getByRole('link', { name: 'Over the first' }).waitFor({ state: 'detached' });
  t.match(page.url(), `dataset=${second.id}`);
  await page.reload();
  await page.getByRole('link', { name: 'Over the second' }).waitFor();
  await comesTo(t, () => page.getByRole('link', { name: 'Over the first' }).count(), 0);
});

story(
  'A key that may not write is told so, and is offered no new experiment',
  async (stage) => {
    const { t, page } = stage;
    await page.goto('/experiments');
    await page.getByText('The key needs the scope write to make experiments').waitFor();
    await comesTo(t, () => page.getByRole('link', { name: 'New experiment' }).count(), 0);
  },
  { scopes: ['read'] },
);

accessibleStory('The list of experiments has no barrier', async (stage) => {
  const dataset = await makeDataset(stage);
  const { id: helpful } = await makeScorer(stage, 'helpful');
  const experiment = await makeExperiment(stage, {
    name: 'Small',
    datasetId: dataset.id,
    evaluatorIds: [helpful],
  });
  await answer(stage, experiment, { itemIds: dataset.itemIds, answers: [{}, { isError: true }] });
  await stage.page.goto('/experiments');
  await stage.page.getByText('1 failed').waitFor();
  await stage.page.getByLabel('Pick Small').check();
});
