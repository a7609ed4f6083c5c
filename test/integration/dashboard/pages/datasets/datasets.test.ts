import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';
import { makeDataset } from '../experiments/measured.ts';

story('A dataset is made by a form, with a schema, and its page opens', async (stage) => {
  const { t, page } = stage;
  await page.goto('/datasets');
  await page.getByText('No datasets yet').waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New dataset' });
  await dialog.getByLabel('Name').fill('Refunds');
  await dialog.getByLabel('Description').fill('Of the help desk');
  await dialog.getByText('Schemas of the items').click();
  await dialog.getByLabel('Of what is expected').fill('{"type":');
  await dialog.getByText('Must be JSON').waitFor();
  await comesTo(t, () => dialog.getByRole('button', { name: 'Create dataset' }).isDisabled(), true);
  await dialog.getByLabel('Of what is expected').fill('{"type": "string"}');
  await dialog.getByRole('button', { name: 'Create dataset' }).click();
  await page.getByRole('heading', { name: 'Refunds' }).waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1);
  t.match(await callAs(stage, 'GET', `/v1/dataset/${id}`), {
    description: 'Of the help desk',
    expectedSchema: { type: 'string' },
    requestSchema: null,
  });
});

story('A name that is taken is refused in the dialog', async (stage) => {
  const { page, expectComplaint } = stage;
  await makeDataset(stage);
  await page.goto('/datasets?new=1');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Refunds');
  await dialog.getByRole('button', { name: 'Create dataset' }).click();
  await dialog.getByRole('alert').waitFor();
  expectComplaint(/status of 4\d\d/);
});

story('The list has items and version of each dataset, and is searched by name', async (stage) => {
  const { t, page } = stage;
  await makeDataset(stage, { name: 'Refunds', items: 7 });
  const hostile = '<img src=x onerror=alert(1)>\u202Eevil';
  await callAs(stage, 'POST', '/v1/dataset', { name: hostile, description: hostile });
  const { id: old } = await makeDataset(stage, { name: 'Old' });
  await callAs(stage, 'DELETE', `/v1/dataset/${old}`);
  await page.goto('/datasets');
  const row = page.getByRole('row').filter({ hasText: 'Refunds' });
  await comesTo(t, () => row.locator('td.number').allTextContents(), ['7', '1']);
  await page
    .getByTitle(/U\+202E/)
    .first()
    .waitFor();
  await comesTo(t, () => page.locator('main img').count(), 0);
  await comesTo(t, () => page.getByRole('link', { name: 'Old' }).count(), 0);
  await page.getByLabel('Search by name').fill('refu');
  await page.getByRole('button', { name: 'Search' }).click();
  await page
    .getByTitle(/U\+202E/)
    .first()
    .waitFor({ state: 'detached' });
  t.match(page.url(), 'search=refu');
  await page.goto('/datasets');
  await page.getByRole('button', { name: 'Archived' }).click();
  await page.getByRole('link', { name: 'Old' }).waitFor();
});

story(
  'A key that may not write is told so',
  async ({ t, page }) => {
    await page.goto('/datasets?new=1');
    await page.getByText('The key needs the scope write to make datasets').waitFor();
    await comesTo(t, () => page.getByRole('dialog').count(), 0);
  },
  { scopes: ['read'] },
);

accessibleStory('The list of datasets has no barrier', async (stage) => {
  await makeDataset(stage);
  await stage.page.goto('/datasets');
  await stage.page.getByRole('link', { name: 'Refunds' }).waitFor();
});
