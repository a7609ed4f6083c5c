import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];
const COUNT = 8;
const bar = (page: Page) => page.getByRole('region', { name: 'Selected requests' });
const box = (page: Page, name: string) => page.locator('.grid-row', { hasText: name }).getByRole('checkbox');
const selected = (page: Page, count: number) =>
  page.getByText(`${count} selected`, { exact: true }).waitFor();

async function open({ page, organization }: Pick<Stage, 'page' | 'organization'>) {
  const now = Date.now();
  const rows = await organization.insert(
    Array.from({ length: COUNT }, (_, index) => ({
      user_id: `u${index}`,
      created_at: new Date(now - (index + 1) * 1_000),
      request_text: JSON.stringify({
        model: 'gpt-4o',
        messages: [{ role: 'user', content: `Question ${index}` }],
      }),
    })),
  );
  await page.goto('/requests');
  await page
    .locator('.grid-row')
    .nth(COUNT - 1)
    .waitFor();
  return rows;
}

/** Saves the selected requests, and returns the file. */
async function exported(page: Page, format: 'ndjson' | 'csv'): Promise<{ name: string; text: string }> {
  await bar(page).getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog', { name: 'Export' });
  await dialog.getByLabel('Format').selectOption(format);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Export' }).click();
  const file = await download;
  await dialog.waitFor({ state: 'detached' });
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}

story(
  'x selects the current row, and Shift with x or with a click all rows up to it',
  async ({ t, page, organization }) => {
    await open({ page, organization });
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await selected(page, 1);
    await comesTo(t, () => box(page, 'u0').isChecked(), true);
    for (const key of ['j', 'j', 'Shift+x']) await page.keyboard.press(key);
    await selected(page, 3);
    await box(page, 'u5').click({ modifiers: ['Shift'] });
    await selected(page, 6);
    for (let at = 0; at <= 5; at++) await comesTo(t, () => box(page, `u${at}`).isChecked(), true, `u${at}`);
    await box(page, 'u1').click();
    await selected(page, 5);
    await bar(page).getByRole('button', { name: 'Clear' }).click();
    await bar(page).waitFor({ state: 'detached' });
    await comesTo(t, () => page.locator('.grid-row :checked').count(), 0);
  },
);

