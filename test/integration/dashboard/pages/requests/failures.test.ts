import type { Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';
import { sessionEnds } from '../../../../support/browser/session-ended.ts';

const ROWS = '**/v1/request/rows';
const user = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const REFUSAL = {
  status: 503,
  headers: { 'service-request-id': 'call-17', 'content-type': 'application/json' },
  body: JSON.stringify({ data: null, error: 'The database has no connection left' }),
};

story(
  "A failure is told in the API's sentence with the id of the call, keeps the rows, and can be tried again",
  async ({ t, page, organization, expectComplaint }) => {
    await organization.insert([{ user_id: 'anna' }, { user_id: 'bob' }]);
    await page.goto('/requests');
    await user(page, 'anna').waitFor();
    await page.route(ROWS, (route) => route.fulfill(REFUSAL));
    await user(page, 'bob').click();
    const notice = page.getByRole('alert');
    await notice.getByText('The database has no connection left').waitFor();
    await notice.getByText('call-17').waitFor();
    await comesTo(t, () => user(page, 'anna').count(), 1, 'the rows before are there');
    await page.unroute(ROWS);
    await notice.getByRole('button', { name: 'Try again' }).click();
    await user(page, 'anna').waitFor({ state: 'detached' });
    await notice.waitFor({ state: 'detached' });
    await user(page, 'bob').waitFor();
    expectComplaint(/status of 503/);
  },
);

/** Sentences of all notices. */
const notices = async (page: Page) => {
  await page.waitForLoadState('networkidle');
  return await page.getByRole('alert').allInnerTexts();
};
const NOTHING = /^No (?:request|session|user)|^None/;
const MISTAKE = /^abc: status must be a number, but is "abc"/;

for (const [path, found] of [
  ['/requests?facets=1&', 'anna'],
  ['/sessions?', 'one'],
  ['/users?', 'anna'],
  ['/?', 'anna'],
] as const) {
  story(
    `A mistake in the query of a link is told once, under the bar: ${path}`,
    async ({ t, page, organization, expectComplaint }) => {
      await organization.insert([{ user_id: 'anna', session_id: 'one' }]);
      await page.goto(`${path}q=status:abc`);
      await page.locator('.query-bar').getByText(MISTAKE).waitFor();
      if (path.includes('facets')) await page.locator('summary', { hasText: 'Model' }).first().click();
      const told = await notices(page);
      t.equal(told.length, 1, told.join());
      await comesTo(
        t,
        () => page.locator('main').getByText(NOTHING).allInnerTexts(),
        [],
        'no answer says so',
      );
      await page.getByRole('textbox', { name: 'Query' }).fill('user:anna');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: found, exact: true }).first().waitFor();
      await comesTo(t, () => notices(page), []);
      expectComplaint(/status of 400/);
    },
  );
}

story(
  'A mistake keeps the rows before, and hides no failure of another kind',
  async ({ t, page, organization, expectComplaint }) => {
    await organization.insert([{ user_id: 'anna' }]);
    await page.goto('/requests?q=status:abc');
    await page.locator('.query-bar').getByText(MISTAKE).waitFor();
    await page.getByRole('textbox', { name: 'Query' }).fill('user:anna');
    await page.keyboard.press('Enter');
    await user(page, 'anna').waitFor();
    await page.goBack();
    await page.locator('.query-bar').getByText(MISTAKE).waitFor();
    await comesTo(t, async () => (await notices(page)).length, 1);
    await comesTo(t, () => user(page, 'anna').count(), 1, 'the rows before are there');
    await page.route(ROWS, (route) => route.fulfill(REFUSAL));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('The database has no connection left').waitFor();
    await comesTo(t, async () => (await notices(page)).length, 2);
    expectComplaint(/status of (400|503)/);
  },
);

