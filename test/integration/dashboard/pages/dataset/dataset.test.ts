import { readFile } from 'node:fs/promises';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';
import { makeDataset } from '../experiments/measured.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202Eevil';

const put = (stage: Stage, id: string, items: object[], message = '') =>
  callAs(stage, 'POST', `/v1/dataset/${id}/items`, { items, message });
const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

story(
  'The items of a version are listed, filtered by the address, and one opens in a drawer',
  async (stage) => {
    const { t, page } = stage;
    const { id } = await makeDataset(stage, { items: 3 });
    await put(stage, id, [
      {
        externalId: 'refund',
        request: ask('May I?'),
        expected: 'Yes',
        split: 'test',
        cluster: 'talk 1',
        metadata: { source: 'desk' },
      },
    ]);
    await page.goto(`/datasets/${id}`);
    const row = page.getByRole('row').filter({ hasText: 'refund' });
    await comesTo(t, () => row.locator('td').allTextContents(), [
      'refund',
      'test',
      'talk 1',
      'May I?',
      'Yes',
    ]);
    await row.getByRole('link', { name: 'test', exact: true }).click();
    await page.getByText('item 000').waitFor({ state: 'detached' });
    t.match(page.url(), 'split=test');
    await row.getByRole('link', { name: 'refund' }).click();
    const drawer = page.getByRole('complementary', { name: 'Item' });
    await drawer.getByText('May I?').waitFor();
    await drawer.getByText('"source": "desk"').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('item 000').waitFor();
    await page.getByLabel('Version').selectOption('Version 1');
    await page.getByRole('link', { name: 'refund', exact: true }).waitFor({ state: 'detached' });
    t.match(page.url(), 'version=1');
  },
);

story('An item is removed from the newest version, and stays in the one before', async (stage) => {
  const { t, page } = stage;
  const { id, itemIds } = await makeDataset(stage, { items: 3 });
  await page.goto(`/datasets/${id}?item=${itemIds[1]}`);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Removed: version 2').waitFor();
  await page.getByText('item 001').waitFor({ state: 'detached' });
  await page.goto(`/datasets/${id}?version=1&item=${itemIds[1]}`);
  await page.getByRole('complementary', { name: 'Item' }).getByText('Question 1').waitFor();
  await comesTo(t, () => page.getByRole('button', { name: 'Remove' }).count(), 0, 'a version never changes');
});

story('An item is edited into the next version, and its numbers keep their digits', async (stage) => {
  const { t, page, product } = stage;
  const { id } = await callAs<{ id: string }>(stage, 'POST', '/v1/dataset', { name: 'Refunds' });
  const text =
    '{"items":[{"externalId":"refund","request":{"seed":12345678901234567890,"messages":[{"role":"user","content":"May I?"}]},"expected":"Yes"}]}';
  const headers = { authorization: `Bearer ${stage.organization.key}`, 'content-type': 'application/json' };
  await fetch(`${product.url}/v1/dataset/${id}/items`, { method: 'POST', headers, body: text });
  await page.goto(`/datasets/${id}`);
  await page.getByRole('link', { name: 'refund', exact: true }).click();
  const drawer = page.getByRole('complementary', { name: 'Item' });
  await drawer.getByText('12345678901234567890').waitFor();
  await drawer.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit the item' });
  await dialog.getByLabel('Expected', { exact: true }).fill('Yes, within 30 days');
  await dialog.getByLabel('Metadata (JSON)').fill('[1]');
  await dialog.getByText('Must be a JSON object').waitFor();
  await comesTo(t, () => dialog.getByRole('button', { name: 'Save' }).isDisabled(), true);
  await dialog.getByLabel('Metadata (JSON)').fill('{"source": "desk"}');
  await dialog.getByLabel('Message').fill('The new policy');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Version 2: 1 changed').waitFor();
  await drawer.getByText('Yes, within 30 days').waitFor();
  const exported = await fetch(`${product.url}/v1/dataset/${id}/export`, { headers });
  t.match(
    await exported.text(),
    /"seed":12345678901234567890.*"expected":"Yes, within 30 days".*"metadata":\{"source":"desk"\}/,
  );
});

