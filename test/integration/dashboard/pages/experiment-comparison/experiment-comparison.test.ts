import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { answer, makeDataset, makeExperiment, makeScorer } from '../experiments/measured.ts';

const ITEMS = 40;
const GOOD = 'You may return it within 30 days';

/** Makes a baseline that is mostly right, and a candidate that is right where `isRight` says. */
async function measured(stage: Stage, isRight: (index: number) => boolean = (index) => index >= 15) {
  const { id: helpful } = await makeScorer(stage, 'helpful');
  const { id: other } = await makeScorer(stage, 'polite');
  const dataset = await makeDataset(stage, { items: ITEMS });
  const make = async (
    name: string,
    evaluatorIds: string[],
    isGood: (index: number) => boolean,
    cost: number,
  ) => {
    const experiment = await makeExperiment(stage, { name, datasetId: dataset.id, evaluatorIds });
    const answers = Array.from({ length: ITEMS }, (_, index) => ({
      score: isGood(index) ? 1 : 0,
      text: isGood(index) ? GOOD : 'You may not return it',
      cost: cost + 100 * (name === 'Small' ? index : ITEMS - index),
    }));
    const requests = await answer(stage, experiment, { itemIds: dataset.itemIds, answers });
    return { ...experiment, requests };
  };
  const baseline = await make('Large', [helpful, other], (index) => index < 38, 2_000_000);
  const candidate = await make('Small', [helpful], isRight, 1_000_000);
  await stage.product.database.sql`
    update assay.experiments set state = 'completed', finished_at = now() where dataset_id = ${dataset.id}`;
  return {
    dataset,
    baseline,
    candidate,
    helpful,
    address: `/experiments/compare?baseline=${baseline.id}&candidates=${candidate.id}`,
  };
}

const row = (stage: Pick<Stage, 'page'>, name: string) =>
  stage.page.getByRole('region', { name: 'Verdicts' }).getByRole('listitem').filter({ hasText: name });

story(
  'Each metric has its verdict in a word and a sentence, and the table of four of ones and zeros',
  async (stage) => {
    const { t, page } = stage;
    const { address } = await measured(stage);
    await page.goto(address);
    await comesToMatch(
      t,
      () => row(stage, 'helpful').textContent(),
      /▼Worse ?32\.5 points lower \(95 % interval [\d.]+ to [\d.]+\), adjusted p 0\.00\d+\./,
    );
    await comesToMatch(t, () => row(stage, 'Cost').textContent(), /▲Better ?\$0\.001 lower/);
    await row(stage, 'helpful').getByText('The four kinds of pairs').click();
    const four = row(stage, 'helpful').getByRole('table');
    await comesTo(t, () => four.locator('td.number').allTextContents(), ['23', '15', '2', '0']);
    await comesTo(
      t,
      () => page.getByRole('region', { name: 'What is left out' }).getByRole('listitem').allTextContents(),
      ['polite, of Small: The candidate does not use it.'],
    );
  },
);

story('The dot of a loss is to the left of zero, and the margin is drawn beside it', async (stage) => {
  const { t, page } = stage;
  const { address } = await measured(stage);
  await page.goto(`${address}&margin=0.1`);
  const plot = row(stage, 'helpful').locator('svg');
  await plot.locator('.interval-margin').waitFor({ state: 'attached' });
  const share = async (of: string, name: string) =>
    Number.parseFloat((await plot.locator(of).getAttribute(name)) ?? '');
  t.ok((await share('circle', 'cx')) < 50);
  const margin = await share('.interval-margin', 'x1');
  t.ok(margin < 50 && margin > (await share('circle', 'cx')));
  await comesTo(t, () => row(stage, 'Cost').locator('.interval-margin').count(), 0, 'costs have no margin');
});

story('The numbers stand in a table', async (stage) => {
  const { t, page } = stage;
  const { address } = await measured(stage);
  await page.goto(address);
  await page.getByText('All numbers as a table').click();
  const cells = page
    .getByRole('table', { name: 'Numbers of the comparison' })
    .getByRole('row')
    .nth(1)
    .locator('td');
  await comesToMatch(
    t,
    async () => (await cells.allTextContents()).join('|'),
    /^helpful\|40\|40\|95%\|62\.5%\|−32\.5 points\|−[\d.]+ points to −[\d.]+ points\|0\.00\d+\|0\.00\d+\|[\d.]+ points\|▼Worse$/,
  );
});