story('A slow answer leaves the rows before on the page', async ({ t, page, organization }) => {
  await organization.insert([{ user_id: 'anna' }, { user_id: 'bob' }]);
  await page.goto('/requests');
  await user(page, 'anna').waitFor();
  let answer = () => {};
  const wait = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(ROWS, async (route) => {
    await wait;
    await route.continue();
  });
  await user(page, 'bob').click();
  await page.locator('.requests-list.busy').waitFor();
  await comesTo(t, () => user(page, 'anna').count(), 1);
  await comesTo(t, () => page.locator('.grid').getAttribute('aria-busy'), 'true');
  answer();
  await user(page, 'anna').waitFor({ state: 'detached' });
});

story('A new query aborts the one before', async ({ t, page, organization }) => {
  await organization.insert([{ user_id: 'anna' }, { user_id: 'bob', model: 'gpt-5' }]);
  await page.goto('/requests');
  await user(page, 'anna').waitFor();
  const waiting: (() => void)[] = [];
  await page.route(ROWS, async (route) => {
    if (route.request().postData()?.includes('gpt-5') === true) return await route.continue();
    await new Promise<void>((resolve) => waiting.push(resolve));
    await route.abort();
  });
  const failed = page.waitForEvent(
    'requestfailed',
    (request) => request.postData()?.includes('user:anna') === true,
  );
  await user(page, 'anna').click();
  await page.locator('.requests-list.busy').waitFor();
  await page.getByRole('link', { name: 'gpt-5' }).click();
  t.equal((await failed).failure()?.errorText, 'net::ERR_ABORTED');
  for (const resolve of waiting) resolve();
});

story(
  'A session that ended leads to the log-in, and from there back to the same list',
  async ({ t, page, organization, product, expectComplaint }) => {
    await organization.insert([{ user_id: 'anna' }, { user_id: 'bob' }]);
    await page.goto('/requests?q=user:anna&sort=-latency');
    await user(page, 'anna').waitFor();
    // Counts and chart are there, so that the next call is that of the button.
    await page.getByText('1 request', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Errors\s*0$/ }).waitFor();
    await page
      .getByRole('table', { name: 'Requests over time' })
      .locator('tbody tr')
      .first()
      .waitFor({ state: 'attached' });
    t.ok(await sessionEnds(page, { organization, product }), 'the API refuses the log-in');
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByLabel('API key').fill(organization.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await user(page, 'anna').waitFor();
    await comesTo(t, () => user(page, 'bob').count(), 0);
    t.equal(page.url(), `${product.url}/requests?q=user:anna&sort=-latency`);
    expectComplaint(/status of 401/);
  },
);

story(
  'An empty list names the condition that excludes everything, and goes without it',
  async ({ page, organization }) => {
    await organization.insert([{ user_id: 'anna' }, { user_id: 'anna', status: 500 }]);
    await page.goto('/requests?q=user:anna+status:418');
    await page.getByText('No request passes this query in this range.').waitFor();
    await page.getByRole('button', { name: 'Without status:418' }).click();
    await page.getByText('2 requests', { exact: true }).waitFor();
    await user(page, 'anna').first().waitFor();
  },
);

story('An empty list finds older requests in a longer range', async ({ page, organization }) => {
  await organization.insert([{ user_id: 'anna', created_at: new Date(Date.now() - 20 * 86_400_000) }]);
  await page.goto('/requests?range=1h');
  await page.getByRole('button', { name: 'Last 90 days' }).last().click();
  await user(page, 'anna').waitFor();
});

story('The first request takes the place of the snippets by itself', async ({ page, organization }) => {
  await page.goto('/requests');
  await page.getByRole('heading', { name: 'No request yet' }).waitFor();
  await organization.insert([{ user_id: 'anna' }]);
  await user(page, 'anna').waitFor();
});

story(
  'A link to a request that was erased shows the list all the same',
  async ({ page, organization, expectComplaint }) => {
    await organization.insert([{ user_id: 'anna' }]);
    await page.goto('/requests?r=01ARZ3NDEKTSV4RRFFQ69G5FAV');
    await user(page, 'anna').waitFor();
    await page.getByRole('complementary', { name: 'Request' }).getByRole('alert').waitFor();
    expectComplaint(/status of 404/);
  },
);
