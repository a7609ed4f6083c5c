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
