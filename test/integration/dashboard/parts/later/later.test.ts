import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

story('The list stays while the part that shows a request is fetched', async ({ t, page, organization }) => {
  await organization.insert([{ user_id: 'anna' }]);
  let deliver = () => {};
  const wait = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  await page.route('**/assets/drawer-*.js', async (route) => {
    await wait;
    await route.continue();
  });
  const asked = page.waitForRequest('**/assets/drawer-*.js');
  await page.goto('/requests');
  const row = page.locator('.grid-row');
  await row.getByRole('link').first().click();
  await page.waitForURL(/r=/);
  await asked;
  const drawer = page.getByRole('complementary', { name: 'Request' });
  await comesTo(t, () => drawer.count(), 0);
  await comesTo(t, () => row.count(), 1, 'the list is there');
  deliver();
  await drawer.getByRole('tablist').waitFor();
  await comesTo(t, () => row.count(), 1);
});
