import type { Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { followNavigation } from '../../../../support/browser/follow-navigation.ts';
import { story } from '../../../../support/browser/mod.ts';
import { callApiOf, makeJudge } from '../evaluators/call-api.ts';

const notice = (page: Page) => page.getByRole('region', { name: 'Definition' }).getByRole('status');
const saysDraft = (page: Page) => notice(page).getByText('Unsaved draft').waitFor();

story(
  'A changed definition is found again after another tab and another page, until it is discarded',
  async ({ t, page, organization, product }) => {
    const { id } = await makeJudge(callApiOf(product, organization));
    const definition = page.getByRole('link', { name: 'Definition' });
    const prompt = page.getByLabel('Prompt');
    await page.goto(`/evaluators/${id}?tab=definition`);
    await notice(page).getByText('As saved in version 1.').waitFor();
    await prompt.fill('Is {{output}} kind?');
    await saysDraft(page);
    await page.getByRole('link', { name: 'Versions' }).click();
    await definition.click();
    await saysDraft(page);
    await comesTo(t, () => prompt.inputValue(), 'Is {{output}} kind?');

    await followNavigation(page, 'Requests');
    await followNavigation(page, 'Evaluators');
    await page.getByRole('link', { name: 'Polite' }).first().click();
    await definition.click();
    await saysDraft(page);
    await comesTo(t, () => prompt.inputValue(), 'Is {{output}} kind?');
    t.notMatch(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])'),
      'kind',
    );

    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await notice(page).getByText('The draft is discarded.').waitFor();
    await comesTo(t, () => prompt.inputValue(), 'Is {{output}} polite?');
    await page.keyboard.press('Enter');
    await saysDraft(page);
    await comesTo(t, () => prompt.inputValue(), 'Is {{output}} kind?', 'the same button brings it back');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Versions' }).click();
    await definition.click();
    await notice(page).getByText('As saved in version 1.').waitFor();
    await comesTo(t, () => prompt.inputValue(), 'Is {{output}} polite?');
  },
);

story(
  'A saved draft is none any more, and one begun on an older version says so',
  async ({ t, page, organization, product }) => {
    const callApi = callApiOf(product, organization);
    const { id } = await makeJudge(callApi);
    const prompt = page.getByLabel('Prompt');
    await page.goto(`/evaluators/${id}?tab=definition`);
    await prompt.fill('Is {{output}} kind?');
    await page.getByRole('button', { name: 'Save' }).click();
    await notice(page).getByText('As saved in version 2.').waitFor();
    await comesTo(t, () => prompt.inputValue(), 'Is {{output}} kind?');
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByRole('link', { name: 'Definition' }).click();
    await notice(page).getByText('As saved in version 2.').waitFor();

    await prompt.fill('Is {{output}} gentle?');
    await followNavigation(page, 'Requests');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    const llm_template = { model: 'gpt-4o-mini', prompt: 'Is {{output}} good?' };
    await callApi('PUT', `/v1/evaluator/${id}`, { llm_template });
    await page.goBack();
    await notice(page).getByText('It was begun on version 2; saving it replaces version 3.').waitFor();
    await comesTo(t, () => prompt.inputValue(), 'Is {{output}} gentle?');
  },
);

story('Each kind of a new evaluator has its draft, which ends when it is created', async ({ t, page }) => {
  const name = page.getByLabel('Name', { exact: true });
  await page.goto('/evaluators/new?kind=python');
  await notice(page).getByText('Nothing is written yet.').waitFor();
  await name.fill('Length');
  await page.getByRole('link', { name: 'LLM judge' }).click();
  await notice(page).getByText('Nothing is written yet.').waitFor();
  await comesTo(t, () => name.inputValue(), '');
  await page.getByRole('link', { name: 'External' }).click();
  await name.fill('Exact');
  await page.getByLabel('It is scored by').selectOption('autoevals');
  await page.getByLabel('Scorer').selectOption('ValidJSON');
  await page.getByRole('link', { name: 'Python' }).click();
  await saysDraft(page);
  await comesTo(t, () => name.inputValue(), 'Length');
  await page.getByRole('link', { name: 'External' }).click();
  await comesTo(t, () => name.inputValue(), 'Exact');

  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Exact' }).waitFor();
  await page.goBack();
  await notice(page).getByText('Nothing is written yet.').waitFor();
  await comesTo(t, () => name.inputValue(), '');
});

story(
  'A draft is kept without its secrets, which the page says, and is forgotten at log-out',
  async ({ t, page, organization }) => {
    const secret = page.getByLabel('Value of header 1');
    await page.goto('/evaluators/new?kind=external');
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 1').fill('x-api-key');
    await secret.fill('sk-of-a-service');
    await page.getByRole('link', { name: 'Python' }).click();
    await page.getByRole('link', { name: 'External' }).click();
    await notice(page).getByText('Secrets are not kept: write them again.').waitFor();
    await comesTo(t, () => page.getByLabel('Name of header 1').inputValue(), 'x-api-key');
    await comesTo(t, () => secret.inputValue(), '');

    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').fill(organization.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await notice(page).getByText('Nothing is written yet.').waitFor();
    await comesTo(t, () => page.getByLabel('Name of header 1').count(), 0);
  },
);
