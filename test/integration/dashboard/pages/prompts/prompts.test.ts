import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { Stage } from '../../../../support/browser/story.ts';

/** Stores a prompt. */
async function store({ page, organization }: Stage, body: object): Promise<void> {
  const { origin } = new URL(page.url());
  const headers = { authorization: `Bearer ${organization.key}` };
  await page.request.post(`${origin}/v1/prompt-2025`, { headers, data: body });
}

story('A prompt is created, and listed with its version, environment and tags', async (stage) => {
  const { t, page } = stage;
  await page.goto('/prompts');
  await page.getByText('No prompt is stored yet').waitFor();
  await page.getByRole('button', { name: 'New prompt' }).click();
  const dialog = page.getByRole('dialog', { name: 'New prompt' });
  await dialog.getByLabel('Name').fill('Support');
  await dialog.getByLabel('Tags').fill('eu, support');
  await dialog.getByLabel('Model').fill('gpt-4o-mini');
  await dialog.getByLabel('Text of message 1').fill('You help {{company}}.');
  await dialog.getByRole('button', { name: 'Create prompt' }).click();
  await page.getByRole('heading', { name: 'Version 1.0', exact: true }).waitFor();
  await comesTo(t, () => page.locator('mark').textContent(), '{{company}}');
  await page.goto('/prompts');
  const row = page.getByRole('row').filter({ hasText: 'Support' });
  await row.getByText('production').waitFor();
  await comesToMatch(t, () => row.textContent(), /eusupport1\.0/);
});

story('Prompts are found by name and by tag, which the address keeps', async (stage) => {
  const { t, page } = stage;
  await page.goto('/prompts');
  await store(stage, { name: 'Refunds', tags: ['eu'], promptBody: {} });
  await store(stage, { name: 'Greeting <b>\u202E', tags: ['us'], promptBody: {} });
  await page.goto('/prompts?tag=eu');
  await page.getByRole('link', { name: 'Refunds' }).waitFor();
  await comesTo(t, () => page.getByRole('row').count(), 2);
  await page.goto('/prompts');
  await page.getByLabel('Search by name').fill('greet');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL(/search=greet/);
  await page.getByRole('link', { name: 'Refunds' }).waitFor({ state: 'detached' });
  await comesTo(t, () => page.locator('.text-mark').count(), 1, 'the control character is a mark');
});

accessibleStory('The list of prompts has no barrier', async (stage) => {
  await stage.page.goto('/prompts');
  await store(stage, { name: 'Refunds', tags: ['eu'], promptBody: {} });
  await stage.page.reload();
  await stage.page.getByRole('link', { name: 'Refunds' }).waitFor();
});
