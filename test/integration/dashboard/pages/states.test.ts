/** Every page in the states that all of them have: nobody logged in, slow, failing, empty, and opened by a stranger's link. */

import type { Page } from 'playwright-core';
import { encodeEntry } from '#core/contracts/dead-letter-codec.ts';
import { comesTo } from '../../../support/browser/comes-to.ts';
import { type Stage, story } from '../../../support/browser/mod.ts';
import { signIn } from '../../../support/browser/sign-in.ts';
import { tryAgain } from '../../../support/browser/try-again.ts';
import { logEntry } from '../../../support/log-entries.ts';
import { callAs } from './as.ts';
import { makeJudge } from './evaluators/call-api.ts';
import { makeDataset, makeExperiment } from './experiments/measured.ts';
import { makeCriterion, makeQueue } from './grading.ts';

type Given = Pick<Stage, 'organization' | 'product'>;
/** A page, and a text of it that comes from the organization's data. */
type Known = { path: string; shows: string };

const SENTENCE = 'The database has no connection left';
const REFUSAL = {
  status: 503,
  headers: { 'service-request-id': 'call-17', 'content-type': 'application/json' },
  body: JSON.stringify({ data: null, error: SENTENCE }),
};

/** All calls of the API but the one that tells who is logged in. */
const isCall = ({ pathname }: URL) => pathname.startsWith('/v1/') && pathname !== '/v1/me';

async function keepDeadLetter({ organization: { organizationId }, product }: Given): Promise<void> {
  const entry = logEntry({ organizationId }, {});
  await product.database.sql`
    insert into assay.dead_letters (origin, organization_id, request_id, reason, entry)
    values ('outbox/1/2', ${organizationId}, ${entry.id}, 'of no use', ${encodeEntry(entry)})`;
}

/** Gives the organization something for every page; returns the pages of its own things, which a stranger must not see. */
async function furnish(given: Given): Promise<Known[]> {
  const call = <T>(method: string, path: string, body?: unknown) => callAs<T>(given, method, path, body);
  const [record, other] = await given.organization.insert([
    { user_id: 'anna', session_id: 'trip-1', session_name: 'Trip to Oslo', model: 'gpt-4o' },
    { user_id: 'ben', model: 'gpt-4o', status: 429 },
  ]);
  const evaluator = await makeJudge(call, { name: 'Polite' });
  const prompt = await call<{ id: string }>('POST', '/v1/prompt-2025', { name: 'Greeting', promptBody: {} });
  const dataset = await makeDataset(given, { name: 'Refunds' });
  const [baseline, candidate] = [
    await makeExperiment(given, { name: 'Large model', datasetId: dataset.id }),
    await makeExperiment(given, { name: 'Small model', datasetId: dataset.id }),
  ];
  await call('POST', '/v1/webhook', { url: 'https://example.com/hook', events: ['alert.fired'] });
  await call('POST', '/v1/alert', {
    name: 'Error rate',
    query: { measures: [{ metric: 'errors', aggregate: 'avg' }] },
    window_minutes: 60,
    comparison: '>',
    threshold: 0.05,
  });
  await keepDeadLetter(given);
  const criterionId = await makeCriterion(given, 'Kindness');
  const queue = await makeQueue(given, {
    name: 'Weekly review',
    criterionIds: [criterionId],
    questions: ['Where is Oslo?'],
  });
  return [
    { path: `/requests/${record!.request_id}`, shows: 'anna' },
    { path: `/compare?ids=${record!.request_id},${other!.request_id}`, shows: 'gpt-4o' },
    { path: '/sessions/trip-1', shows: 'Trip to Oslo' },
    { path: '/users/anna', shows: 'gpt-4o' },
    { path: `/evaluators/${evaluator.id}`, shows: 'Polite' },
    { path: `/prompts/${prompt.id}`, shows: 'Greeting' },
    { path: `/datasets/${dataset.id}`, shows: 'Question 0' },
    { path: `/experiments/${baseline.id}`, shows: 'Large model' },
    {
      path: `/experiments/compare?baseline=${baseline.id}&candidates=${candidate.id}`,
      shows: 'no item has a value in both',
    },
    { path: `/review/${queue.id}`, shows: 'Weekly review' },
    { path: `/review/criteria/${criterionId}`, shows: 'Kindness' },
  ];
}

const LISTS: readonly Known[] = [
  { path: '/', shows: 'anna' },
  { path: '/requests', shows: 'anna' },
  { path: '/sessions', shows: 'Trip to Oslo' },
  { path: '/users', shows: 'anna' },
  { path: '/evaluators', shows: 'Polite' },
  { path: '/prompts', shows: 'Greeting' },
  { path: '/datasets', shows: 'Refunds' },
  { path: '/experiments', shows: 'Large model' },
  { path: '/experiments/new', shows: 'Polite' },
  { path: '/review', shows: 'Weekly review' },
  { path: '/review?tab=criteria', shows: 'Kindness' },
  { path: '/limits', shows: 'ben' },
  { path: '/keys', shows: 'sk-assay-' },
  { path: '/webhooks', shows: 'https://example.com/hook' },
  { path: '/alerts', shows: 'Error rate' },
  { path: '/dead-letters', shows: 'of no use' },
  { path: '/system', shows: 'ingest' },
  { path: '/settings', shows: 'enterprise' },
];

const main = (page: Page) => page.getByRole('main');
const known = (page: Page, shows: string) => main(page).getByText(shows).first();