story('A new item is written in a form, and what the API refuses is said', async (stage) => {
  const { page, expectComplaint } = stage;
  const { id } = await callAs<{ id: string }>(stage, 'POST', '/v1/dataset', { name: 'Refunds' });
  await page.goto(`/datasets/${id}`);
  await page.getByRole('button', { name: 'New item' }).click();
  const dialog = page.getByRole('dialog', { name: 'New item' });
  await dialog.getByLabel('Name').fill('gift');
  await dialog.getByLabel('Request (JSON)').fill('{"model": "gpt-4o"}');
  await dialog.getByLabel('What is expected').selectOption('JSON');
  await dialog.getByLabel('Expected', { exact: true }).fill('{"refund": true}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/messages/)
    .waitFor();
  expectComplaint(/status of 400/);
  await dialog
    .getByLabel('Request (JSON)')
    .fill('{"messages": [{"role": "user", "content": "It was a gift."}]}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Version 1: 1 added').waitFor();
  await page.getByRole('row').filter({ hasText: 'It was a gift.' }).getByText('{"refund":true}').waitFor();
});

story('Versions have their messages, and two of them are compared item by item', async (stage) => {
  const { t, page } = stage;
  const { id, itemIds } = await makeDataset(stage, { items: 2 });
  await put(
    stage,
    id,
    [
      { externalId: 'item 000', request: ask('Question 0'), expected: 'Another answer' },
      { externalId: 'new', request: ask('Is it new?') },
    ],
    'Better answers',
  );
  await callAs(stage, 'POST', `/v1/dataset/${id}/items/remove`, { ids: [itemIds[1]] });
  await page.goto(`/datasets/${id}?tab=versions`);
  const second = page.getByRole('row').filter({ hasText: 'Better answers' });
  await second.getByRole('link', { name: 'What changed' }).click();
  const difference = page.getByRole('region', { name: 'Difference', exact: true });
  await difference.getByText('1 added, 1 changed, 0 removed').waitFor();
  await comesToMatch(
    t,
    () => difference.getByRole('table').textContent(),
    /expected"Answer 0""Another answer"/,
  );
  await difference.getByText('Is it new?').waitFor();
  await page.getByLabel('Version after').selectOption('Version 3');
  await difference.getByText('1 added, 1 changed, 1 removed').waitFor();
  t.match(page.url(), /from=1&to=3/);
});

const chosen = (stage: Stage, name: string, text: string) =>
  stage.page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

story('A CSV file is imported with its columns named, and a fault names its line', async (stage) => {
  const { t, page, expectComplaint } = stage;
  const { id } = await callAs<{ id: string }>(stage, 'POST', '/v1/dataset', { name: 'Refunds' });
  await page.goto(`/datasets/${id}`);
  await page.getByText('There are no items yet').waitFor();
  await page.getByRole('button', { name: 'Import a file' }).click();
  const dialog = page.getByRole('dialog');
  await chosen(stage, 'refunds.csv', 'question,answer,where\nMay I?,yes,desk\n');
  await comesTo(t, () => dialog.getByLabel('question').inputValue(), 'input');
  await comesTo(t, () => dialog.getByLabel('where').inputValue(), 'metadata.where');
  await dialog.getByLabel('question').selectOption('request');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/line 2/i)
    .waitFor();
  expectComplaint(/status of 400/);
  await dialog.getByLabel('question').selectOption('input');
  await dialog.getByLabel('Message').fill('Of the desk');
  await dialog.getByRole('button', { name: 'Import' }).click();
  await page.getByText('Version 1: 1 added').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'May I?' });
  await comesToMatch(t, () => row.textContent(), /yes/);
  t.match(await callAs(stage, 'POST', `/v1/dataset/${id}/items/query`, {}), {
    items: [{ expected: 'yes', metadata: { where: 'desk' } }],
  });
});

