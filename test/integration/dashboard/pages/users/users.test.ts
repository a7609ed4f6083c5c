import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { SeedRequest } from '../../../../support/seed-requests.ts';

const HOUR_AGO = new Date(Date.now() - 3_600_000);

function requests(
  user_id: string | null,
  count: number,
  more: Partial<SeedRequest> = {},
): Partial<SeedRequest>[] {
  return Array.from({ length: count }, () => ({ user_id, created_at: HOUR_AGO, ...more }));
}

story(
  'Users are sorted by a click on a title and filtered by a query, and lead to their requests',
  async ({ t, page, organization }) => {
    await organization.insert([
      ...requests('ada', 3, { cost_nano: 1_000_000 }),
      ...requests('bob', 1, { cost_nano: 9_000_000, request_model: 'large' }),
      ...requests(null, 5),
    ]);
    await page.goto('/users');
    const names = () => page.locator('.users-id').allInnerTexts();
    await page.getByText('2 users').waitFor();
    await page.getByRole('button', { name: 'Cost' }).click();
    await page.locator('th[aria-sort=descending]').waitFor();
    await page.locator('[aria-busy=false] .users-id').first().waitFor();
    await comesTo(t, () => names(), ['bob', 'ada']);
    await page.getByRole('button', { name: 'Cost' }).click();
    await page.locator('tbody tr').first().getByText('ada').waitFor();
    t.match(page.url(), 'sort=cost');
    await page.goto('/users?q=model:large');
    await page.getByText('1 user', { exact: true }).waitFor();
    await comesTo(t, () => names(), ['bob']);
    await page.goto('/users');
    await page.getByRole('row').filter({ hasText: 'ada' }).getByRole('link', { name: '3' }).click();
    await page.getByText('3 requests').waitFor();
    t.match(page.url(), 'q=user:ada');
  },
);

story(
  'The next page of users is in the address, and a step back returns',
  async ({ t, page, organization }) => {
    await organization.insert(
      Array.from({ length: 55 }, (_, index) => requests(`user-${String(index).padStart(2, '0')}`, 1)).flat(),
    );
    await page.goto('/users?sort=user_id');
    await page.getByText('Page 1 of 2').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'user-54' }).waitFor();
    t.match(page.url(), 'page=2');
    await page.goBack();
    await page.getByRole('link', { name: 'user-00' }).waitFor();
  },
);

story('Without any user the page says how to name one', async ({ t, page }) => {
  await page.goto('/users');
  await page.getByRole('heading', { name: 'No user yet' }).waitFor();
  await comesToMatch(t, () => page.locator('pre').innerText(), 'Service-User-Id');
});

story('A list that finds nobody offers the ways out', async ({ page, organization }) => {
  await organization.insert(requests('ada', 1));
  await page.goto('/users?q=status:500');
  await page.getByRole('button', { name: 'Without the query' }).click();
  await page.getByRole('link', { name: 'ada' }).waitFor();
});

accessibleStory('The list of users has no barrier', async ({ page, organization }) => {
  await organization.insert([...requests('ada', 2), ...requests('<b>\u202ebob', 1)]);
  await page.goto('/users');
  await page.getByRole('link', { name: 'ada' }).waitFor();
});
