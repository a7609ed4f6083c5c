import type { AlertJson } from '#core/contracts/alert.ts';
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
    t.match(await result.textContent(), /Now 50%: beyond the threshold \(> 5%\)/);
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

story('A filter that cannot be read is refused beside its field', async ({ t, page, expectComplaint }) => {
  await page.goto('/alerts?new=1');
  await page.getByRole('textbox', { name: 'Name' }).fill('Errors');
  await page.getByLabel('Filter').fill('status:abc');
  await page.getByRole('button', { name: 'Create alert' }).click();
  await page.locator('.field p.bad').waitFor();
  t.equal(await page.getByLabel('Filter').getAttribute('aria-invalid'), 'true');
  expectComplaint(/status of 400/);
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
