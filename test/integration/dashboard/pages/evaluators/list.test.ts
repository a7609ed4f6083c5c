import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { callApiOf, makeJudge } from './call-api.ts';

story(
  'Without evaluators the list says what one is, and leads to the form for each kind',
  async ({ t, page }) => {
    await page.goto('/evaluators');
    await page.getByRole('heading', { name: 'No evaluators yet' }).waitFor();
    await page.getByRole('link', { name: 'New Python evaluator' }).click();
    await page.getByLabel('Python code').waitFor();
    t.match(page.url(), '/evaluators/new?kind=python');
    await page.getByRole('link', { name: 'External', exact: true }).click();
    await page.getByLabel('URL').waitFor();
  },
);

story(
  'The list has each evaluator with its kind, state and attached share, and a hostile name is text',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    const { id } = await makeJudge(callApi);
    await callApi('POST', `/v1/evaluator/${id}/onlineEvaluators`, { config: { sampleRate: 12.5 } });
    await product.world.sql`
      update assay.evaluators set paused_reason = 'auth', paused_message = 'The key is wrong' where evaluator_id = ${id}`;
    const hostile = '<img src=x onerror=alert(1)>\u202Eevil';
    await makeJudge(callApi, { name: hostile });
    await page.goto('/evaluators');
    const paused = page.getByRole('row').filter({ hasText: 'Polite' });
    await paused.getByText('12.5%').waitFor();
    const text = (await paused.textContent())!;
    t.match(text, /LLM judge, yes or no/);
    t.match(text, /Paused.*The judge refuses the key: The key is wrong/);
    const row = page.getByRole('row').filter({ hasText: '<img src=x onerror=alert(1)>' });
    await comesTo(t, () => row.getByTitle(/U\+202E/).count(), 1, 'the override is a mark');
    await comesTo(t, () => page.locator('main img').count(), 0);
  },
);

story(
  'j and k go from row to row, Enter opens, n makes a new one',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    await makeJudge(callApi, { name: 'First' });
    const second = await makeJudge(callApi, { name: 'Second' });
    await page.goto('/evaluators');
    await page.getByRole('link', { name: 'First' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await comesTo(t, () => page.evaluate('document.activeElement.textContent'), 'First');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Second' }).waitFor();
    t.match(page.url(), second.id);
    await page.goBack();
    await page.getByRole('link', { name: 'First' }).waitFor();
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: 'New evaluator' }).waitFor();
  },
);

story(
  'A name in the search is in the address, and restricts the list',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    await makeJudge(callApi, { name: 'Polite' });
    await makeJudge(callApi, { name: 'Helpful' });
    await page.goto('/evaluators');
    await page.getByLabel('Name').fill('help');
    await page.getByRole('link', { name: 'Polite' }).waitFor({ state: 'detached' });
    t.match(page.url(), 'name=help');
    await page.reload();
    await page.getByRole('link', { name: 'Helpful' }).waitFor();
    await comesTo(t, () => page.getByRole('link', { name: 'Polite' }).count(), 0);
  },
);

story(
  'An API that fails is quoted, and asked again by a click',
  async ({ page, expectComplaint, organization, product }) => {
    await makeJudge(callApiOf(product, organization));
    let isDown = true;
    await page.route('**/v1/evaluator', (route) =>
      isDown
        ? route.fulfill({ status: 503, json: { data: null, error: 'The database cannot be reached' } })
        : route.fallback(),
    );
    await page.goto('/evaluators');
    await page.getByRole('alert').getByText('The database cannot be reached').waitFor();
    isDown = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'Polite' }).waitFor();
    expectComplaint(/status of 503/);
  },
);

story(
  'A key without the scope write is told so, and is offered nothing that writes',
  async ({ t, page, organization, product }) => {
    const { id } = await makeJudge(callApiOf(product, organization));
    await page.route('**/v1/me', (route) =>
      route.fulfill({
        json: {
          data: {
            organization: { id: 'o', name: 'acme' },
            key: { id: 'k', name: 'reader', prefix: 'sk', scopes: ['read'] },
            gateway_url: null,
          },
          error: null,
        },
      }),
    );
    await page.goto('/evaluators');
    await page.getByText('The key needs the scope write to create evaluators').waitFor();
    await page.goto(`/evaluators/${id}?tab=definition`);
    await page.getByText('The key needs the scope write to create and change evaluators').waitFor();
    await comesTo(t, () => page.getByRole('button', { name: 'Delete' }).count(), 0);
    await comesTo(t, () => page.getByRole('button', { name: 'Try it out' }).isEnabled(), false);
  },
);

accessibleStory('The list of evaluators has no barrier', async ({ page, organization, product }) => {
  await makeJudge(callApiOf(product, organization));
  await page.goto('/evaluators');
  await page.getByText('Waiting').waitFor();
});
