import { comesToMatch } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

story('A secret that is shown once outlasts one slip, and closes at the second', async ({ t, page }) => {
  await page.goto('/webhooks?new=1');
  await page.getByRole('textbox', { name: 'Address' }).fill('https://example.com/');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'The secret of the webhook' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.getByText('It cannot be shown again. Have you kept it?').waitFor();
  await comesToMatch(t, () => dialog.locator('.secret code').textContent(), /^whsec_/);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});
