import type { Page } from 'playwright-core';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { ScriptedProvider } from '../../../../support/scripted-provider.ts';
import { callApiOf, makeJudge } from '../evaluators/call-api.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202Egood \u202C<script>alert(2)</script>';

/** Lets every judge say yes, with a reasoning that attacks the page. */
function sayYes(provider: ScriptedProvider, reasoning = HOSTILE): void {
  provider.script(({ body }) => {
    const { tools } = JSON.parse(body.toString()) as { tools: { function: { name: string } }[] };
    const verdict = JSON.stringify({ reasoning, score: true });
    return {
      kind: 'answer',
      text: null,
      toolCalls: [{ name: tools[0]!.function.name, arguments: verdict }],
    };
  });
}

const REQUEST = {
  request_text: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi?' }] }),
  response_text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Good morning!' } }] }),
  preview_in: 'Hi?',
};

story(
  'A judge is written, tried out on a request, created, attached, and run over history',
  async ({ t, page, organization, callPath, expectComplaint }) => {
    sayYes((await callPath()).provider);
    await organization.insert([{ ...REQUEST, status: 200 }, { status: 500 }]);
    await page.goto('/evaluators/new');
    await page.getByLabel('Name', { exact: true }).fill('Polite answer');
    await page.getByLabel('Judge model').fill('gpt-4o-mini');
    await page.getByLabel('Prompt').fill('Is {{answer}} polite?');
    await page.getByLabel('Newest requests').selectOption({ index: 1 });
    await page.getByRole('button', { name: 'Try it out' }).click();

    await page.getByText('answer is unknown').waitFor();
    const form = page.getByRole('region', { name: 'Definition' });
    await comesToMatch(
      t,
      () => form.textContent(),
      /prompt names the unknown variable "\{\{answer\}\}"; allowed are/,
    );
    expectComplaint(/status of 400/);

    await page.getByLabel('Prompt').fill('Is {{output}} polite?');
    await page.keyboard.press('Control+Enter');
    const tried = page.getByRole('region', { name: 'Try-out' });
    await tried.getByRole('heading', { name: 'Reasoning' }).waitFor();
    const result = (await tried.textContent())!;
    t.match(result, /Score1/);
    t.match(result, '<img src=x onerror=alert(1)>');
    t.match(result, 'Is "Good morning!" polite?', 'what the judge saw');
    t.match(page.url(), /[?&]r=/, 'the record is in the address');

    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Polite answer' }).waitFor();
    await page.getByLabel('Share of the requests, in percent').fill('100');
    await page.getByLabel('Only requests that pass').fill('status:abc');
    await page.getByText('status must be a number, but is "abc"').waitFor();
    await page.getByLabel('Only requests that pass').fill('status:200');
    await page.getByRole('button', { name: 'Attach' }).click();
    await page.getByRole('row').filter({ hasText: 'status:200' }).getByText('100%').waitFor();

    await page.getByRole('link', { name: 'Score history' }).click();
    await page.getByLabel('Requests', { exact: true }).fill('status:200');
    await comesTo(
      t,
      () => page.getByRole('button', { name: 'Start the run' }).count(),
      0,
      'the price comes first',
    );
    await page.getByRole('button', { name: 'Count and price' }).click();
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByRole('link', { name: '1 completed' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: HOSTILE.slice(0, 20) })
      .waitFor();
    t.match(page.url(), /tab=evaluations&run=[0-9a-f-]{36}&state=completed/);

    await page.getByRole('link', { name: 'Statistics' }).click();
    await page.getByRole('link', { name: '1 evaluations' }).waitFor();
    const scored = page.getByRole('region', { name: 'Scores' }).getByRole('link').nth(1);
    await comesToMatch(t, () => scored.getAttribute('href'), '/requests?q=scores.polite_answer:1&range=90d');
  },
);

story(
  'A hostile reasoning is shown as text, in the list and in the dialog',
  async ({ t, page, organization, product, callPath }) => {
    sayYes((await callPath()).provider);
    const callApi = callApiOf(product, organization);
    await organization.insert([REQUEST]);
    const { id } = await makeJudge(callApi);
    await callApi('POST', `/v1/evaluator/${id}/run`, { filter: 'all' });
    await page.goto(`/evaluators/${id}?tab=evaluations`);
    const row = page.getByRole('row').filter({ hasText: '<script>alert(2)</script>' });
    // The list is asked again every few seconds.
    await row.waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('<script>alert(2)</script>').waitFor();
    t.match(page.url(), /[?&]e=\d+/);
    await comesTo(t, () => page.locator('img, main script').count(), 0);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    t.notMatch(page.url(), /[?&]e=/);
  },
);

