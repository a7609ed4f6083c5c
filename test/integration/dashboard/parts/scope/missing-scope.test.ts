import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

story(
  'A page names the scope that its buttons need',
  async ({ t, page }) => {
    await page.goto('/alerts');
    await page.getByText('Creating and changing alerts needs the scope write').waitFor();
    await comesTo(t, () => page.getByRole('button', { name: 'Create an alert' }).isDisabled(), true);
  },
  { scopes: ['read'] },
);

story('A key with the scope reads nothing of it', async ({ t, page }) => {
  await page.goto('/alerts');
  await page.getByText('There is no alert').waitFor();
  await comesTo(t, () => page.getByText('needs the scope').count(), 0);
});
