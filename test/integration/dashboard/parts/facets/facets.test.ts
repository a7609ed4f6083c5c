import type { Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];
const asked = (page: Page, q: string | null) => page.waitForURL((url) => url.searchParams.get('q') === q);
const row = (page: Page, text: string) => page.locator('.facet-row', { hasText: text });

async function open({ page, organization }: Pick<Stage, 'page' | 'organization'>, q = ''): Promise<void> {
  await organization.insert([
    { user_id: 'anna', status: 500, properties: { Plan: 'pro' } },
    { user_id: 'anna', status: 502 },
    { user_id: 'anna', properties: { Plan: 'team' } },
    { user_id: 'bob', scores: { helpful: 3 } },
    ...Array.from({ length: 12 }, (_, index) => ({ user_id: `user ${index}`, status: 429 })),
  ]);
  await page.goto(`/requests?facets=1&q=${encodeURIComponent(q)}`);
  await page.getByRole('region', { name: 'Values to filter by' }).waitFor();
}
const unfold = (page: Page, title: string) => page.locator('summary', { hasText: title }).first().click();

story(
  'A check filters by a value, a second one by either, and both show the counts of all values',
  async ({ t, page, organization }) => {
    await open({ page, organization });
    await unfold(page, 'User');
    await row(page, 'anna').getByText('3', { exact: true }).waitFor();
    await row(page, 'anna').getByRole('checkbox').click();
    await asked(page, 'user:anna');
    await comesTo(t, () => row(page, 'anna').getByRole('checkbox').isChecked(), true);
    await row(page, 'bob').getByRole('checkbox').click();
    await asked(page, 'user:(anna OR bob)');
    await page.getByText('4 requests', { exact: true }).waitFor();
    await row(page, 'anna').getByRole('checkbox').click();
    await asked(page, 'user:bob');
  },
);

story('Alt and a click, or the button for it, exclude a value', async ({ t, page, organization }) => {
  await open({ page, organization });
  await unfold(page, 'User');
  await row(page, 'anna')
    .getByRole('checkbox')
    .click({ modifiers: ['Alt'] });
  await asked(page, '-user:anna');
  const button = page.getByRole('button', { name: 'Exclude anna' });
  await comesTo(t, () => button.getAttribute('aria-pressed'), 'true');
  await button.click();
  await asked(page, null);
});

story(
  'A class of statuses takes the place of another, and of single statuses',
  async ({ page, organization }) => {
    await open({ page, organization }, 'status:429');
    const caller = row(page, "Caller's error (4xx)");
    await caller.getByText('12', { exact: true }).waitFor();
    await row(page, "Provider's error (5xx)").getByRole('checkbox').click();
    await asked(page, 'status:500..600');
    await caller.getByRole('checkbox').click();
    await asked(page, 'status:400..500');
  },
);

story('Many values are searched, and more are shown when asked for', async ({ t, page, organization }) => {
  await open({ page, organization });
  await unfold(page, 'User');
  const rows = page.locator('.facet-values .facet-row');
  await row(page, 'anna').waitFor();
  await comesTo(t, () => rows.count(), 10);
  const panel = page.getByRole('region', { name: 'Values to filter by' });
  await panel.getByRole('button', { name: 'More' }).click();
  await rows.nth(13).waitFor();
  await page.getByRole('searchbox', { name: 'Search in User' }).fill('user 11');
  await rows.nth(1).waitFor({ state: 'detached' });
  await comesTo(t, () => rows.count(), 1);
});

story('A value of the query that no request has stays, with none', async ({ page, organization }) => {
  await open({ page, organization }, 'user:nobody');
  await row(page, 'nobody').getByText('0', { exact: true }).waitFor();
  await row(page, 'nobody').getByRole('checkbox').click();
  await asked(page, null);
});

story('Properties and scores are fields, too', async ({ page, organization }) => {
  await open({ page, organization });
  await unfold(page, 'Plan');
  await row(page, 'team').getByRole('checkbox').click();
  await asked(page, 'property.Plan:team');
  await unfold(page, 'Scores');
  await row(page, 'helpful')
    .getByRole('checkbox')
    .click({ modifiers: ['Alt'] });
  await asked(page, 'property.Plan:team -has:scores.helpful');
});

accessibleStory('The panel with an open field has no barrier', async ({ page, organization }) => {
  await open({ page, organization }, 'user:anna -status:429');
  await row(page, 'anna').waitFor();
  await row(page, '429').waitFor();
});

story(
  'A model, an API key and an error filter by what the facets count, and a key is shown by its name',
  async ({ t, page, organization }) => {
    await organization.insert([
      { model: 'gpt-5', request_model: 'openai/gpt-5', response_model: null, api_key_id: organization.keyId },
      { model: 'gpt-5', request_model: 'best', response_model: 'gpt-5' },
      { model: 'other', status: 429, error_code: 'rate_limit_exceeded' },
    ]);
    await page.goto('/requests?facets=1');
    await unfold(page, 'Model');
    await row(page, 'gpt-5').getByText('2', { exact: true }).waitFor();
    await row(page, 'gpt-5').getByRole('checkbox').click();
    await asked(page, 'model_used:gpt-5');
    await page.getByText('2 requests', { exact: true }).waitFor();
    await unfold(page, 'API key');
    const key = row(page, 'sk-assay-');
    await key.getByRole('checkbox').click();
    await asked(page, `model_used:gpt-5 api_key:${organization.keyId}`);
    await page.getByText('1 request', { exact: true }).waitFor();
    await comesTo(t, () => key.getByRole('checkbox').isChecked(), true);
    await page.goto('/requests?facets=1');
    await unfold(page, 'Error');
    await row(page, 'rate_limit_exceeded').getByRole('checkbox').click();
    await asked(page, 'error_code:rate_limit_exceeded');
    await page.getByText('1 request', { exact: true }).waitFor();
  },
);

story(
  'A source filters in the panel and in the list, and is completed in the query',
  async ({ t, page, organization }) => {
    await organization.insert([
      {},
      {},
      { source: 'playground' },
      { source: 'evaluator' },
      { source: 'experiment' },
    ]);
    await page.goto('/requests?facets=1&cols=source');
    await unfold(page, 'Source');
    await row(page, 'gateway').getByText('2', { exact: true }).waitFor();
    await row(page, 'experiment').getByText('1', { exact: true }).waitFor();
    await comesTo(t, () => row(page, 'evaluator').count(), 0, 'no list shows the calls of judges');
    await row(page, 'gateway').getByRole('checkbox').click();
    await asked(page, 'source:gateway');
    await page.getByText('2 requests', { exact: true }).waitFor();
    await page.goto('/requests?cols=source');
    await page.locator('.grid-row').getByRole('link', { name: 'playground' }).click();
    await asked(page, 'source:playground');
    await page.getByText('1 request', { exact: true }).waitFor();
    await page.goto('/requests');
    await page.getByRole('textbox', { name: 'Query' }).pressSequentially('source:pl');
    await page.getByRole('option', { name: 'playground' }).click();
    await page.keyboard.press('Enter');
    await asked(page, 'source:playground');
  },
);