story(
  'A changed prompt is said to make a new version, and the versions show what changed',
  async ({ page, organization, product }) => {
    const { id } = await makeJudge(callApiOf(product, organization));
    await page.goto(`/evaluators/${id}?tab=definition`);
    await page.getByText('No new version').waitFor();
    await page.getByLabel('Prompt').fill('Is {{output}} kind?');
    await page.getByText('Saving makes version 2').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as version 2').waitFor();
    await page.getByRole('link', { name: 'Versions' }).click();
    const version = page.getByRole('region', { name: 'Version 2' });
    await version.locator('mark', { hasText: 'polite' }).waitFor();
    await version.locator('mark', { hasText: 'kind' }).waitFor();
    await page.getByRole('link', { name: 'Version 1' }).click();
    await page.getByRole('region', { name: 'Version 1' }).getByText('polite').waitFor();
  },
);

story(
  'Evaluations that died are listed with their reason, and tried again by a click',
  async ({ t, page, organization, product, callPath }) => {
    const { provider } = await callPath();
    const callApi = callApiOf(product, organization);
    await organization.insert([REQUEST]);
    const { id } = await makeJudge(callApi);
    provider.script(() => ({ kind: 'error', status: 400 }));
    await callApi('POST', `/v1/evaluator/${id}/run`, { filter: 'all' });
    await page.goto(`/evaluators/${id}?tab=backfill`);
    await page.getByRole('link', { name: '1 failed' }).click();
    const row = page.getByRole('row').filter({ hasText: 'judge_rejected' });
    await row.waitFor();
    sayYes(provider, 'It is kind.');
    await page.getByRole('button', { name: 'Retry all that are error or dead' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByLabel('State').selectOption('completed');
    await page.getByRole('row').filter({ hasText: 'It is kind.' }).waitFor();
    t.match(page.url(), 'state=completed');
  },
);

story('A run says what it looks for, and how far back it has looked', async (stage) => {
  const { page, organization, product } = stage;
  const callApi = callApiOf(product, organization);
  await organization.insert([REQUEST]);
  const { id } = await makeJudge(callApi);
  const { sql } = product.database;
  // As it is while evaluators look, which would be done with one request at once.
  const begin = (sample: number | null, cursor: string | null) => sql`
    insert into assay.evaluation_runs (organization_id, evaluator_id, version, state, filter, until, sample_size, sample_seed,
      cursor_created_at, created_at, updated_at)
    values (${organization.organizationId}, ${id}, 1, 'paused', '"all"', now(), ${sample}, ${sample}, ${cursor}, now(), now())`;
  await begin(5, null);
  await page.goto(`/evaluators/${id}?tab=backfill`);
  await page.getByText('Looks for its sample', { exact: true }).waitFor();
  await sql`delete from assay.evaluation_runs where evaluator_id = ${id}`;
  await begin(null, new Date(Date.now() - 3 * 86_400_000).toISOString());
  await page.reload();
  await page.getByText('Looks for requests, back to 3 d ago').waitFor();
});

story(
  'Secrets of a service are written once, and then only shown to be set',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    const { id } = await makeJudge(callApi);
    // The API of stories keeps no secrets: its answer is given with one.
    const evaluator = await callApi<Record<string, unknown>>('GET', `/v1/evaluator/${id}`);
    const external_config = {
      adapter: 'http',
      url: 'https://scores.example.com/',
      headers: { 'x-api-key': '[secret]' },
    };
    const external = { ...evaluator, scoring_type: 'EXTERNAL', llm_template: null, external_config };
    await page.route(`**/v1/evaluator/${id}`, (route) =>
      route.fulfill({ json: { data: external, error: null } }),
    );
    await page.goto(`/evaluators/${id}?tab=definition`);
    const value = page.getByLabel('Value of header 1');
    await comesTo(t, () => value.inputValue(), '');
    await comesToMatch(t, () => value.getAttribute('placeholder'), /^Set/);
    await page.getByLabel('Timeout in ms').fill('500');
    const saving = page.waitForRequest((request) => request.method() === 'PUT');
    await page.getByRole('button', { name: 'Save' }).click();
    const sent = (await saving).postDataJSON();
    await page
      .getByText(/^Saved/)
      .first()
      .waitFor();
    t.match(sent, { external_config: { headers: { 'x-api-key': '[secret]' }, timeoutMs: 500 } });
  },
);

story(
  'What is attached to traffic is changed in place, and only what was changed is sent',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    const { id } = await makeJudge(callApi);
    const path = `/v1/evaluator/${id}/onlineEvaluators`;
    const config = { sampleRate: 10, q: 'status:200', propertyFilters: [{ key: 'Plan', value: 'pro' }] };
    const made = await callApi<{ id: string; config: object }>('POST', path, { config });
    await page.goto(`/evaluators/${id}?tab=traffic`);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change what is scored' });
    await dialog.getByText('Evaluations that wait are made nevertheless').waitFor();
    await dialog.getByLabel('Share of the requests, in percent').fill('25');
    // Somebody else, meanwhile.
    await callApi('PATCH', `${path}/${made.id}`, { config: { probeRate: 5 } });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'status:200' }).getByText('25%').waitFor();
    t.same(await callApi('GET', path), [
      { ...made, config: { ...made.config, sampleRate: 25, probeRate: 5 } },
    ]);

    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Only requests that pass').fill('');
    await dialog.getByRole('button', { name: 'Remove property 1' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Every request' }).waitFor();
  },
);

