import type { Page } from 'playwright-core';
import { createLoginToken } from '#platform/browser-sessions/mod.ts';
import { comesTo } from '../../../support/browser/comes-to.ts';
import { story } from '../../../support/browser/mod.ts';

const ROWS = '/v1/request/rows';
const METRICS = '/v1/metrics/query';

/** Holds back who is logged in until a call to a path has been made, and returns the bodies of the calls to it. */
async function holdIdentity(page: Page, path: string): Promise<string[]> {
  const asked = Promise.withResolvers<void>();
  const bodies: string[] = [];
  await page.route(`**${path}`, async (route) => {
    bodies.push(route.request().postData() ?? '');
    asked.resolve();
    await route.continue();
  });
  await page.route('**/v1/me', async (route) => {
    await asked.promise;
    await route.continue();
  });
  return bodies;
}

const user = (page: Page, name: string) => page.locator('.grid').getByRole('link', { name, exact: true });

story(
  'The rows of the address are asked for once, before it is known who is logged in',
  async ({ t, page, organization }) => {
    await organization.insert([{ user_id: 'anna' }, { user_id: 'ben' }]);
    const bodies = await holdIdentity(page, ROWS);
    await page.goto('/requests?q=user:anna&cols=request_user_id&range=24h&sort=latency');
    await user(page, 'anna').waitFor();
    await comesTo(t, () => page.locator('.grid-row').count(), 1);
    await page.getByText('1 request', { exact: true }).waitFor();
    t.equal(bodies.length, 1);
  },
);

story(
  'The figures of the overview are asked for once, before it is known who is logged in',
  async ({ t, page, organization }) => {
    await organization.insert([{ user_id: 'anna' }]);
    const bodies = await holdIdentity(page, METRICS);
    await page.goto('/');
    await page.getByRole('link', { name: 'anna' }).waitFor();
    await page.locator('.chart canvas').first().waitFor();
    t.ok(bodies.length > 3);
    t.equal(new Set(bodies).size, bodies.length, 'none is asked for twice');
  },
);

story(
  'A link that logs another key in asks for its requests alone',
  async ({ t, page, organization, product }) => {
    await organization.insert([{ user_id: 'mine' }]);
    const other = await product.organization(['read']);
    await other.insert([{ user_id: 'theirs' }]);
    const token = await createLoginToken(product.database.sql, other.keyId, Date.now());
    const calls: string[] = [];
    page.on('request', (request) => calls.push(new URL(request.url()).pathname));
    await page.goto(`/requests#login=${token}`);
    await user(page, 'theirs').waitFor();
    await comesTo(t, () => user(page, 'mine').count(), 0);
    t.ok(calls.indexOf('/v1/login') < calls.indexOf(ROWS));
    t.equal(calls.filter((path) => path === ROWS).length, 1);
  },
);

story(
  'What was refused before the log-in is asked for again after it',
  async ({ page, product, expectComplaint }) => {
    const { key, insert } = await product.organization(['read']);
    await insert([{ user_id: 'anna' }]);
    await page.goto('/requests');
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await user(page, 'anna').waitFor();
    expectComplaint(/status of 401/);
  },
  { scopes: [] },
);
