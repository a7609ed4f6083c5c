import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../../pages/as.ts';
import { makeDataset, makeExperiment } from '../../pages/experiments/measured.ts';

/** More than a chooser lists. */
const MANY = 120;

/** Makes datasets `Dataset 1` to `Dataset 120`, the last one the oldest. */
async function makeDatasets({ organization, product }: Stage): Promise<void> {
  await product.database.sql`
    insert into assay.datasets (dataset_id, organization_id, name, created_at, updated_at)
    select gen_random_uuid(), ${organization.organizationId}, 'Dataset ' || n, now() - n * interval '1 hour', now()
      from generate_series(1, ${MANY}) n`;
}

/** Copies an experiment as older ones, `Old 1` to `Old 120`. Returns the id of the oldest. */
async function makeOlder({ product }: Stage, experimentId: string): Promise<string> {
  const [oldest] = await product.database.sql<{ id: string }[]>`
    with made as (
      insert into assay.experiments
      select (jsonb_populate_record(x, jsonb_build_object('experiment_id', gen_random_uuid(), 'name', 'Old ' || n,
               'created_at', x.created_at - n * interval '1 hour'))).*
        from assay.experiments x, generate_series(1, ${MANY}) n where x.experiment_id = ${experimentId}
      returning experiment_id, name
    ) select experiment_id as id from made where name = ${`Old ${MANY}`}`;
  return oldest!.id;
}

story('A dataset that is not among the newest is found by its name, and keeps it', async (stage) => {
  const { t, page } = stage;
  await makeDatasets(stage);
  await page.goto('/experiments/new');
  const select = page.getByLabel('Dataset', { exact: true });
  const search = page.getByLabel('Find: Dataset');
  await search.waitFor();
  await comesTo(t, () => select.getByRole('option', { name: `Dataset ${MANY}` }).count(), 0);
  await search.pressSequentially(`taset ${MANY}`);
  await page.keyboard.press('Enter');
  await comesTo(t, () => select.getByRole('option').count(), 2, 'none, and the one');
  const focused = await page.evaluate("document.activeElement.getAttribute('aria-label')");
  t.equal(focused, 'Find: Dataset', 'one can go on typing');
  await select.selectOption({ label: `Dataset ${MANY}` });
  await search.fill('no such');
  await comesTo(t, () => select.getByRole('option').first().textContent(), 'No name has this text');
  await search.fill('');
  const chosen = () => select.locator('option:checked').textContent();
  await comesTo(t, () => select.getByRole('option').count(), 102, 'none, the chosen one, and the newest');
  await comesTo(t, chosen, `Dataset ${MANY}`);
  await page.goto(`/experiments?dataset=${await select.inputValue()}`);
  await comesTo(t, chosen, `Dataset ${MANY}`, 'the address has its id alone');
});

story('Few datasets are chosen without a search', async (stage) => {
  const { t, page } = stage;
  await makeDataset(stage);
  await page.goto('/experiments/new');
  await page.getByLabel('Dataset', { exact: true }).selectOption({ label: 'Refunds' });
  t.equal(await page.getByLabel('Find: Dataset').count(), 0);
});

story('An old experiment is compared with a new one, from either of them', async (stage) => {
  const { t, page } = stage;
  const { id: datasetId } = await makeDataset(stage);
  const made = await makeExperiment(stage, { name: 'New', datasetId });
  const oldest = await makeOlder(stage, made.id);
  await page.goto(`/experiments/${made.id}`);
  await page.getByLabel('Find: Compare with').fill(`OLD ${MANY}`);
  const option = { label: `Old ${MANY} (version 1)` };
  await page.getByLabel('Compare with', { exact: true }).selectOption(option);
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.waitForURL('**/experiments/compare?**');
  t.equal(new URL(page.url()).searchParams.get('baseline'), oldest);
  const baseline = page.getByLabel('Baseline', { exact: true }).locator('option:checked');
  await comesTo(t, () => baseline.textContent(), option.label);
  await page.getByText(`Old ${MANY}, New are not done yet`).waitFor();
  await page.goto(`/experiments/compare?baseline=${made.id}&candidates=${oldest}`);
  await page.getByRole('button', { name: `Remove Old ${MANY}` }).waitFor();
  await page.getByLabel('Find: Add a candidate').fill('Old 119');
  await page.getByLabel('Add a candidate', { exact: true }).selectOption({ label: 'Old 119 (version 1)' });
  await page.getByRole('button', { name: 'Remove Old 119' }).waitFor();
});

story('The list of experiments is searched by name', async (stage) => {
  const { t, page } = stage;
  const { id: datasetId } = await makeDataset(stage);
  const made = await makeExperiment(stage, { name: 'New', datasetId });
  await makeOlder(stage, made.id);
  await page.goto('/experiments');
  await page.getByRole('link', { name: 'New', exact: true }).waitFor();
  await page.getByLabel('Name', { exact: true }).fill(`old ${MANY}`);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: `Old ${MANY}` }).waitFor();
  await comesTo(t, () => page.getByRole('row').count(), 2, 'the head, and the one');
  await page.goto('/experiments?search=nothing');
  await page.getByText('No experiment matches').waitFor();
});

story('A prompt that is not among the newest is found by its name', async (stage) => {
  const { page, organization, product } = stage;
  const promptBody = { messages: [{ role: 'user', content: 'Hi {{who}}' }] };
  await callAs(stage, 'POST', '/v1/prompt-2025', { name: 'The first', promptBody });
  await product.database.sql`
    insert into assay.prompts (organization_id, name, created_at)
    select ${organization.organizationId}, 'Prompt ' || n, now() + n * interval '1 second' from generate_series(1, ${MANY}) n`;
  await page.goto('/playground');
  await page.getByText('Stored prompt', { exact: true }).click();
  await page.getByLabel('Find: Prompt').fill('first');
  await page.getByLabel('Prompt', { exact: true }).selectOption({ label: 'The first' });
  await page.getByLabel('Version').selectOption({ index: 1 });
  await page.getByLabel('who').waitFor();
});

accessibleStory('The choice of one out of many has no barrier', async (stage) => {
  await makeDatasets(stage);
  await stage.page.goto('/experiments/new');
  await stage.page.getByLabel('Find: Dataset').fill('12');
  await comesTo(
    stage.t,
    () => stage.page.getByLabel('Dataset', { exact: true }).getByRole('option').count(),
    4,
  );
});