story('In the field for code Tab indents, and Escape then Tab leaves it', async ({ t, page }) => {
  await page.goto('/evaluators/new?kind=python');
  const code = page.getByLabel('Python code');
  await code.fill('x');
  await code.press('Home');
  await code.press('Tab');
  await comesTo(t, () => code.inputValue(), '    x');
  await code.press('Shift+Tab');
  await comesTo(t, () => code.inputValue(), 'x');
  await code.press('Escape');
  await code.press('Tab');
  await comesTo(t, () => page.evaluate('document.activeElement.tagName'), 'SUMMARY');
});

story(
  'Two evaluators are compared on the requests that both have scored',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    const { id } = await makeJudge(callApi);
    const other = await makeJudge(callApi, { name: 'Kind' });
    await organization.insert([
      { scores: { polite: 1, kind: 1 } },
      { scores: { polite: 1, kind: 1 } },
      { scores: { polite: 0, kind: 0 } },
      { scores: { polite: 1, kind: 0 } },
      { scores: { polite: 1 } },
    ]);
    await page.goto(`/evaluators/${id}`);
    await page.getByLabel('Compare with').selectOption({ label: 'Kind' });
    const section = page.getByRole('region', { name: 'Agreement with another evaluator' });
    await section.getByText('75%').waitFor();
    t.match(page.url(), `with=${other.id}`);
    const cells = await section.getByRole('cell').getByRole('link').allTextContents();
    t.same(cells, ['2', '1', '0', '1']);
    const links = await section.getByRole('cell').getByRole('link').all();
    await comesToMatch(
      t,
      () => links[1]!.getAttribute('href'),
      'q=scores.polite:%3E%3D0.5+scores.kind:%3C0.5',
    );
  },
);

/** The tabs, each with what of it comes last: axe is to see all of it. */
const TABS: Readonly<Record<string, { tab: string; waitFor: (page: Page) => Promise<void> }>> = {
  Statistics: {
    tab: 'statistics',
    waitFor: async (page) => {
      await page.getByRole('link', { name: '1 evaluations' }).waitFor();
      await page.locator('figure canvas').nth(1).waitFor();
    },
  },
  Evaluations: {
    tab: 'evaluations',
    waitFor: (page) => page.getByRole('row').filter({ hasText: '<script>alert(2)</script>' }).waitFor(),
  },
  Definition: {
    tab: 'definition',
    waitFor: async (page) => {
      await page.getByText('No new version').waitFor();
      await page.getByLabel('Newest requests').getByText('Hi?').waitFor({ state: 'attached' });
      await page
        .getByRole('region', { name: 'Try-out' })
        .getByText('Good morning!')
        .first()
        .waitFor({ state: 'attached' });
    },
  },
  'Attached traffic': {
    tab: 'traffic',
    waitFor: (page) => page.getByRole('row').filter({ hasText: 'status:200' }).getByText('10%').waitFor(),
  },
  'Score history': {
    tab: 'backfill',
    waitFor: (page) => page.getByRole('link', { name: '1 completed' }).waitFor(),
  },
  Versions: {
    tab: 'versions',
    waitFor: (page) => page.getByRole('region', { name: 'Version 2' }).locator('mark').first().waitFor(),
  },
};
for (const [title, { tab, waitFor }] of Object.entries(TABS)) {
  accessibleStory(
    `${title} of an evaluator has no barrier`,
    async ({ page, organization, product, callPath }) => {
      sayYes((await callPath()).provider);
      const callApi = callApiOf(product, organization);
      const [record] = await organization.insert([{ ...REQUEST, feedback_rating: true }]);
      const { id } = await makeJudge(callApi);
      await callApi('PUT', `/v1/evaluator/${id}`, {
        llm_template: { model: 'gpt-4o-mini', prompt: 'Kind?' },
      });
      await callApi('POST', `/v1/evaluator/${id}/onlineEvaluators`, {
        config: { sampleRate: 10, q: 'status:200' },
      });
      await callApi('POST', `/v1/evaluator/${id}/run`, { q: 'status:200' });
      await page.goto(`/evaluators/${id}?tab=backfill`);
      await page.getByRole('link', { name: '1 completed' }).waitFor();
      await page.goto(`/evaluators/${id}?tab=${tab}&r=${record!.request_id}`);
      await page.getByRole('link', { name: title }).waitFor();
      await waitFor(page);
    },
  );
}
