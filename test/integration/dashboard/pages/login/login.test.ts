import type { Page } from 'playwright-core';
import { createLoginToken } from '#platform/browser-sessions/mod.ts';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import type { Product } from '../../../../support/browser/product.ts';
import { sessionEnds } from '../../../../support/browser/session-ended.ts';

const SIGNED_OUT = { scopes: [] };

/** Returns the fragment of a one-time link that logs in as a key. */
async function linkFor({ database: { sql } }: Product, keyId: string): Promise<string> {
  return `#login=${await createLoginToken(sql, keyId, Date.now())}`;
}

for (const host of ['127.0.0.1', 'localhost']) {
  story(
    `A key logs in at ${host}, and the page of the address is shown again after a reload`,
    async ({ t, page, context, product, expectComplaint }) => {
      const { key } = await product.organization(['read']);
      const url = product.url.replace('127.0.0.1', host);
      await page.goto(`${url}/settings?range=24h`);
      const field = page.getByLabel('API key');
      await comesTo(t, () => field.getAttribute('type'), 'password');
      // At one of both, because an address has ten tries a minute, and all stories come from one.
      if (host === '127.0.0.1') {
        await field.fill('sk-assay-wrong-wrong-wrong');
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('alert').getByText('This API key is not valid').waitFor();
      }
      await field.fill(key);
      await field.press('Enter');
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
      t.equal(page.url(), `${url}/settings?range=24h`);
      const [cookie] = await context.cookies();
      t.match(cookie, { name: 'assay', httpOnly: true, sameSite: 'Strict', domain: host });
      await comesTo(t, () => page.evaluate('document.cookie'), '', 'no script can read it');
      await page.reload();
      await page.getByRole('heading', { name: 'Settings' }).waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await field.waitFor();
      t.same(await context.cookies(), []);
      expectComplaint(/status of 401/);
      // The product's own address is another origin than localhost.
      if (host === 'localhost') expectComplaint(/^Request elsewhere: \w+ http:\/\/localhost:/);
    },
    SIGNED_OUT,
  );
}

story(
  'A link logs in once, and its token leaves the address at once',
  async ({ t, page, context, product, expectComplaint }) => {
    const { keyId } = await product.organization(['read']);
    const link = `/settings?range=24h${await linkFor(product, keyId)}`;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    t.equal(page.url(), `${product.url}/settings?range=24h`);
    await context.clearCookies();
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByRole('alert').getByText('This link was used already, or is too old').waitFor();
    t.equal(page.url(), `${product.url}/settings?range=24h`);
    expectComplaint(/status of 401/);
  },
  SIGNED_OUT,
);

story('A link logs in as its key, also where another key is logged in', async ({ page, product }) => {
  await page.goto('/settings');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  const other = await product.organization(['read']);
  await page.goto('about:blank');
  await page.goto(`/settings${await linkFor(product, other.keyId)}`);
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  const [me] = await product.database.sql<{ name: string }[]>`
      select name from assay.organizations where organization_id = ${other.organizationId}`;
  await page.getByRole('link', { name: me!.name, exact: true }).waitFor();
});

story(
  'A session that ends shows the log-in, and the same page after it',
  async ({ t, page, organization, product, expectComplaint }) => {
    await page.goto('/settings?range=24h');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    t.ok(await sessionEnds(page, { organization, product }), 'the API refuses the log-in');
    await page.reload();
    await page.getByLabel('API key').fill(organization.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    expectComplaint(/status of 401/);
  },
);

/** Fills a form, ends the log-in, and sends the form. */
async function sendAfterTheEnd({ t, page, organization, product }: Stage): Promise<void> {
  await page.goto('/prompts');
  await page.getByRole('button', { name: 'New prompt' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Greeting');
  await page.getByLabel('Text of message 1').fill('A long text that nobody wants to write again');
  t.ok(await sessionEnds(page, { organization, product }), 'the API refuses the log-in');
  await page.getByRole('button', { name: 'Create prompt' }).click();
  await page.getByLabel('API key').waitFor();
}

async function logIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
}

story('A form that is being filled in outlasts the log-in, and is hidden meanwhile', async (stage) => {
  const { t, page, organization, expectComplaint } = stage;
  await sendAfterTheEnd(stage);
  t.notOk(await page.getByText('New prompt').first().isVisible(), 'nothing of the page is shown');
  await page.keyboard.press('Escape');
  await logIn(page, organization.key);
  await page.getByRole('button', { name: 'Create prompt' }).click();
  await page.getByRole('heading', { name: 'Greeting' }).waitFor();
  await page.getByText('A long text that nobody wants to write again').waitFor();
  expectComplaint(/status of 401/);
});

story('A form that is being filled in is gone when another key logs in', async (stage) => {
  const { t, page, organization, expectComplaint } = stage;
  await sendAfterTheEnd(stage);
  await logIn(page, await organization.keyWith(['read', 'write']));
  await page.getByRole('heading', { name: 'Prompts' }).waitFor();
  await comesTo(t, () => page.getByRole('dialog').count(), 0);
  expectComplaint(/status of 401/);
});

story(
  'Neither a link on another site nor a typed address shows an answer of the API',
  async ({ t, page, context, product, expectComplaint }) => {
    await page.goto('/settings');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    const stranger = await context.newPage();
    const path = `${product.url}/v1/organization`;
    await stranger.goto(`data:text/html,<a href="${path}">a link</a>`);
    await stranger.getByRole('link').click();
    await stranger.getByText('An API key is required').waitFor();
    await stranger.goto(path);
    await stranger.getByText('A log-in is taken from pages of').waitFor();
    await comesTo(t, () => page.evaluate(`fetch('/v1/organization').then(({ status }) => status)`), 200);
    // A document that is no page has no icon either.
    expectComplaint(/status of 40[134]/);
  },
);

story(
  'A log-in whose file is gone says so',
  async ({ page, expectComplaint }) => {
    await page.route('**/assets/login-*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto('/settings');
    await page.getByText('A part of this page could not be fetched').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.getByLabel('API key').waitFor();
    expectComplaint(/status of 40[14]/);
  },
  SIGNED_OUT,
);

accessibleStory(
  'The log-in has no barrier, a refused key included',
  async ({ page, expectComplaint }) => {
    // Without a try of the ten that the address of all stories has a minute.
    const refusal = { data: null, error: 'This API key is not valid' };
    await page.route('**/v1/login', (route) => route.fulfill({ status: 401, json: refusal }));
    await page.goto('/');
    await page.getByLabel('API key').fill('sk-assay-wrong-wrong-wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
    expectComplaint(/status of 401/);
  },
  SIGNED_OUT,
);
