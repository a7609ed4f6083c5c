import { accessibleStory, story } from '../../support/browser/mod.ts';

story('A fresh page loads from its own origin alone, without a violation', async ({ t, page }) => {
  const response = await page.goto('/');
  t.match(response?.headers()['content-security-policy'], /^default-src 'none'; script-src 'self';/);
  await page.getByRole('heading', { level: 1 }).waitFor();
});

story('A path that no page has says so', async ({ page }) => {
  await page.goto('/nowhere');
  await page.getByText('There is no such page').waitFor();
});

accessibleStory('A fresh page has no barrier', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('heading', { level: 1 }).waitFor();
});
