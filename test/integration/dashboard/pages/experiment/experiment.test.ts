import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { answer, makeDataset, makeExperiment } from '../experiments/measured.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202Eevil';

/** Makes an experiment of four items: two answers, a failure, and one that waits. */
async function halfDone(stage: Stage) {
  const dataset = await makeDataset(stage);
  const experiment = await makeExperiment(stage, { name: 'Small', datasetId: dataset.id });
  const requests = await answer(stage, experiment, {
    itemIds: dataset.itemIds,
    answers: [{}, { isError: true }, {}],
  });
  return { dataset, experiment, requests };
}

story(
  'Runs that failed come first, with the error as text, and answers lead to their requests',
  async (stage) => {
    const { t, page, product } = stage;
    const { experiment, requests } = await halfDone(stage);
    await product.database.sql`
    update assay.experiment_runs set error_message = ${HOSTILE} where experiment_id = ${experiment.id} and state = 'error'`;
    await page.goto(`/experiments/${experiment.id}`);
    const failed = page.getByRole('region', { name: 'Failed runs' }).first();
    await failed.getByText('<img src=x onerror=alert(1)>').waitFor();
    await failed.getByTitle(/U\+202E/).waitFor();
    await comesTo(t, () => page.locator('main img').count(), 0);
    t.match(await failed.textContent(), 'provider_error');
    await comesToMatch(
      t,
      () => page.getByRole('region', { name: 'Progress' }).textContent(),
      /Answered2Failed1/,
    );
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    t.ok(headings.indexOf('Failed runs') < headings.indexOf('Runs'), 'failures are above');
    const links = page.getByRole('table', { name: 'Runs', exact: true }).getByRole('link', { name: 'Open' });
    await comesTo(
      t,
      async () => {
        const found = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href')));
        return found.toSorted();
      },
      [requests[0], requests[2]].map((id) => `/requests/${id}`).toSorted(),
    );
    await page.getByLabel('State of the runs').selectOption('Waiting');
    await comesTo(
      t,
      () => page.getByRole('table', { name: 'Runs', exact: true }).locator('tbody tr').count(),
      1,
    );
    t.match(page.url(), 'state=pending');
  },
);

story('An experiment is paused, resumed, and cancelled after a question', async (stage) => {
  const { t, page } = stage;
  const { experiment } = await halfDone(stage);
  await page.goto(`/experiments/${experiment.id}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('By a key that may write').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.getByRole('button', { name: 'Cancel the experiment' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the experiment' }).click();
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
  await comesTo(t, () => page.getByRole('button', { name: 'Pause' }).count(), 0);
});

story('What paused an experiment is said, and its cost stands beside the budget', async (stage) => {
  const { page, product } = stage;
  const { id: datasetId } = await makeDataset(stage);
  const { id } = await makeExperiment(stage, { name: 'Small', datasetId, maxCost: 2 });
  await product.database.sql`
    update assay.experiments set state = 'paused', paused_reason = 'The provider refuses the key', spent_nano = 500000000
     where experiment_id = ${id}`;
  await page.goto(`/experiments/${id}`);
  await page.getByText('The provider refuses the key').waitFor();
  const cost = page.getByRole('region', { name: 'Cost' });
  await cost.getByText('$2.00').waitFor();
  await cost.getByText('25%').waitFor();
});

story(
  'A key that may not write sees no buttons that change an experiment',
  async (stage) => {
    const { t, page } = stage;
    const { experiment } = await halfDone(stage);
    await page.goto(`/experiments/${experiment.id}`);
    await page.getByText('Pausing and cancelling an experiment needs the scope').waitFor();
    await comesTo(t, () => page.getByRole('button', { name: 'Pause' }).count(), 0);
  },
  { scopes: ['read'] },
);

story('Another experiment over the dataset is chosen to compare with', async (stage) => {
  const { t, page } = stage;
  const { dataset, experiment } = await halfDone(stage);
  const later = await makeExperiment(stage, { name: 'Large', datasetId: dataset.id });
  await page.goto(`/experiments/${later.id}`);
  await page.getByLabel('Compare with').selectOption({ label: 'Small (version 1)' });
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.waitForURL('**/experiments/compare?**');
  t.equal(new URL(page.url()).searchParams.get('baseline'), experiment.id, 'the older one');
});

story('An experiment that runs shows each answer by itself', async (stage) => {
  const { page, callPath } = stage;
  const { provider } = await callPath();
  const { id: datasetId } = await makeDataset(stage);
  const last = Promise.withResolvers<void>();
  let calls = 0;
  provider.script(async () => {
    calls += 1;
    if (calls === 4) await last.promise;
    return { kind: 'stream', deltas: ['Yes'] };
  });
  const target = { kind: 'model', model: 'gpt-4o-mini' };
  const { id } = await makeExperiment(stage, { name: 'Live', datasetId, target });
  await page.goto(`/experiments/${id}`);
  const progress = page.getByRole('region', { name: 'Progress' });
  await progress.getByText('3 of 4 (75%)').waitFor();
  last.resolve();
  await progress.getByText('4 of 4 (100%)').waitFor();
  await page.getByRole('heading', { name: 'Live' }).locator('..').getByText('Completed').waitFor();
  provider.script(null);
});

accessibleStory('An experiment has no barrier', async (stage) => {
  const { page, product } = stage;
  const { experiment, dataset } = await halfDone(stage);
  await makeExperiment(stage, { name: 'Large', datasetId: dataset.id });
  await product.database.sql`
    update assay.experiments set state = 'paused', paused_reason = 'The provider refuses the key', max_cost_nano = 1000000000
     where experiment_id = ${experiment.id}`;
  await page.goto(`/experiments/${experiment.id}`);
  await page.getByText('provider_error').first().waitFor();
  await page.getByLabel('Compare with').waitFor();
});
