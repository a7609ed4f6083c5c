import type { Page } from 'playwright-core';
import { waitFor } from '../../../../support/assay.ts';
import { becomesTrue } from '../../../../support/browser/becomes-true.ts';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { followNavigation } from '../../../../support/browser/follow-navigation.ts';
import { story } from '../../../../support/browser/mod.ts';

const MODEL = '/playground?column.1.model=gpt-4o-mini';
const ANSWER = { kind: 'stream', deltas: ['A ', 'small ', 'picture'] } as const;

const column = (page: Page, number: number) => page.getByRole('region', { name: `Column ${number}` });
const message = (page: Page) => page.getByLabel('Text of message 1');

/** Looks at another page of the dashboard. */
async function lookElsewhere(page: Page): Promise<void> {
  await followNavigation(page, 'Requests');
  await page.getByRole('heading', { name: 'Requests' }).waitFor();
}

/** Asks the model of the address, and waits for the answer. */
async function run(page: Page): Promise<void> {
  await message(page).fill('Tell me');
  await page.getByRole('button', { name: 'Run column 1' }).click();
  await column(page, 1).getByText('A small picture').waitFor();
}

story(
  'Messages and answers are there again after another page, by the way back and by a link',
  async ({ t, page, callPath }) => {
    const { provider } = await callPath();
    provider.script(() => ANSWER);
    await page.goto(MODEL);
    await run(page);
    await column(page, 1).getByText('Cost').waitFor();
    const calls = provider.requests.length;
    await lookElsewhere(page);
    await page.goBack();
    await column(page, 1).getByText('A small picture').waitFor();
    await comesTo(t, () => column(page, 1).getByText('Cost').count(), 1);
    await comesTo(t, () => message(page).inputValue(), 'Tell me');

    await lookElsewhere(page);
    await followNavigation(page, 'Playground');
    await column(page, 1).getByText('A small picture').waitFor();
    await comesTo(t, () => message(page).inputValue(), 'Tell me');
    await page.waitForURL(/column\.1\.model=gpt-4o-mini/);
    t.equal(provider.requests.length, calls, 'nothing is called again');

    await page.getByRole('button', { name: 'Start anew' }).click();
    await column(page, 1).getByText('A small picture').waitFor({ state: 'detached' });
    await comesTo(t, () => message(page).inputValue(), '');
    await page.goBack();
    await column(page, 1).getByText('A small picture').waitFor();
    provider.script(null);
  },
);

story(
  'A link that replays a request begins with the messages of the request, whatever was there before',
  async ({ t, page, callPath }) => {
    const { provider } = await callPath();
    provider.script(() => ANSWER);
    await page.goto(MODEL);
    await run(page);
    await message(page).fill('Something else');
    await column(page, 1).getByRole('link', { name: 'Request' }).click();
    await page.getByRole('link', { name: 'Replay' }).click();
    await page.getByText('Replays').waitFor();
    await comesTo(t, () => message(page).inputValue(), 'Tell me');
    await comesTo(t, () => page.getByRole('region', { name: 'Answer' }).count(), 0);
    provider.script(null);
  },
);

story(
  'An answer that is left while it streams is ended, and is shown as stopped with what had come',
  async ({ page, callPath }) => {
    const { provider } = await callPath();
    provider.script(() => ({ kind: 'stream', deltas: ['The beginning'], ending: 'stall' }));
    await page.goto(MODEL);
    await message(page).fill('Tell me');
    await page.getByRole('button', { name: 'Run column 1' }).click();
    await column(page, 1).getByText('The beginning').waitFor();
    await lookElsewhere(page);
    await waitFor('the end of the call', async () => provider.requests.at(-1)!.aborted);
    await page.goBack();
    await column(page, 1).getByText('Stopped').waitFor();
    await column(page, 1).getByText('The beginning').waitFor();
    await page.getByRole('button', { name: 'Run column 1' }).waitFor();
    provider.script(null);
  },
);

story(
  'Messages and answers are forgotten at log-out, in the entries of the history as well',
  async ({ t, page, organization, callPath }) => {
    const { provider } = await callPath();
    provider.script(() => ANSWER);
    await page.goto(MODEL);
    await run(page);
    await column(page, 1).getByText('Cost').waitFor();
    // The draft is written into the entry a moment after the last change.
    t.ok(await becomesTrue(page, `Boolean(history.state?.playground?.includes('Tell me'))`));
    // A call that is under way at the log-out would be refused.
    const listed = page.waitForResponse('**/v1/webhook');
    await followNavigation(page, 'Webhooks');
    await listed;
    const recordWorkers = () => page.workers().filter((worker) => /record/.test(worker.url())).length;
    t.equal(recordWorkers(), 1, 'it holds the answer');
    await page.getByRole('button', { name: 'Log out' }).click();
    await waitFor('the end of the worker', async () => recordWorkers() === 0);
    await page.getByLabel('API key').fill(organization.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await followNavigation(page, 'Playground');
    await message(page).waitFor();
    await comesTo(t, () => message(page).inputValue(), '');
    await page.goBack();
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await page.goBack();
    await message(page).waitFor();
    await comesTo(
      t,
      () => column(page, 1).getByLabel('Model').inputValue(),
      'gpt-4o-mini',
      'as the address says',
    );
    await comesTo(t, () => message(page).inputValue(), '');
    await comesTo(t, () => page.getByRole('region', { name: 'Answer' }).count(), 0);
    provider.script(null);
  },
);
