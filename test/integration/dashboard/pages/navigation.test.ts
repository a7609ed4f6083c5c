import { NAVIGATION } from '../../../../dashboard/parts/frame/navigation.ts';
import { comesTo } from '../../../support/browser/comes-to.ts';
import { followNavigation } from '../../../support/browser/follow-navigation.ts';
import { story } from '../../../support/browser/mod.ts';

story('Each link of the navigation leads to the page of its name', async ({ t, page, organization }) => {
  await organization.insert([{}]);
  await page.goto('/');
  for (const { label, path } of NAVIGATION) {
    await followNavigation(page, label);
    await page.getByRole('heading', { level: 1, name: label }).waitFor();
    t.equal(new URL(page.url()).pathname, path);
    await comesTo(t, () => page.title(), `${label} · Assay`);
  }
});

story('A tab is named after the heading of its page, which comes later than the page', async (stage) => {
  const { t, page, organization } = stage;
  await organization.insert([{ user_id: 'ada\u202e' }]);
  await page.goto('/users');
  await page.getByRole('link', { name: 'ada' }).click();
  await comesTo(t, () => page.title(), 'ada202E · Assay', 'without the character that turns text around');
  await page.goBack();
  await comesTo(t, () => page.title(), 'Users · Assay');
  await page.goto('/users/ben%20%20');
  await comesTo(t, () => page.title(), 'ben · Assay');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('API key').waitFor();
  await comesTo(t, () => page.title(), 'Assay');
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