story('An export is a file that imports into nothing new', async (stage) => {
  const { t, page } = stage;
  const { id } = await makeDataset(stage, { items: 2 });
  await page.goto(`/datasets/${id}`);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export version 1' }).click();
  const file = await download;
  t.equal(file.suggestedFilename(), 'Refunds-v1.jsonl');
  const text = await readFile(await file.path(), 'utf8');
  t.equal(text.trim().split('\n').length, 2);
  await page.getByRole('button', { name: 'Import a file' }).click();
  await chosen(stage, 'refunds.jsonl', text);
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
  await page.getByText('Version 1: 2 unchanged').waitFor();
});

story('A dataset is renamed, and archived after a question', async (stage) => {
  const { t, page } = stage;
  const { id } = await makeDataset(stage);
  await page.goto(`/datasets/${id}`);
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Returns');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Returns' }).waitFor();
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  await page.getByText('Archived', { exact: true }).first().waitFor();
  await comesTo(t, () => page.getByRole('button', { name: 'Import a file' }).count(), 0);
});

story(
  'Hostile texts of an item are shown as texts, in the list, the drawer and a difference',
  async (stage) => {
    const { t, page } = stage;
    const { id } = await callAs<{ id: string }>(stage, 'POST', '/v1/dataset', { name: 'Hostile' });
    await put(
      stage,
      id,
      [
        {
          externalId: HOSTILE,
          request: { ...ask(HOSTILE), model: HOSTILE },
          expected: HOSTILE,
          split: HOSTILE,
          cluster: HOSTILE,
          metadata: { a: HOSTILE },
        },
      ],
      HOSTILE,
    );
    await page.goto(`/datasets/${id}`);
    await comesTo(
      t,
      () =>
        page
          .locator('tbody tr')
          .getByTitle(/U\+202E/)
          .count(),
      5,
    );
    await page
      .getByRole('link', { name: /onerror/ })
      .first()
      .click();
    const drawer = page.getByRole('complementary', { name: 'Item' });
    await drawer
      .getByTitle(/U\+202E/)
      .first()
      .waitFor();
    await comesTo(t, () => page.locator('main img').count(), 0);
    await page.goto(`/datasets/${id}?tab=versions&from=0&to=1`);
    await page
      .getByRole('region', { name: 'Difference' })
      .getByTitle(/U\+202E/)
      .first()
      .waitFor();
    await comesTo(t, () => page.locator('main img').count(), 0);
  },
);

story('An item whose request was erased says so', async (stage) => {
  const { page, product } = stage;
  const { id, itemIds } = await makeDataset(stage, { items: 2 });
  await product.database.sql`
    update assay.dataset_items set request = null, expected = null, metadata = '{}', external_id = null, cluster = null,
           content_sha256 = '', erased_at = now() where item_id = ${itemIds[0]!}`;
  await page.goto(`/datasets/${id}?item=${itemIds[0]}`);
  await page.getByText('Erased').first().waitFor();
  await page.getByText('the request that it was made from was erased').waitFor();
});

accessibleStory('A dataset with an open item has no barrier', async (stage) => {
  const { page } = stage;
  const { id, itemIds } = await makeDataset(stage, {
    items: 3,
    member: { split: 'test', cluster: 'talk 1' },
  });
  await page.goto(`/datasets/${id}?item=${itemIds[0]}`);
  await page.getByRole('complementary', { name: 'Item' }).getByText('Question 0').waitFor();
  await page.getByText('item 001').waitFor();
});

accessibleStory('Versions of a dataset and their difference have no barrier', async (stage) => {
  const { page } = stage;
  const { id } = await makeDataset(stage, { items: 2 });
  await put(
    stage,
    id,
    [{ externalId: 'item 000', request: ask('Question 0'), expected: 'Another answer' }],
    'Better',
  );
  await page.goto(`/datasets/${id}?tab=versions&from=1&to=2`);
  await page.getByText('1 changed').waitFor();
  await page.getByText('Another answer').waitFor();
});
