/** A log-in and a log-out hold for all tabs of a browser, which share its cookie. */
import type { Page } from 'playwright-core';
import { comesTo } from '../../../support/browser/comes-to.ts';
import { story } from '../../../support/browser/mod.ts';

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}

async function logIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
}

story("After a log-in with another organization's key, no tab shows the one before", async (stage) => {
  const { t, page, context, organization, product, expectComplaint } = stage;
  const other = await product.organization(['read']);
  await organization.insert([{ user_id: 'anna' }]);
  await other.insert([{ user_id: 'ben' }]);
  await page.goto('/requests');
  const row = page.locator('.grid-row');
  await row.getByText('anna').waitFor();
  const tab = await context.newPage();
  await tab.goto('/system');
  await logOut(tab);
  await page.getByLabel('API key').waitFor();
  await comesTo(t, () => page.getByText('anna').count(), 0, 'the log-out hides what the first tab shows');
  await logIn(tab, other.key);
  await row.getByText('ben').waitFor();
  t.match(page.url(), '/requests', 'the first tab is logged in, and where it was');
  expectComplaint(/status of 401/);
});

story(
  'What is written in a tab outlasts a log-out and a log-in with the same key in another',
  async (stage) => {
    const { t, page, context, organization, expectComplaint } = stage;
    await page.goto('/evaluators/new');
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Polite');
    const tab = await context.newPage();
    await tab.goto('/system');
    await logOut(tab);
    await page.getByRole('dialog').getByLabel('API key').waitFor();
    await logIn(tab, organization.key);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await comesTo(t, () => name.inputValue(), 'Polite');
    expectComplaint(/status of 401/);
  },
);