story(
  'A property is added to the selected requests, and its column shows it',
  async ({ t, page, organization }) => {
    await open({ page, organization });
    await box(page, 'u1').click();
    await box(page, 'u2').click();
    await bar(page).getByRole('button', { name: 'Add a property' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Plan');
    await dialog.getByLabel('Value').fill('team "a"');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Added to 2 requests').waitFor();
    await page.goto('/requests?cols=request_user_id,property:Plan&q=property.Plan:*');
    await page.locator('.grid-row').nth(1).waitFor();
    await comesTo(
      t,
      async () => (await page.locator('.grid-row td:nth-child(2)').allTextContents()).toSorted(),
      ['u1', 'u2'],
    );
    await page.getByRole('link', { name: 'team "a"' }).first().click();
    await page.getByText('2 requests', { exact: true }).waitFor();
  },
);

story('The selected requests are exported, a record a line or as CSV', async ({ t, page, organization }) => {
  const rows = await open({ page, organization });
  await box(page, 'u1').click();
  await box(page, 'u3').click();
  const ids = [rows[1]!.request_id, rows[3]!.request_id].toSorted();
  const lines = await exported(page, 'ndjson');
  t.match(lines.name, /^assay-requests-\d{4}-\d\d-\d\d\.ndjson$/);
  const records = lines.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { request_id: string; request_body: { messages: object[] } });
  t.same(records.map(({ request_id: id }) => id).toSorted(), ids);
  t.match(lines.text, 'Question 1');
  const table = await exported(page, 'csv');
  t.match(table.name, /\.csv$/);
  const [head, ...rest] = table.text.trimEnd().split(/\r?\n/);
  t.match(head, 'request_id');
  t.equal(rest.length, 2);
  for (const id of ids) t.match(table.text, id);
});

story('The selected requests become items of a dataset, which is said and linked', async (stage) => {
  const { t, page, organization } = stage;
  const { id } = await callAs<{ id: string }>(stage, 'POST', '/v1/dataset', { name: 'Refunds' });
  const answer = { choices: [{ message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }] };
  await organization.insert([{ user_id: 'failing', status: 500 }]);
  const [row] = await organization.insert([
    {
      user_id: 'answered',
      request_text: JSON.stringify({ messages: [{ role: 'user', content: 'May I?' }] }),
      response_text: JSON.stringify(answer),
    },
  ]);
  await page.goto('/requests');
  await box(page, 'failing').click();
  await box(page, 'answered').click();
  await bar(page).getByRole('button', { name: 'Add to a dataset' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add 2 requests to a dataset' });
  await dialog.getByLabel('Dataset', { exact: true }).selectOption({ label: 'Refunds' });
  await dialog.getByLabel('Split').fill('test');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText('Version 1: 1 item added, 1 left out: failed').waitFor();
  t.match(await callAs(stage, 'POST', `/v1/dataset/${id}/items/query`, {}), {
    items: [{ sourceRequestId: row!.request_id, split: 'test', expected: 'Yes' }],
  });
  await dialog.getByRole('link', { name: 'Open the dataset' }).click();
  await page.getByRole('heading', { name: 'Refunds' }).waitFor();
});

story('Two to four selected requests are compared by a link', async ({ t, page, organization }) => {
  const rows = await open({ page, organization });
  await box(page, 'u1').click();
  await comesTo(
    t,
    () => bar(page).getByRole('link', { name: 'Compare' }).count(),
    0,
    'one cannot be compared',
  );
  await box(page, 'u3').click();
  await bar(page).getByRole('link', { name: 'Compare' }).click();
  await page.waitForURL(/\/compare/);
  t.equal(new URL(page.url()).searchParams.get('ids'), `${rows[1]!.request_id},${rows[3]!.request_id}`);
  await page.locator('ins', { hasText: '3' }).waitFor();
});

story(
  'The selected requests are scored after the price was shown',
  async ({ t, page, organization, product }) => {
    await open({ page, organization });
    const created = await fetch(`${product.url}/v1/evaluator`, {
      method: 'POST',
      headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'Polite',
        scoring_type: 'LLM-BOOLEAN',
        llm_template: { prompt: 'Is it polite? {{output}}', model: 'gpt-4o-mini' },
      }),
    });
    t.equal(created.status, 200, await created.clone().text());
    await box(page, 'u1').click();
    await box(page, 'u3').click();
    await bar(page).getByRole('button', { name: 'Score with an evaluator' }).click();
    const dialog = page.getByRole('dialog', { name: 'Score 2 requests' });
    await dialog.getByLabel('Evaluator').selectOption({ label: 'Polite' });
    await dialog.getByText('2 requests to score; what it costs is not known yet.').waitFor();
    await dialog.getByRole('button', { name: 'Score' }).click();
    await page.getByText('The evaluator has begun').waitFor();
    await dialog.waitFor({ state: 'detached' });
  },
);

story('Erasing asks first, and the selection is gone afterwards', async ({ t, page, organization }) => {
  await open({ page, organization });
  await box(page, 'u1').click();
  await bar(page).getByRole('button', { name: 'Erase' }).click();
  const dialog = page.getByRole('dialog', { name: 'Erase 1 request?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await selected(page, 1);
  await bar(page).getByRole('button', { name: 'Erase' }).click();
  const answer = page.waitForResponse(/\/v1\/request\/delete/);
  await dialog.getByRole('button', { name: 'Erase' }).click();
  t.ok((await answer).ok());
  await bar(page).waitFor({ state: 'detached' });
});

story('Nothing is scored before its price is known, nor after that failed', async (stage) => {
  const { t, page, organization } = stage;
  await open(stage);
  await callAs(stage, 'POST', '/v1/evaluator', {
    name: 'Polite',
    scoring_type: 'LLM-BOOLEAN',
    llm_template: { prompt: 'Is it polite? {{output}}', model: 'gpt-4o-mini' },
  });
  t.ok(organization.key);
  const held = Promise.withResolvers<void>();
  let isRefused = true;
  await page.route('**/v1/evaluator/*/run', async (route) => {
    if (isRefused) return route.fulfill({ status: 503, json: { data: null, error: 'Not now' } });
    await held.promise;
    await route.continue();
  });
  await box(page, 'u1').click();
  await bar(page).getByRole('button', { name: 'Score with an evaluator' }).click();
  const dialog = page.getByRole('dialog', { name: 'Score 1 request' });
  const score = dialog.getByRole('button', { name: 'Score' });
  await comesTo(t, () => score.isDisabled(), true, 'no evaluator is chosen');
  await dialog.getByLabel('Evaluator').selectOption({ label: 'Polite' });
  await dialog.getByText('Not now').waitFor();
  await comesTo(t, () => score.isDisabled(), true, 'the price cannot be told');
  stage.expectComplaint(/status of 503/);
  isRefused = false;
  await dialog.getByLabel('Evaluator').selectOption('');
  await dialog.getByLabel('Evaluator').selectOption({ label: 'Polite' });
  await comesTo(t, () => score.isDisabled(), true, 'the price is not there yet');
  held.resolve();
  await dialog.getByText('1 request to score').waitFor();
  await comesTo(t, () => score.isEnabled(), true);
});

story('More requests than one query can name are neither scored, exported nor erased', async (stage) => {
  const { t, page, organization } = stage;
  const now = Date.now();
  const count = 501;
  await organization.insert(
    Array.from({ length: count }, (_, index) => ({
      user_id: `u${index}`,
      created_at: new Date(now - (index + 1) * 100),
    })),
  );
  await page.goto('/requests');
  await box(page, 'u0').first().click();
  const last = page.locator('.grid-row', { has: page.getByRole('link', { name: 'u500', exact: true }) });
  for (let turns = 0; turns < 300 && (await last.count()) === 0; turns++) {
    await page.locator('.grid-box').evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }
  await last.getByRole('checkbox').click({ modifiers: ['Shift'] });
  await selected(page, count);
  await bar(page).getByText('At most 500 can be scored, exported or erased at once').waitFor();
  for (const name of ['Score with an evaluator', 'Export', 'Erase'])
    await comesTo(t, () => bar(page).getByRole('button', { name }).isDisabled(), true, name);
  await comesTo(t, () => bar(page).getByRole('button', { name: 'Add a property' }).isEnabled(), true);
  await last.getByRole('checkbox').click();
  await selected(page, count - 1);
  await comesTo(t, () => bar(page).getByRole('button', { name: 'Export' }).isEnabled(), true);
});
