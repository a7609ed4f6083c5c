import type { NewWebhookJson } from '#core/contracts/webhook.ts';
import { newDeliveryId } from '#platform/webhooks/mod.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

const make = (stage: Pick<Stage, 'organization' | 'product'>) =>
  callAs<NewWebhookJson>(stage, 'POST', '/v1/webhook', {
    url: 'https://example.com/hooks/assay',
    events: ['request.logged'],
  });

/** Keeps a delivery whose only attempt failed with a hostile answer. */
async function fail({ organization, product }: Pick<Stage, 'organization' | 'product'>, webhookId: string) {
  const tries = [
    {
      at: new Date().toISOString(),
      duration_ms: 120,
      status: 500,
      error: 'status 500',
      answer: '<img src=x>',
    },
  ];
  await product.database.sql`
    insert into assay.webhook_deliveries
      (webhook_id, delivery_id, organization_id, event, event_at, state, due_at, finished_at, tries)
    values (${webhookId}, ${newDeliveryId(Date.now())}, ${organization.organizationId}, 'request.logged', now(),
            'failed', now(), now(), ${JSON.stringify(tries)}::text::jsonb)`;
}

story('A webhook is created with a filter, and its secret is shown once', async ({ t, page, ...stage }) => {
  await page.goto('/webhooks');
  await page.getByText('There is no webhook').waitFor();
  await page.getByRole('button', { name: 'Create a webhook' }).click();
  await page.getByLabel('Address').fill('https://example.com/hooks/assay');
  await page.getByLabel('score.written').check();
  await page.getByLabel('Filter').fill('status:>=500');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const dialog = page.getByRole('dialog', { name: 'The secret of the webhook' });
  t.match(await dialog.locator('.secret code').textContent(), /^whsec_/);
  await dialog.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('row', { name: 'example.com' }).waitFor();
  const [webhook] = await callAs<NewWebhookJson[]>(stage, 'GET', '/v1/webhook');
  t.same(webhook?.events, ['request.logged', 'score.written']);
  t.not(webhook?.filter, null);
});

story('A filter that cannot be read is refused beside its field', async ({ t, page, expectComplaint }) => {
  await page.goto('/webhooks?new=1');
  await page.getByLabel('Address').fill('https://example.com/');
  await page.getByLabel('Filter').fill('status:abc');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.locator('.field p.bad').waitFor();
  t.equal(await page.getByLabel('Filter').getAttribute('aria-invalid'), 'true');
  expectComplaint(/status of 400/);
});

story('A webhook is paused, resumed and deleted', async ({ page, ...stage }) => {
  const { id } = await make(stage);
  await page.goto(`/webhooks?w=${id}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is no webhook').waitFor();
});

story(
  'A failed delivery shows its attempt, the hostile answer as text, and is redelivered',
  async ({ t, page, ...stage }) => {
    const { id } = await make(stage);
    await fail(stage, id);
    await page.goto(`/webhooks?w=${id}`);
    await page.getByText('1 attempt, the last with status 500').click();
    await page.getByText('<img src=x>').waitFor();
    t.equal(await page.locator('main img').count(), 0);
    await page.getByRole('button', { name: /^Redeliver msg_/ }).click();
    await page.getByText('It is delivered again').waitFor();
    await page.getByRole('cell', { name: 'pending' }).waitFor();
  },
);

story('All failed deliveries are made again, and the page says how many', async ({ page, ...stage }) => {
  const { id } = await make(stage);
  await fail(stage, id);
  await fail(stage, id);
  await page.goto(`/webhooks?w=${id}`);
  const redeliver = async () => {
    await page.getByRole('button', { name: 'Redeliver all failed' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver all' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await redeliver();
  await page.getByText('Delivered again: 2', { exact: true }).waitFor();
  await page.getByRole('cell', { name: 'pending' }).nth(1).waitFor();
  await redeliver();
  await page.getByText('No delivery has failed').waitFor();
});

story(
  'A key that may only read sees webhooks and cannot change them',
  async ({ t, page, ...stage }) => {
    const { id } = await make(stage);
    await page.goto(`/webhooks?w=${id}`);
    await page.getByText('Creating and changing webhooks needs the scope write').waitFor();
    for (const name of ['Pause', 'Delete', 'New secret', 'Create a webhook']) {
      t.ok(await page.getByRole('button', { name }).isDisabled(), name);
    }
  },
  { scopes: ['read'] },
);

accessibleStory('A webhook with a failed delivery has no barrier', async ({ page, ...stage }) => {
  const { id } = await make(stage);
  await fail(stage, id);
  await page.goto(`/webhooks?w=${id}`);
  await page.getByText('1 attempt').click();
});

accessibleStory('The form of a webhook has no barrier', async ({ page }) => {
  await page.goto('/webhooks?new=1');
  await page.getByLabel('Address').waitFor();
});
