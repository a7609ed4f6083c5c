import type { Locator, Page } from 'playwright-core';
import { waitFor } from '../../../../support/assay.ts';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';

const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const BODY = {
  model: 'gpt-4o-mini',
  temperature: 0.2,
  user: 'u-1',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }, IMAGE] },
  ],
};
const ANSWER = { kind: 'stream', deltas: ['A ', 'small ', 'picture'] } as const;

const recordOf = (body: unknown) => ({ request_text: JSON.stringify(body) });
const column = (page: Page, number: number) => page.getByRole('region', { name: `Column ${number}` });

story(
  'A logged request is replayed with another model, streams, and is logged as the playground',
  async ({ t, page, organization, product, callPath }) => {
    const { provider } = await callPath();
    const [record] = await organization.insert([recordOf(BODY)]);
    provider.script(() => ANSWER);
    await page.goto(`/playground?from=${record!.request_id}`);
    await page.getByRole('button', { name: 'Add a column' }).click();
    await column(page, 2).getByLabel('Model').fill('gpt-4o');
    await page.keyboard.press('Control+Enter');
    for (const number of [1, 2]) await column(page, number).getByText('A small picture').waitFor();
    const sent = provider.requests.slice(-2).map(({ body }) => JSON.parse(body.toString()));
    t.same(sent.map(({ model }) => model).sort(), ['gpt-4o', 'gpt-4o-mini']);
    for (const body of sent)
      t.match(body, { temperature: 0.2, user: 'u-1', stream: true, messages: BODY.messages }, 'as it was');
    await page.getByRole('link', { name: 'Compare these' }).waitFor();
    await column(page, 2).getByText('Cost').waitFor();
    const { sql } = product.database;
    await waitFor('both records', async () => {
      const rows = await sql`
        select 1 from assay.requests
        where organization_id = ${organization.organizationId} and source = 'playground' and status = 200`;
      return rows.length === 2;
    });
    await page.reload();
    await comesTo(
      t,
      () => column(page, 2).getByLabel('Model').inputValue(),
      'gpt-4o',
      'a reload keeps the columns',
    );
    t.match(page.url(), 'column.2.model=gpt-4o');
    provider.script(null);
  },
);

story('A call is stopped, and what had come stays', async ({ t, page, callPath }) => {
  const { provider } = await callPath();
  provider.script(() => ({ kind: 'stream', deltas: ['The beginning'], ending: 'stall' }));
  await page.goto('/playground?column.1.model=gpt-4o-mini');
  await page.getByLabel('Text of message 1').fill('Tell me');
  await page.getByRole('button', { name: 'Run column 1' }).click();
  await column(page, 1).getByText('The beginning').waitFor();
  await page.getByRole('button', { name: 'Stop column 1' }).click();
  await column(page, 1).getByText('Stopped').waitFor();
  await column(page, 1).getByText('The beginning').waitFor();
  await waitFor('the end of the call', async () => provider.requests.at(-1)!.aborted);
  await comesTo(t, () => page.getByRole('button', { name: 'Run column 1' }).count(), 1);
  provider.script(null);
});

story('Errors of providers are shown as they are, and fields that are not valid are named', async (stage) => {
  const { t, page, callPath } = stage;
  const { provider } = await callPath();
  provider.script(() => ({ kind: 'error', status: 400, message: 'No such <b>tool</b>' }));
  await page.goto('/playground?column.1.model=gpt-4o-mini');
  await page.getByLabel('Text of message 1').fill('Tell me');
  await page.getByRole('button', { name: 'Run column 1' }).click();
  await column(page, 1).getByText('No such <b>tool</b>').waitFor();
  stage.expectComplaint(/status of 400/);
  const before = provider.requests.length;
  await column(page, 1).getByText('Parameters', { exact: true }).click();
  await column(page, 1).getByLabel('Temperature').fill('warm');
  await page.getByRole('button', { name: 'Run column 1' }).click();
  await column(page, 1).getByText('Temperature must be a number').waitFor();
  t.equal(provider.requests.length, before);
  provider.script(null);
});

story('A column is saved as a prompt, and then as the next version of it', async (stage) => {
  const { t, page, organization } = stage;
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const [record] = await organization.insert([recordOf({ ...BODY, tools })]);
  await page.goto(`/playground?from=${record!.request_id}`);
  const save = async (fill: (dialog: Locator) => Promise<unknown>, told: string) => {
    await page.getByRole('button', { name: 'Save as prompt…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Save as a prompt version' });
    await fill(dialog);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(told).waitFor();
    await dialog.waitFor({ state: 'detached' });
  };
  await save((dialog) => dialog.getByLabel('Name').fill('Pictures'), 'The prompt is saved');
  await page.getByLabel('Text of message 1').fill('Be {{mood}}.');
  await save(async (dialog) => {
    await dialog.getByLabel('Prompt').selectOption('Pictures');
    await dialog.getByLabel('What changed').fill('A mood');
    await dialog.getByText('Follows version 1.0').waitFor();
  }, 'The version is saved');
  const headers = { authorization: `Bearer ${organization.key}` };
  const ask = async <Answer>(path: string, data: object) => {
    const answer = await page.request.post(`/v1/prompt-2025/query${path}`, { headers, data });
    return ((await answer.json()) as { data: Answer }).data;
  };
  const [prompt] = await ask<{ id: string }[]>('', {});
  const [newest] = await ask<{ id: string; commit_message: string }[]>('/versions', { promptId: prompt!.id });
  t.equal(newest!.commit_message, 'A mood');
  const promptVersionId = newest!.id;
  const { prompt_body: body } = await ask<{ prompt_body: object }>('/version', { promptVersionId });
  const [, question] = BODY.messages;
  t.same(body, { ...BODY, tools, messages: [{ role: 'system', content: 'Be {{mood}}.' }, question] });
});

