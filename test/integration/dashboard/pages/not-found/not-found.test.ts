import { story } from '../../../../support/browser/mod.ts';

story('An address without a page says so, and leads to the overview', async ({ page }) => {
  await page.goto('/no-such-page');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});
