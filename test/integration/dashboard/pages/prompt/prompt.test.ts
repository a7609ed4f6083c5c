import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { Stage } from '../../../../support/browser/story.ts';

const BODY = {
  model: 'gpt-4o-mini',
  temperature: 0.2,
  messages: [{ role: 'system', content: 'You help customers of {{company}}, and {{not a variable}}.' }],
};

/** Stores a prompt and returns its ids. */
async function store({ product, organization, page }: Stage, promptBody: object = BODY) {
  const headers = { authorization: `Bearer ${organization.key}` };
  const data = { name: 'Support', tags: ['eu'], promptBody };
  const answer = await page.request.post(`${product.url}/v1/prompt-2025`, { headers, data });
  return ((await answer.json()) as { data: { id: string; versionId: string } }).data;
}

story('The versions come page by page, down to the first', async (stage) => {
  const { t, page, product } = stage;
  const { id } = await store(stage);
  await product.database.sql`
    insert into assay.prompt_versions (prompt_id, organization_id, major, minor, body)
    select prompt_id, organization_id, n, 0, body from assay.prompt_versions, generate_series(2, 105) n where prompt_id = ${id}`;
  await page.goto(`/prompts/${id}`);
  await page.getByRole('heading', { name: 'Version 105.0', exact: true }).waitFor();
  await comesTo(t, () => page.getByRole('table', { name: 'Versions' }).getByRole('row').count(), 101);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByRole('button', { name: '1.0', exact: true }).click();
  await page.getByRole('heading', { name: 'Version 1.0', exact: true }).waitFor();
});

