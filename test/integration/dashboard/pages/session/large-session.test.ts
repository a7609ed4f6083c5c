import { story } from '../../../../support/browser/mod.ts';

const REQUESTS = 2_000;

story(
  'A session of 2,000 requests has only the rows on the screen in the page, and the last error is a key away',
  async ({ t, page, organization }) => {
    const beginMs = Date.now() - REQUESTS * 1_000;
    await organization.insert(
      Array.from({ length: REQUESTS }, (_, index) => ({
        session_id: 'long',
        session_path: `/agent/${index % 40}/step ${index % 7}`,
        created_at: new Date(beginMs + index * 1_000),
        status: index === REQUESTS - 1 ? 500 : 200,
        cost_nano: 1_000,
      })),
    );
    for (const [tab, table] of [
      ['', 'Requests by path'],
      ['?show=waterfall', 'Requests by time'],
    ]) {
      await page.goto(`/sessions/long${tab}`);
      await page.getByRole('table', { name: table! }).getByRole('link').nth(5).waitFor();
      t.ok((await page.locator('.grid tr').count()) < 150, table!);
    }
    await page.keyboard.press('e');
    await page.locator('tr[aria-current]', { hasText: '500' }).waitFor();
  },
);
