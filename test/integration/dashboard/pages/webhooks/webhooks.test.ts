import type { NewWebhookJson } from '#core/contracts/webhook.ts';
import { newDeliveryId } from '#platform/webhooks/mod.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

const make = (stage: Pick<Stage, 'organization' | 'product'>) =>
  callAs<NewWebhookJson>(stage, 'POST', '/v1/webhook', {
    url: 'https://example.com/hooks/assay',
    events: ['request.logged'],
  });

/** Keeps a delivery whose only attempt failed with a hostile answer. */
async function fail(
  { organization, product }: Pick<Stage, 'organization' | 'product'>,
  webhookId: string,
  { event = 'request.logged', requestId = null }: { event?: string; requestId?: string | null } = {},
) {
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
      (webhook_id, delivery_id, organization_id, event, request_id, event_at, state, due_at, finished_at, tries)
    values (${webhookId}, ${newDeliveryId(Date.now())}, ${organization.organizationId}, ${event}, ${requestId}, now(),
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
  await comesToMatch(t, () => dialog.locator('.secret code').textContent(), /^whsec_/);
  await dialog.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('row', { name: 'example.com' }).waitFor();
  const [webhook] = await callAs<NewWebhookJson[]>(stage, 'GET', '/v1/webhook');
  t.same(webhook?.events, ['request.logged', 'score.written']);
  t.not(webhook?.filter, null);
});

story('A mistake in the filter is named beside its field', async ({ t, page }) => {
  await page.goto('/webhooks?new=1');
  await page.getByLabel('Filter').fill('status:abc');
  await page.locator('.field p.bad').waitFor();
  await comesTo(t, () => page.getByLabel('Filter').getAttribute('aria-invalid'), 'true');
});

story('An address that is refused is said so beside its field', async ({ page, expectComplaint }) => {
  await page.goto('/webhooks?new=1');
  await page.getByLabel('Address').fill('http://10.0.0.1/');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.locator('.field p.bad').waitFor();
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
    await comesTo(t, () => page.locator('main img').count(), 0);
    await page.getByRole('button', { name: /^Redeliver msg_/ }).click();
    await page.getByText('It is delivered again').waitFor();
    await page.getByRole('cell', { name: 'pending' }).waitFor();
  },
);

story('All deliveries that failed are made again at once', async ({ t, page, ...stage }) => {
  const { id } = await make(stage);
  await fail(stage, id);
  await fail(stage, id);
  await page.goto(`/webhooks?w=${id}`);
  await page.getByRole('button', { name: 'Redeliver what failed…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
  await page.getByText('2 deliveries made again').waitFor();
  await page.getByRole('cell', { name: 'pending' }).nth(1).waitFor();
  await comesTo(t, () => page.getByRole('button', { name: /^Send now/ }).count(), 2);
});

story(
  'Older deliveries stay below newer ones, and show what becomes of them',
  async ({ t, page, ...stage }) => {
    const { id } = await make(stage);
    for (let index = 0; index < 25; index += 1) await fail(stage, id);
    await page.goto(`/webhooks?w=${id}`);
    await page.getByRole('button', { name: 'Older' }).click();
    const rows = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr');
    await rows
      .nth(24)
      .getByRole('button', { name: /^Redeliver/ })
      .click();
    await rows.nth(24).getByRole('cell', { name: 'pending' }).waitFor();
    for (let index = 0; index < 5; index += 1) await fail(stage, id);
    await rows.nth(29).getByRole('cell', { name: 'pending' }).waitFor();
    await comesTo(t, () => rows.count(), 30, 'none is lost between the pages');
  },
);

story(
  'A delivery leads to its request, unless that was erased',
  async ({ t, page, organization, ...stage }) => {
    const { id } = await make({ organization, ...stage });
    const [request] = await organization.insert([{}]);
    await fail({ organization, ...stage }, id, { requestId: request!.request_id });
    await fail({ organization, ...stage }, id, { requestId: 'ERASED', event: 'request.deleted' });
    await page.goto(`/webhooks?w=${id}`);
    await page.getByRole('cell', { name: 'ERASED' }).waitFor();
    await comesTo(t, () => page.getByRole('link', { name: 'ERASED' }).count(), 0);
    await page.getByRole('link', { name: request!.request_id }).click();
    await page.waitForURL(`**/requests/${request!.request_id}`);
  },
);

story(
  'A webhook shows its filter, keeps it, and leads to the requests that it missed',
  async ({ page, organization, ...stage }) => {
    const { id } = await callAs<NewWebhookJson>({ organization, ...stage }, 'POST', '/v1/webhook', {
      url: 'https://example.com/hooks/assay',
      events: ['request.logged'],
      q: 'status:>=500',
    });
    const sinceMs = Date.now() - 3_600_000;
    await organization.insert([
      { status: 500 },
      { status: 500, created_at: new Date(sinceMs - 3_600_000) },
      { status: 200 },
    ]);
    await stage.product.database.sql`
    update assay.webhooks set missed_from = ${new Date(sinceMs)}, missed_until = now(), missed_reason = 'feed'
     where webhook_id = ${id}`;
    await page.goto(`/webhooks?w=${id}`);
    await page.getByText('status:>=500').waitFor();
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByLabel('score.written').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('definition').getByText('score.written').waitFor();
    await page.getByText('status:>=500').waitFor();
    await page.getByRole('link', { name: 'The requests of that time' }).click();
    await page.getByText('1 request', { exact: true }).waitFor();
  },
);

story(
  'A key that may only read sees webhooks and cannot change them',
  async ({ t, page, ...stage }) => {
    const { id } = await make(stage);
    await page.goto(`/webhooks?w=${id}`);
    await page.getByText('Creating and changing webhooks needs the scope write').waitFor();
    for (const name of ['Pause', 'Delete', 'New secret', 'Create a webhook']) {
      await comesTo(t, () => page.getByRole('button', { name }).isDisabled(), true, name);
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