story('A version is edited into the next one, compared with it, and promoted', async (stage) => {
  const { t, page } = stage;
  const { id, versionId } = await store(stage);
  await page.goto(`/prompts/${id}`);
  await page.getByRole('button', { name: 'New version from this' }).click();
  const dialog = page.getByRole('dialog', { name: 'New version after 1.0' });
  await dialog.getByLabel('What changed').fill('Friendlier');
  await dialog.getByLabel('Text of message 1').fill('You gladly help customers of {{company}}.');
  await dialog.getByLabel('Other fields (JSON)').fill('{"temperature": 0.1}');
  await dialog.getByRole('button', { name: 'Save version' }).click();
  await page.getByRole('heading', { name: 'Version 1.1', exact: true }).waitFor();
  const version = page.getByRole('region', { name: 'Version 1.1' });
  await page.getByRole('button', { name: 'Compare with 1.0' }).click();
  await version.locator('ins', { hasText: 'gladly' }).waitFor();
  t.match(page.url(), `with=${versionId}`);
  await comesToMatch(
    t,
    () => version.getByRole('table', { name: 'Fields that differ' }).textContent(),
    /temperature0\.20\.1/,
  );
  await page.getByRole('button', { name: 'Promote…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click();
  const row = page
    .getByRole('table', { name: 'Versions' })
    .getByRole('row')
    .filter({ hasText: 'Friendlier' });
  await row.getByText('production').waitFor();
});

story('A prompt shows its id, and its name and tags are changed', async (stage) => {
  const { page } = stage;
  const { id } = await store(stage);
  await page.goto(`/prompts/${id}`);
  await page.getByText(id, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Copy prompt id' }).waitFor();
  await page.getByRole('button', { name: 'Settings' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change the prompt' });
  await dialog.getByLabel('Name').fill('Help desk');
  await dialog.getByLabel('Tags').fill('eu, desk');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Help desk' }).waitFor();
  await page.getByRole('link', { name: 'desk', exact: true }).click();
  await page.getByRole('link', { name: 'Help desk' }).waitFor();
});

story('An environment is removed after a question, and its version can be deleted then', async (stage) => {
  const { page, product, organization } = stage;
  const { id, versionId } = await store(stage);
  const headers = { authorization: `Bearer ${organization.key}` };
  const data = { promptId: id, promptVersionId: versionId, promptBody: BODY, environment: 'stagng' };
  await page.request.post(`${product.url}/v1/prompt-2025/update`, { headers, data });
  await page.goto(`/prompts/${id}`);
  await page.getByRole('button', { name: 'Remove the environment stagng' }).click();
  const confirm = async (verb: string) => {
    await page.getByRole('dialog').getByRole('button', { name: verb }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await confirm('Remove');
  await page.getByText('stagng').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete version' }).click();
  await confirm('Delete version');
  await page.getByRole('heading', { name: 'Version 1.0', exact: true }).waitFor();
});

story('The requests of a version are as many as it says, without those of experiments', async (stage) => {
  const { page, organization } = stage;
  const { id } = await store(stage);
  const call = { prompt_id: id, prompt_version: '1.0' };
  await organization.insert([call, call, { ...call, source: 'experiment' }]);
  await page.goto(`/prompts/${id}`);
  await page.getByRole('link', { name: '2 requests of version 1.0' }).click();
  await page.getByText('2 requests', { exact: true }).waitFor();
  await page.goto('/prompts');
  await page.getByRole('row').filter({ hasText: 'Support' }).getByRole('link', { name: '2' }).click();
  await page.getByText('2 requests', { exact: true }).waitFor();
});

story('A version is tried on the inputs of a logged request', async (stage) => {
  const { t, page, organization, callPath } = stage;
  const { provider } = await callPath();
  const { id, versionId } = await store(stage);
  await organization.insert([
    {
      prompt_id: id,
      prompt_version: '1.0',
      inputs: { company: 'Acme' },
      request_text: JSON.stringify({
        ...BODY,
        messages: [...BODY.messages, { role: 'user', content: 'Where is it?' }],
      }),
      preview_in: 'Where is it?',
      cost_nano: 1_500_000,
    },
  ]);
  await page.goto(`/prompts/${id}`);
  await page.getByRole('table', { name: 'Versions' }).getByText('$0.0015').waitFor();
  await page.getByRole('link', { name: 'Try its inputs' }).click();
  await page.getByLabel('company').waitFor();
  await comesTo(t, () => page.getByLabel('company').inputValue(), 'Acme');
  await comesTo(
    t,
    () => page.getByLabel('Text of message 1').inputValue(),
    'Where is it?',
    'what the call added',
  );
  provider.script(() => ({ kind: 'stream', deltas: ['At home'] }));
  await page.getByRole('button', { name: 'Run all' }).click();
  await page.getByText('At home').waitFor();
  t.match(JSON.parse(provider.requests.at(-1)!.body.toString()), {
    model: 'gpt-4o-mini',
    messages: [
      { content: 'You help customers of Acme, and {{not a variable}}.' },
      { content: 'Where is it?' },
    ],
  });
  t.match(page.url(), versionId);
  provider.script(null);
});

story('A version and a prompt are deleted after a question', async (stage) => {
  const { page } = stage;
  const { id, versionId } = await store(stage);
  const headers = { authorization: `Bearer ${stage.organization.key}` };
  const data = { promptId: id, promptVersionId: versionId, promptBody: BODY };
  await page.request.post(`${stage.product.url}/v1/prompt-2025/update`, { headers, data });
  await page.goto(`/prompts/${id}`);
  const confirm = async (name: string) => {
    await page.getByRole('button', { name }).click();
    await page.getByRole('dialog').getByRole('button', { name }).click();
  };
  await confirm('Delete version');
  await page.getByRole('heading', { name: 'Version 1.0', exact: true }).waitFor();
  await page.getByRole('button', { name: '1.1', exact: true }).waitFor({ state: 'detached' });
  await confirm('Delete prompt');
  await page.getByText('No prompt is stored yet').waitFor();
});

story('Hostile texts of a prompt are shown as texts', async (stage) => {
  const { t, page } = stage;
  const text = '<script>alert(1)</script>\u202Eevil{{x}}';
  const { id } = await store(stage, {
    model: text,
    messages: [{ role: 'user', content: text }],
    [`a${'b'}`]: text,
  });
  await page.goto(`/prompts/${id}`);
  await page.locator('mark').waitFor();
  t.ok((await page.locator('.text-mark').count()) >= 2, 'control characters are marks');
});

accessibleStory('A prompt has no barrier', async (stage) => {
  const { page } = stage;
  const { id, versionId } = await store(stage);
  const headers = { authorization: `Bearer ${stage.organization.key}` };
  const promptBody = { ...BODY, messages: [...BODY.messages, { role: 'user', content: 'Hello' }] };
  const data = { promptId: id, promptVersionId: versionId, promptBody };
  await page.request.post(`${stage.product.url}/v1/prompt-2025/update`, { headers, data });
  await page.goto(`/prompts/${id}?with=${versionId}`);
  await page.getByText('added', { exact: true }).waitFor();
});
