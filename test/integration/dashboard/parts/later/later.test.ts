import { story } from '../../../../support/browser/mod.ts';

story('The list stays while the part that shows a request is fetched', async ({ t, page, organization }) => {
  await organization.insert([{ user_id: 'anna' }]);
  let deliver = () => {};
  const wait = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  let isAsked = false;
  await page.route('**/assets/drawer-*.js', async (route) => {
    isAsked = true;
    await wait;
    await route.continue();
  });
  await page.goto('/requests');
  const row = page.locator('.grid-row');
  await row.getByRole('link').first().click();
  await page.waitForURL(/r=/);
  t.equal(isAsked, true);
  const drawer = page.getByRole('complementary', { name: 'Request' });
  t.equal(await drawer.count(), 0);
  t.equal(await row.count(), 1, 'the list is there');
  deliver();
  await drawer.getByRole('tablist').waitFor();
  t.equal(await row.count(), 1);
});