story(
  'Every page asks for a log-in, and is shown after it',
  async (stage) => {
    const { t, page, context, organization, product, expectComplaint } = stage;
    const pages = [...LISTS, ...(await furnish(stage))];
    for (const { path, shows } of pages) {
      await page.goto(path);
      await page.getByLabel('API key').waitFor();
      await comesTo(t, () => known(page, shows).count(), 0, `${path}: nothing of it is shown`);
    }
    await signIn(context, { ...organization, sql: product.database.sql, url: product.url });
    for (const { path, shows } of pages) {
      await page.goto(path);
      await known(page, shows).waitFor();
      await comesTo(t, () => page.getByRole('alert').count(), 0, `${path}: no failure`);
    }
    expectComplaint(/status of 401/);
  },
  { scopes: [] },
);

story('Every page waits for slow answers without a failure', async (stage) => {
  const { t, page } = stage;
  for (const { path, shows } of [...LISTS, ...(await furnish(stage))]) {
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    await page.route(isCall, async (route) => {
      asked.resolve();
      await held.promise;
      await route.continue();
    });
    await page.goto(path);
    await asked.promise;
    // The frame is there before the script of its page: what the page shows meanwhile is waited for.
    await main(page).filter({ hasText: /\S/ }).waitFor();
    t.not((await main(page).innerText()).trim(), '', `${path}: something is shown meanwhile`);
    await comesTo(t, () => page.getByRole('alert').count(), 0, `${path}: no failure`);
    held.resolve();
    await known(page, shows).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  }
});

story(
  "Every page tells a failure in the API's sentence with the id of the call, and tries again",
  async (stage) => {
    const { page, expectComplaint } = stage;
    for (const { path, shows } of [...LISTS, ...(await furnish(stage))]) {
      await page.route(isCall, (route) => route.fulfill(REFUSAL));
      await page.goto(path);
      const notice = page.getByRole('alert').first();
      await notice.getByText(SENTENCE).waitFor();
      await notice.getByText('call-17').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await tryAgain(page);
      await known(page, shows).waitFor();
    }
    expectComplaint(/status of 503/);
  },
);

story('A page says that it loads while the API does not say who is logged in', async ({ t, page }) => {
  // Also where nothing is moved, not at once.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const held = Promise.withResolvers<void>();
  await page.route('**/v1/me', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto('/keys');
  await page.getByText('Loading…').waitFor({ state: 'attached' });
  t.equal(await page.evaluate("getComputedStyle(document.querySelector('.late')).animationDelay"), '1s');
  await page.getByText('Loading…').waitFor();
  held.resolve();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  await comesTo(t, () => page.getByText('Loading…').count(), 0);
});

story("A page that a proxy answers in the API's place says so", async ({ page }) => {
  const form = { status: 200, contentType: 'text/html', body: '<h1>Log in to the proxy</h1>' };
  for (const path of ['/', '/requests', '/keys']) {
    await page.route(isCall, (route) => route.fulfill(form));
    await page.goto(path);
    await page.getByRole('alert').getByText("is not the API's").first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  }
});

const EMPTY: readonly Known[] = [
  { path: '/', shows: 'No request yet' },
  { path: '/requests', shows: 'No request yet' },
  { path: '/sessions', shows: 'No session yet' },
  { path: '/users', shows: 'No user yet' },
  { path: '/users/nobody', shows: 'nobody' },
  { path: '/evaluators', shows: 'No evaluators yet' },
  { path: '/prompts', shows: 'Calls can name one' },
  { path: '/datasets', shows: 'No datasets yet' },
  { path: '/experiments', shows: 'No experiments yet' },
  { path: '/experiments/new', shows: 'There is no dataset yet' },
  { path: '/experiments/compare', shows: 'Pick up to four experiments' },
  { path: '/review', shows: 'No review queue yet' },
  { path: '/review?tab=criteria', shows: 'No criterion yet' },
  { path: '/limits', shows: 'Service-RateLimit-Policy' },
  { path: '/system', shows: 'You have no stored request yet' },
  { path: '/webhooks', shows: 'There is no webhook' },
  { path: '/alerts', shows: 'There is no alert' },
  { path: '/dead-letters', shows: 'There are no dead letters' },
];

story('Every page of a new organization says what is not there yet', async ({ t, page }) => {
  for (const { path, shows } of EMPTY) {
    await page.goto(path);
    await known(page, shows).waitFor();
    await comesTo(t, () => page.getByRole('alert').count(), 0, `${path}: no failure`);
  }
});

story("A link to another organization's things shows nothing of them", async (stage) => {
  const { t, page, product, expectComplaint } = stage;
  const other = { product, organization: await product.organization(['gateway', 'read', 'write']) };
  const ids = [
    ...['Polite', 'Greeting', 'Trip to Oslo', 'gpt-4o', 'Weekly review', 'Kindness'],
    ...['Refunds', 'Question 0', 'Large model'],
  ];
  for (const { path } of await furnish(other)) {
    await page.goto(path);
    await main(page)
      .filter({ hasText: /There is no|not found|No /i })
      .waitFor();
    await page.waitForLoadState('networkidle');
    const shown = await main(page).innerText();
    for (const text of ids) t.notMatch(shown, text, `${path} does not show ${text}`);
    t.match(shown, /There is no|not found|No /i, `${path} says so`);
  }
  expectComplaint(/status of 404/);
});
