import { NAVIGATION } from '../../../../dashboard/parts/frame/navigation.ts';
import { story } from '../../../support/browser/mod.ts';

story('Each link of the navigation leads to the page of its name', async ({ t, page, organization }) => {
  await organization.insert([{}]);
  await page.goto('/');
  const links = page.getByRole('navigation', { name: 'Pages' });
  for (const { label, path } of NAVIGATION) {
    await links.getByRole('link', { name: label, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: label }).waitFor();
    t.equal(new URL(page.url()).pathname, path);
  }
});
