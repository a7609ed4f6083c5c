import type { Locator, Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

story(
  'The audit log is filtered by a click, and the address has the filter',
  async ({ t, page, ...stage }) => {
    const { id } = await callAs<{ id: string }>(stage, 'POST', '/v1/keys', {
      name: 'a key',
      scopes: ['read'],
    });
    await callAs(stage, 'DELETE', `/v1/keys/${id}`);
    await page.goto('/settings?tab=audit');
    await page.getByRole('link', { name: 'revoke' }).click();
    await page.waitForURL('**action=revoke*');
    await page.getByRole('link', { name: 'create' }).first().waitFor({ state: 'detached' });
    await comesTo(t, () => page.getByRole('row').count(), 2);
    await page.getByLabel('Action').fill('');
    await page.getByLabel('Action').press('Tab');
    await page.getByRole('link', { name: 'create' }).first().waitFor();
  },
);

story('What is being typed into a filter outlasts what arrives meanwhile', async ({ t, page, ...stage }) => {
  await callAs(stage, 'POST', '/v1/keys', { name: 'a key', scopes: ['read'] });
  const names = Promise.withResolvers<void>();
  await page.route('**/v1/keys?ids=*', async (route) => {
    await names.promise;
    await route.continue();
  });
  await page.goto('/settings?tab=audit');
  await page.getByLabel('Action').pressSequentially('revo');
  names.resolve();
  await page
    .getByRole('cell', { name: /^API key .*…\)$/ })
    .first()
    .waitFor();
  await page.getByLabel('Action').pressSequentially('ke');
  t.equal(await page.getByLabel('Action').inputValue(), 'revoke');
  await page.getByLabel('Action').press('Tab');
  await page.waitForURL('**action=revoke*');
});

story('Requests are counted before they are erased', async ({ t, page, organization, ...stage }) => {
  await organization.insert([{ user_id: 'ada' }, { user_id: 'ada' }, { user_id: 'bob' }]);
  await page.goto('/settings?tab=erasure');
  await page.getByLabel('Requests that pass').fill('user:ada');
  await page.getByRole('button', { name: 'Count them' }).click();
  await page.getByText('2 requests pass').waitFor();
  const count = (q: string) =>
    callAs<number>({ organization, ...stage }, 'POST', '/v1/request/count/query', { q });
  await page.getByRole('button', { name: 'Erase them' }).click();
  await page
    .getByRole('dialog', { name: 'Erase 2 requests?' })
    .getByRole('button', { name: 'Erase' })
    .click();
  await page.getByRole('cell', { name: 'completed' }).waitFor();
  await comesTo(t, () => count('user:ada'), 0);
  await comesTo(t, () => count('user:bob'), 1);
});

story('A preference holds at once and for the next visit', async ({ t, page }) => {
  await page.goto('/settings?tab=preferences');
  await page.getByLabel('Colours').selectOption('dark');
  await page.reload();
  await page.getByLabel('Colours').waitFor();
  await comesTo(t, () => page.getByLabel('Colours').inputValue(), 'dark');
  await comesTo(t, () => page.evaluate<string>('document.documentElement.style.colorScheme'), 'dark');
});

story(
  'A key that may only read sees the organization and erases nothing',
  async ({ page }) => {
    await page.goto('/settings');
    await page.getByText('enterprise').waitFor();
    await page.getByRole('tab', { name: 'Erasure' }).click();
    await page.getByText('Erasing requests needs the scope write').waitFor();
  },
  { scopes: ['read'] },
);

/** The tabs, each with what of it comes last: axe is to see all of it. */
const TABS: Readonly<Record<string, (page: Page) => Locator>> = {
  organization: (page) => page.getByText('enterprise'),
  audit: (page) =>
    page.getByRole('table', { name: 'Audit log' }).getByRole('link', { name: 'create' }).first(),
  preferences: (page) => page.getByLabel('Lists'),
  erasure: (page) => page.getByText('Nothing has been erased by a filter.'),
};
for (const [tab, last] of Object.entries(TABS)) {
  accessibleStory(`The settings have no barrier: ${tab}`, async ({ page, ...stage }) => {
    await callAs(stage, 'POST', '/v1/keys', { name: 'a key', scopes: ['read'] });
    await page.goto(`/settings?tab=${tab}`);
    await page.getByRole('tab', { selected: true }).waitFor();
    await last(page).waitFor();
  });
}