story(
  'A request of another dialect, and one without a body, say why they are not replayed',
  async (stage) => {
    const { page, organization } = stage;
    const [embedding, omitted] = await organization.insert([
      { ...recordOf({ model: 'm', input: 'x' }), path: '/v1/embeddings' },
      recordOf({}),
    ]);
    await page.goto(`/playground?from=${embedding!.request_id}`);
    await page.getByText('Calls of /v1/embeddings cannot be replayed here').waitFor();
    await page.goto(`/playground?from=${omitted!.request_id}`);
    await page.getByText('The body of the request was not logged').waitFor();
  },
);

story('Hostile texts of a record are neither run nor hidden', async ({ t, page, organization }) => {
  const text = '<img src=x onerror=alert(1)>\u202Eevil';
  const [record] = await organization.insert([
    recordOf({
      model: text,
      tools: [{ [text]: text }],
      messages: [{ role: text, content: text, [text]: 1 }],
    }),
  ]);
  await page.goto(`/playground?from=${record!.request_id}`);
  await page.getByText('Holds invisible characters').waitFor();
  await comesTo(t, () => page.getByLabel('Text of message 1').inputValue(), text);
  await comesTo(t, () => page.locator('img').count(), 0);
});

story(
  'A key without the scope of calls is told so',
  async ({ t, page }) => {
    await page.goto('/playground');
    await page.getByText('Running calls needs the scope gateway').waitFor();
    await comesTo(t, () => page.getByRole('button', { name: 'Run all' }).isDisabled(), true);
  },
  { scopes: ['read'] },
);

accessibleStory('The playground has no barrier', async ({ page, organization, callPath }) => {
  const { provider } = await callPath();
  provider.script(() => ANSWER);
  const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
  const [record] = await organization.insert([recordOf({ ...BODY, tools })]);
  await page.goto(`/playground?from=${record!.request_id}`);
  await page.getByRole('button', { name: 'Add a column' }).click();
  await column(page, 1).getByText('Stored prompt', { exact: true }).click();
  await page.getByRole('button', { name: 'Run all' }).click();
  await column(page, 2).getByText('Choose a model').waitFor();
  await column(page, 1).getByText('Cost').waitFor();
  provider.script(null);
});

story('Control and Enter that are held make one call', async ({ t, page, callPath }) => {
  const { provider } = await callPath();
  provider.script(() => ANSWER);
  const before = provider.requests.length;
  await page.goto('/playground?column.1.model=gpt-4o-mini');
  await page.getByLabel('Text of message 1').fill('Tell me');
  const calls: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/playground')) calls.push(request.url());
  });
  await page.keyboard.down('Control');
  // From the second time on, the browser says that the key is held.
  for (let times = 0; times < 4; times++) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.keyboard.up('Control');
  await column(page, 1).getByText('A small picture').waitFor();
  t.equal(calls.length, 1);
  t.equal(provider.requests.length, before + 1);
  provider.script(null);
});

story('No call is made for a column that was removed while its prompt was loaded', async (stage) => {
  const { t, page, organization } = stage;
  const headers = { authorization: `Bearer ${organization.key}` };
  const data = { name: 'Support', promptBody: { model: 'gpt-4o-mini', messages: BODY.messages } };
  const stored = await page.request.post('/v1/prompt-2025', { headers, data });
  const { id, versionId } = ((await stored.json()) as { data: { id: string; versionId: string } }).data;
  const first = `column.1.model=gpt-4o-mini&column.1.prompt=${id}&column.1.version=${versionId}`;
  await page.goto(`/playground?${first}&column.2.model=gpt-4o`);
  await column(page, 2).waitFor();
  const held = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  const calls: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/playground')) calls.push(request.url());
  });
  await page.route('**/query/version', async (route) => {
    isAsked.resolve();
    await held.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Run column 1' }).click();
  await isAsked.promise;
  await page.getByRole('button', { name: 'Remove column 1' }).click();
  await column(page, 2).waitFor({ state: 'detached' });
  const version = page.waitForResponse(/query\/version$/);
  held.resolve();
  await (await version).finished();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  t.same(calls, []);
});
