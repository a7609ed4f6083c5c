/** A property that is added to several requests, when that ends midway. */
import type { Page } from 'playwright-core';
import { story } from '../../../../support/browser/mod.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];
const VALUE = 'refund-2';

/** Selects three requests, and sends the dialog; returns the dialog. */
async function addToThree({ page, organization }: Pick<Stage, 'page' | 'organization'>) {
  const now = Date.now();
  await organization.insert(
    [0, 1, 2].map((index) => ({ user_id: `u${index}`, created_at: new Date(now - (index + 1) * 1_000) })),
  );
  await page.goto('/requests?cols=request_user_id,property:Plan');
  for (const name of ['u0', 'u1', 'u2'])
    await page.locator('.grid-row', { hasText: name }).getByRole('checkbox').click();
  const bar = page.getByRole('region', { name: 'Selected requests' });
  await bar.getByRole('button', { name: 'Add a property' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Plan');
  await dialog.getByLabel('Value').fill(VALUE);
  await dialog.getByRole('button', { name: 'Add' }).click();
  return dialog;
}

/** The first request has the property, as the list shows. */
async function showsTheFirst(page: Page): Promise<void> {
  await page.getByText('Added to 1 of 3 requests').waitFor();
  await page.locator('.grid-row', { hasText: 'u0' }).getByText(VALUE).waitFor();
}

story('Closing the dialog stops adding a property, and the list shows how far it came', async (stage) => {
  const { t, page } = stage;
  let calls = 0;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  await page.route('**/v1/request/*/property', async (route) => {
    calls += 1;
    // The second stays unanswered.
    if (calls === 1) return await route.continue();
    begin();
  });
  const dialog = await addToThree(stage);
  await begun;
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await showsTheFirst(page);
  t.equal(calls, 2);
});

story('A failure midway is told in the dialog, and the list shows how far it came', async (stage) => {
  const { t, page } = stage;
  let calls = 0;
  await page.route('**/v1/request/*/property', async (route) => {
    calls += 1;
    if (calls === 1) return await route.continue();
    await route.fulfill({ status: 503, json: { data: null, error: 'The store is unavailable' } });
  });
  const dialog = await addToThree(stage);
  await dialog.getByText('The store is unavailable').waitFor();
  await showsTheFirst(page);
  t.equal(calls, 2);
  stage.expectComplaint(/status of 503/);
});
