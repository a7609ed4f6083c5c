import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { SeedRequest } from '../../../../support/seed-requests.ts';

const BEGIN_MS = Date.now() - 3_600_000;

/** Returns requests of a session, a second apart. */
function session(
  id: string,
  requests: number,
  { atS = 0, ...more }: Partial<SeedRequest> & { atS?: number } = {},
): Partial<SeedRequest>[] {
  return Array.from({ length: requests }, (_, index) => ({
    session_id: id,
    created_at: new Date(BEGIN_MS + (atS + index) * 1_000),
    cost_nano: 1_000_000,
    total_tokens: 7,
    ...more,
  }));
}

story(
  'Sessions are listed with totals and distributions; a name, a search and a query narrow them',
  async ({ t, page, organization }) => {
    await organization.insert([
      ...session('chat-1', 3, { session_name: 'Chat', request_model: 'alpha' }),
      ...session('chat-2', 1, { session_name: 'Chat', atS: 10 }),
      ...session('job-1', 2, { session_name: 'Job', atS: 20 }),
    ]);
    await page.goto('/sessions');
    const table = page.getByRole('table', { name: 'Sessions, the newest first' });
    const ids = () => table.locator('.sessions-id').allInnerTexts();
    const alone = (id: string) =>
      table.getByRole('row').filter({ hasText: id }).waitFor({ state: 'detached' });
    await table.getByRole('row').nth(3).waitFor();
    await comesTo(t, () => ids(), ['job-1', 'chat-2', 'chat-1']);
    await comesToMatch(
      t,
      () => table.getByRole('row').filter({ hasText: 'chat-1' }).innerText(),
      /Chat\s+3\s+2 s\s+\$0\.003\s+21\s+500 ms/,
    );
    await page
      .getByRole('region', { name: 'Requests in a session' })
      .getByText(/Half up to 2/)
      .waitFor();

    await table.getByRole('link', { name: 'Chat', exact: true }).first().click();
    await alone('job-1');
    t.match(page.url(), 'name=Chat');
    await page.goBack();
    await table.getByText('job-1').waitFor();

    await page.getByLabel('In id or name').fill('JOB');
    await page.keyboard.press('Enter');
    await alone('chat-1');
    await comesTo(t, () => ids(), ['job-1']);

    await page.goto('/sessions?q=model:alpha');
    await table.getByText('chat-1').waitFor();
    await comesTo(t, () => ids(), ['chat-1']);
  },
);

story(
  'Fifty sessions are shown, and fifty more by a click; the way back from a session shows as many again',
  async ({ t, page, organization }) => {
    await organization.insert(
      Array.from({ length: 60 }, (_, index) => session(`s-${index}`, 1, { atS: index })).flat(),
    );
    await page.goto('/sessions');
    await page.getByRole('button', { name: '50 more' }).click();
    await page.getByRole('link', { name: 's-0', exact: true }).waitFor();
    await comesTo(t, () => page.locator('.sessions-id').count(), 60);
    t.match(page.url(), 'page=2');
    await page.getByRole('link', { name: 's-3', exact: true }).click();
    await page.getByRole('heading', { name: 's-3' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 's-0', exact: true }).waitFor();
    await comesTo(t, () => page.getByRole('button', { name: '50 more' }).count(), 0);
  },
);

story('Keys move through the sessions, and Enter opens one', async ({ page, organization }) => {
  await organization.insert([...session('older', 1), ...session('newer', 1, { atS: 9 })]);
  await page.goto('/sessions');
  await page.getByRole('link', { name: 'older' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/sessions/older');
});

story('Without any session the page says how to send one', async ({ t, page, organization }) => {
  await organization.insert([{ session_id: null }]);
  await page.goto('/sessions?q=status:500');
  await page.getByRole('heading', { name: 'No session yet' }).waitFor();
  await comesToMatch(t, () => page.locator('pre').innerText(), 'Service-Session-Id');
});

story('A list that finds nothing offers the ways out', async ({ page, organization }) => {
  await organization.insert(session('old', 1, { created_at: new Date(BEGIN_MS - 20 * 86_400_000) }));
  await page.goto('/sessions?search=old&q=status:200');
  await page.getByRole('button', { name: 'All times' }).click();
  await page.getByRole('link', { name: 'old' }).waitFor();
});

story(
  'A list that cannot be loaded says so in the words of the API, and is tried again',
  async ({ page, organization, expectComplaint }) => {
    await organization.insert(session('found', 1));
    await page.route('**/v1/session/query', (route) =>
      route.fulfill({ status: 503, json: { error: 'Try later' } }),
    );
    await page.goto('/sessions');
    await page.getByText('Try later').waitFor();
    await page.unroute('**/v1/session/query');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'found' }).waitFor();
    expectComplaint(/status of 503/);
  },
);

accessibleStory('The list of sessions has no barrier', async ({ page, organization }) => {
  await organization.insert([
    ...session('one', 3, { session_name: '<b>\u202e hostile' }),
    ...session('two', 1, { atS: 9, feedback_rating: true }),
  ]);
  await page.goto('/sessions');
  await page.getByRole('link', { name: 'two' }).waitFor();
  await page
    .getByRole('region', { name: 'Cost' })
    .getByText(/Half up to/)
    .waitFor();
});

accessibleStory('The list without any session has no barrier', async ({ page }) => {
  await page.goto('/sessions');
  await page.getByRole('heading', { name: 'No session yet' }).waitFor();
});
