import { NAVIGATION } from '../../../../dashboard/parts/frame/navigation.ts';
import { followNavigation } from '../../../support/browser/follow-navigation.ts';
import { story } from '../../../support/browser/mod.ts';

story('Each link of the navigation leads to the page of its name', async ({ t, page, organization }) => {
  await organization.insert([{}]);
  await page.goto('/');
  for (const { label, path } of NAVIGATION) {
    await followNavigation(page, label);
    await page.getByRole('heading', { level: 1, name: label }).waitFor();
    t.equal(new URL(page.url()).pathname, path);
  }
});

story('A page whose files are gone, as after an upgrade, says so and is loaded anew', async (stage) => {
  const { page, expectComplaint } = stage;
  await page.goto('/system');
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
  await page.route('**/assets/reading-*.js', (route) => route.fulfill({ status: 404, body: '' }));
  await followNavigation(page, 'Sessions');
  await page.getByText('A part of this page could not be fetched').waitFor();
  await followNavigation(page, 'System');
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
  await followNavigation(page, 'Sessions');
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  expectComplaint(/status of 404/);
});