story(
  'The items that lost come with both requests, and open side by side with words marked',
  async (stage) => {
    const { t, page } = stage;
    const { address, baseline, candidate, dataset } = await measured(stage);
    await page.goto(address);
    const table = page.getByRole('table', { name: 'Items that lost the most' });
    const first = table.getByRole('row').nth(1);
    await comesToMatch(t, () => first.textContent(), /item 000100%0%−100 points/);
    const hrefs = await first
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    t.same(hrefs, [
      `/datasets/${dataset.id}?version=1&item=${dataset.itemIds[0]}`,
      `/requests/${baseline.requests[0]}`,
      `/requests/${candidate.requests[0]}`,
    ]);
    await first.getByRole('button', { name: 'Side by side' }).click();
    const both = page.getByRole('region', { name: 'Answers side by side' });
    await both.locator('ins', { hasText: 'not' }).waitFor();
    await both.getByText('Question 0').waitFor();
    await both.getByText('Answer 0').waitFor();
    t.match(page.url(), `item=${dataset.itemIds[0]}`);
    await both.getByRole('link', { name: 'Compare the whole requests' }).click();
    await page.waitForURL('**/compare?ids=**');
  },
);

story('Margin, cluster and baseline are changed on the page, and live in the address', async (stage) => {
  const { t, page } = stage;
  // One item of forty is lost: less than a margin of a fifth.
  const { address, baseline, candidate } = await measured(stage, (index) => index < 37);
  await page.goto(address);
  await row(stage, 'helpful').getByText('Undecided').waitFor();
  await page.getByLabel('Margin').fill('0.2');
  await page.keyboard.press('Enter');
  await row(stage, 'helpful').getByText('Not worse').waitFor();
  t.match(page.url(), 'margin=0.2');
  await page.getByLabel('Not independent').selectOption('none');
  await page.waitForURL(/cluster=none/);
  await page.getByLabel('Baseline').selectOption({ label: 'Small (version 1)' });
  await page.waitForURL(new RegExp(`baseline=${candidate.id}`));
  t.equal(new URL(page.url()).searchParams.get('candidates'), baseline.id);
  await comesToMatch(t, () => row(stage, 'helpful').textContent(), /higher/);
  await page.getByLabel('Margin').fill('-1');
  await page.keyboard.press('Tab');
  await page.getByText('Must be a number from 0 to 1,000,000').waitFor();
});

story('A candidate is added and removed, and without one the page asks for it', async (stage) => {
  const { page } = stage;
  const { id: datasetId } = await makeDataset(stage);
  const first = await makeExperiment(stage, { name: 'First', datasetId });
  await makeExperiment(stage, { name: 'Second', datasetId });
  await page.goto(`/experiments/compare?baseline=${first.id}`);
  await page.getByText('Choose a candidate to compare with the baseline').waitFor();
  await page.getByLabel('Add a candidate').selectOption({ label: 'Second (version 1)' });
  await row(stage, 'Errors').getByText('no item has a value in both').waitFor();
  await page.getByText('not done yet').waitFor();
  await page.getByRole('button', { name: 'Remove Second' }).click();
  await page.getByText('Choose a candidate to compare with the baseline').waitFor();
});

accessibleStory('A comparison of experiments has no barrier', async (stage) => {
  const { page } = stage;
  const { address, dataset } = await measured(stage);
  const third = await makeExperiment(stage, { name: 'Third', datasetId: dataset.id });
  await page.goto(`${address},${third.id}&margin=0.1&item=${dataset.itemIds[0]}`);
  await page.getByRole('region', { name: 'Answers side by side' }).locator('ins').waitFor();
  await page.getByText('All numbers as a table').click();
  await row(stage, 'helpful').first().getByText('The four kinds of pairs').click();
  await page.getByLabel('Baseline').waitFor();
});
