import type { Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];

async function insert({ organization }: Pick<Stage, 'organization'>): Promise<string[]> {
  const rows = await organization.insert(
    ['the quick fox', 'the slow fox', 'a slow fox'].map((content, index) => ({
      model: `model-${index}`,
      latency_ms: [100, 150, 50][index]!,
      scores: { helpful: index },
      request_text: JSON.stringify({
        model: `model-${index}`,
        temperature: index,
        messages: [{ role: 'user', content: 'Name an animal' }],
      }),
      response_text: JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      }),
    })),
  );
  return rows.map(({ request_id: id }) => id);
}

const facts = (page: Page) => page.getByRole('table', { name: 'Figures of the requests' });
const cells = (page: Page, name: string) =>
  facts(page).getByRole('row', { name }).getByRole('cell').allTextContents();
const models = async (page: Page) =>
  (await facts(page).locator('thead th a').allTextContents()).map((one) => one.trim());

story('Figures and words are compared with those of the first request, or of a chosen one', async (stage) => {
  const { t, page } = stage;
  const ids = await insert(stage);
  await page.goto(`/compare?ids=${ids.join(',')}`);
  await facts(page).waitFor();
  await comesTo(t, () => cells(page, 'Latency'), ['100 ms ', '150 ms +50%', '50 ms -50%']);
  const answers = page.locator('.compare-side').first();
  await comesTo(t, () => answers.locator('del').allTextContents(), ['quick', 'the quick']);
  await comesTo(t, () => answers.locator('ins').allTextContents(), ['slow', 'a slow']);
  await page.getByRole('button', { name: 'Compare with this' }).first().click();
  await page.waitForURL((url) => url.searchParams.get('base') === ids[1]);
  await comesTo(t, () => cells(page, 'Latency'), ['100 ms -33.3%', '150 ms ', '50 ms -66.7%']);
  await page.getByRole('button', { name: 'Mark differences' }).click();
  await page.waitForURL(/diff=0/);
  await comesTo(t, () => page.locator('ins, del').count(), 0);
  await page.reload();
  await facts(page).waitFor();
  await comesTo(t, () => cells(page, 'Latency'), ['100 ms -33.3%', '150 ms ', '50 ms -66.7%']);
});

story('Requests are moved, removed and added, and the address follows', async (stage) => {
  const { t, page } = stage;
  const ids = await insert(stage);
  await page.goto(`/compare?ids=${ids.slice(0, 2).join(',')}`);
  await facts(page).waitFor();
  await page.getByRole('textbox', { name: 'Id of another request' }).fill(` ${ids[2]} `);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'model-2' }).waitFor();
  await page.getByRole('button', { name: 'Move request 3 to the left' }).click();
  await page.waitForURL((url) => url.searchParams.get('ids') === [ids[0], ids[2], ids[1]].join(','));
  await facts(page).waitFor();
  await comesTo(t, () => models(page), ['model-0', 'model-2', 'model-1']);
  await page.getByRole('button', { name: 'Remove request 1' }).click();
  await page.waitForURL((url) => url.searchParams.get('ids') === [ids[2], ids[1]].join(','));
  await page.getByRole('link', { name: 'model-0' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'model-2' }).waitFor();
  await comesTo(t, () => models(page), ['model-2', 'model-1']);
  await page.goBack();
  await page.getByRole('link', { name: 'model-0' }).waitFor();
});

story('Fields that differ are listed, and equal ones are not', async (stage) => {
  const { t, page } = stage;
  const ids = await insert(stage);
  await page.goto(`/compare?ids=${ids.join(',')}`);
  await page.locator('summary', { hasText: 'Fields that differ' }).last().click();
  const table = page.locator('.compare-side').last().getByRole('table');
  await table.waitFor();
  await comesTo(t, () => table.locator('tbody td:first-child').allTextContents(), ['model', 'temperature']);
  await comesTo(t, () => table.locator('tbody tr').last().locator('td').allTextContents(), [
    'temperature',
    '0',
    '1',
    '2',
  ]);
});

story('A request that is not there is told about', async (stage) => {
  const { page } = stage;
  const [id] = await insert(stage);
  await page.goto(`/compare?ids=${id},nothing-here`);
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
});

accessibleStory('The comparison has no barrier', async (stage) => {
  const ids = await insert(stage);
  const { page } = stage;
  await page.goto(`/compare?ids=${ids.join(',')}`);
  await page.locator('summary', { hasText: 'Fields that differ' }).last().click();
  await page.locator('.compare-side').last().getByRole('table').waitFor();
});

accessibleStory('A comparison of nothing has no barrier', async ({ page }) => {
  await page.goto('/compare');
  await page.getByText('Select requests in').waitFor();
});
