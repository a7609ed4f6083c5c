import type { AlertJson } from '#core/contracts/alert.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

const make = (stage: Pick<Stage, 'organization' | 'product'>, name = 'Error rate') =>
  callAs<AlertJson>(stage, 'POST', '/v1/alert', {
    name,
    query: { measures: [{ metric: 'errors', aggregate: 'avg' }], q: 'model:gpt-4o*' },
    window_minutes: 60,
    comparison: '>',
    threshold: 0.05,
  });

story(
  'A try-out shows the value now against the threshold before the alert is created',
  async ({ t, page, organization, ...stage }) => {
    const at = new Date(Date.now() - 180_000);
    await organization.insert([
      { status: 500, created_at: at },
      { status: 200, created_at: at },
    ]);
    await page.goto('/alerts');
    await page.getByText('There is no alert').waitFor();
    await page.getByRole('button', { name: 'Create an alert' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Error rate');
    await page.getByLabel('Window').fill('60');
    await page.getByRole('button', { name: 'Try it out' }).click();
    const result = page.getByRole('region', { name: 'Try-out' });
    await comesToMatch(t, () => result.textContent(), /Now 50%: beyond the threshold \(> 5%\)/);
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByRole('link', { name: 'Error rate' }).waitFor();
    const [alert] = await callAs<AlertJson[]>({ organization, ...stage }, 'GET', '/v1/alert');
    t.match(alert, {
      window_minutes: 60,
      threshold: 0.05,
      query: { measures: [{ metric: 'errors', aggregate: 'avg' }] },
    });
  },
);

story('A mistake in the filter is named beside its field', async ({ t, page }) => {
  await page.goto('/alerts?new=1');
  await page.getByLabel('Filter').fill('status:abc');
  await page.locator('.field p.bad').waitFor();
  await comesTo(t, () => page.getByLabel('Filter').getAttribute('aria-invalid'), 'true');
});

story('An alert is changed without losing its query, and deleted', async ({ t, page, ...stage }) => {
  const { id } = await make(stage, '<b>Errors</b>');
  await page.goto(`/alerts?alert=${id}`);
  await page.getByText('It has never fired').waitFor();
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Threshold').fill('0.2');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('> 20%').waitFor();
  const changed = await callAs<AlertJson>(stage, 'GET', `/v1/alert/${id}`);
  t.match(changed, { name: '<b>Errors</b>', threshold: 0.2, query: { q: 'model:gpt-4o*' } });
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There is no alert').waitFor();
});

/**
 * Makes an alert on the errors of each model, which fires for one of them. It is made disabled, so that the product does not
 * evaluate it before this has said what it found and that it is due in ten minutes.
 */
async function makeFiring(stage: Pick<Stage, 'organization' | 'product'>, endMs: number): Promise<AlertJson> {
  const { id } = await callAs<AlertJson>(stage, 'POST', '/v1/alert', {
    name: 'Errors by model',
    query: { measures: [{ metric: 'errors', aggregate: 'avg' }], groupBy: ['model'] },
    window_minutes: 60,
    comparison: '>',
    threshold: 0.05,
    enabled: false,
  });
  const firing = { kind: 'firing', sinceMs: endMs - 60_000 };
  const groups = [
    { group: { model: 'gpt-4o' }, value: 0.5, levels: { critical: firing, warning: { kind: 'ok' } } },
  ];
  const { sql } = stage.product.database;
  await sql`
    update assay.alert_runs set due_at = now() + interval '10 minutes', lease = null, evaluated_at = ${new Date(endMs)},
           groups = ${JSON.stringify(groups)}::text::jsonb
     where alert_id = ${id}`;
  await sql`update assay.alerts set enabled = true where alert_id = ${id}`;
  await sql`
    insert into assay.alert_history (organization_id, alert_id, at, event, severity, grouping, value, threshold)
    values (${stage.organization.organizationId}, ${id}, ${new Date(endMs)}, 'fired', 'critical', '{"model": "gpt-4o"}', 0.5, 0.05)`;
  return await callAs<AlertJson>(stage, 'GET', `/v1/alert/${id}`);
}

story(
  'What fires leads to the failed requests of its group, now and in the history',
  async ({ page, organization, ...stage }) => {
    const endMs = Date.now() - 60_000;
    const at = new Date(endMs - 60_000);
    await organization.insert([
      { status: 500, model: 'gpt-4o', created_at: at },
      { status: 200, model: 'gpt-4o', created_at: at },
      { status: 500, model: 'other', created_at: at },
    ]);
    const { id } = await makeFiring({ organization, ...stage }, endMs);
    for (const link of ['Of the last window', 'Behind it']) {
      await page.goto(`/alerts?alert=${id}`);
      await page.getByRole('heading', { name: 'Errors by model' }).waitFor();
      await page.getByRole('link', { name: link }).click();
      await page.getByText('1 request', { exact: true }).waitFor();
    }
  },
);

story(
  'An alert says that it tells nobody, and names the webhooks that it tells',
  async ({ t, page, ...stage }) => {
    const { id } = await make(stage);
    await page.goto(`/alerts?alert=${id}`);
    await page.getByText('Nobody: no webhook asks for the events of alerts').waitFor();
    for (const [host, event] of [
      ['told.example.com', 'alert.fired'],
      ['other.example.com', 'request.logged'],
    ]) {
      await callAs(stage, 'POST', '/v1/webhook', { url: `https://${host}/hook`, events: [event] });
    }
    await page.reload();
    await page.getByRole('link', { name: 'told.example.com' }).waitFor();
    await comesTo(t, () => page.getByRole('link', { name: 'other.example.com' }).count(), 0);
    await page.getByRole('link', { name: 'told.example.com' }).click();
    await page.getByText('https://told.example.com/hook').waitFor();
  },
);

story('Only the webhooks that are chosen are told', async ({ t, page, ...stage }) => {
  const { id } = await make(stage);
  const [first] = await Promise.all(
    ['one', 'two'].map((name) =>
      callAs<{ id: string }>(stage, 'POST', '/v1/webhook', {
        url: `https://${name}.example.com/`,
        events: ['alert.fired'],
      }),
    ),
  );
  await page.goto(`/alerts?alert=${id}&do=edit`);
  await page.getByLabel('Tells').selectOption('Some of them');
  await page.getByLabel('one.example.com').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'two.example.com' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'one.example.com' }).waitFor();
  t.same((await callAs<AlertJson>(stage, 'GET', `/v1/alert/${id}`)).webhooks, [first!.id]);
});

story('An alert is disabled and enabled', async ({ t, page, ...stage }) => {
  const { id } = await make(stage);
  await page.goto(`/alerts?alert=${id}`);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  t.equal((await callAs<AlertJson>(stage, 'GET', `/v1/alert/${id}`)).state, 'disabled');
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Disable' }).waitFor();
});

accessibleStory('An alert that fires has no barrier', async ({ page, ...stage }) => {
  const { id } = await makeFiring(stage, Date.now());
  await page.goto(`/alerts?alert=${id}`);
  await page.getByRole('link', { name: 'Behind it' }).waitFor();
});

accessibleStory('The alerts have no barrier', async ({ page, ...stage }) => {
  await make(stage);
  await page.goto('/alerts');
  await page.getByRole('link', { name: 'Error rate' }).waitFor();
});

accessibleStory('The form of an alert with its try-out has no barrier', async ({ page }) => {
  await page.goto('/alerts?new=1');
  await page.getByRole('textbox', { name: 'Name' }).fill('Errors');
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('region', { name: 'Try-out' }).waitFor();
});
