import type { Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { pressAtOnce } from '../../../../support/browser/press-at-once.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Go to' });
const SCHEME = 'document.documentElement.style.colorScheme';

story(
  'The palette goes to a page by arrows and Enter, and to what a pasted id names',
  async ({ t, page, organization }) => {
    const [row] = await organization.insert([{ user_id: 'anna-1234567' }]);
    await page.goto('/keys');
    await page.getByRole('navigation').waitFor();
    await page.keyboard.press('Control+k');
    await palette(page).waitFor();
    await page.keyboard.type('re');
    await page.keyboard.press('Enter');
    await page.waitForURL('/requests');
    await page.getByRole('textbox', { name: 'Query' }).focus();
    // It opens while somebody types, too.
    await page.keyboard.press('Control+k');
    await palette(page).getByRole('combobox').fill(row!.request_id);
    await palette(page).getByRole('option', { name: 'Open request' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`/requests/${row!.request_id}`);
    await page.keyboard.press('Control+k');
    await palette(page).getByRole('combobox').fill('anna-1234567');
    await palette(page).getByRole('option', { name: 'Requests of user' }).click();
    await page.waitForURL((url) => url.searchParams.get('q') === 'user:"anna-1234567"');
    await page.getByText('1 request', { exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    t.match(page.url(), 'anna-1234567');
  },
);

story(
  'While the palette is fetched no key acts on the page, and Escape gives it up',
  async ({ t, page, context }) => {
    const fetched = Promise.withResolvers<void>();
    let isHeld = false;
    // Before the page is there: Chromium may let a request pass that comes while it begins to intercept them.
    await context.route('**/assets/*.js', async (route) => {
      if (isHeld) await fetched.promise;
      await route.continue();
    });
    await page.goto('/settings');
    await page.getByRole('heading', { level: 1 }).waitFor();
    isHeld = true;
    const asked = page.waitForRequest('**/assets/*.js');
    await page.keyboard.press('Control+k');
    await asked;
    await pressAtOnce(page, ['g', 'k']);
    t.match(page.url(), '/settings');
    await page.keyboard.press('Escape');
    await pressAtOnce(page, ['g', 'w']);
    fetched.resolve();
    await page.waitForURL('**/webhooks');
    await comesTo(t, () => palette(page).count(), 0);
  },
);

story(
  'The page of the address is marked in the navigation, also below it',
  async ({ t, page, organization }) => {
    const [row] = await organization.insert([{}]);
    const marked = page.locator('[aria-current=page]');
    for (const [url, label] of [
      ['/requests', 'Requests'],
      [`/requests/${row!.request_id}`, 'Requests'],
      ['/keys', 'Keys'],
    ] as const) {
      await page.goto(url);
      await marked.waitFor();
      await comesTo(t, () => marked.textContent(), label);
    }
  },
);

story('The colours are chosen by the button and by d, and are kept', async ({ t, page }) => {
  await page.goto('/keys');
  const button = page.getByRole('button', { name: 'System colours' });
  await button.click();
  await page.getByRole('button', { name: 'Light' }).waitFor();
  await comesTo(t, () => page.evaluate(SCHEME), 'light');
  await page.keyboard.press('d');
  await page.getByRole('button', { name: 'Dark' }).waitFor();
  await comesTo(t, () => page.evaluate(SCHEME), 'dark');
  await page.reload();
  await page.getByRole('button', { name: 'Dark' }).waitFor();
  await comesTo(t, () => page.evaluate(SCHEME), 'dark');
});

story('The first Tab skips the navigation', async ({ t, page }) => {
  await page.goto('/keys');
  await page.getByRole('navigation').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await comesTo(t, () => page.evaluate('document.activeElement.id'), 'page');
});

story(
  'On a phone the navigation is behind a button, and closes on the next page',
  async ({ t, page }) => {
    await page.goto('/keys');
    const menu = page.getByRole('button', { name: 'Menu' });
    await menu.waitFor();
    const link = page.getByRole('link', { name: 'Users' });
    await comesTo(t, () => link.isVisible(), false);
    await menu.click();
    await link.click();
    await page.waitForURL('/users');
    await comesTo(t, () => menu.getAttribute('aria-expanded'), 'false');
    await comesTo(t, () => link.isVisible(), false);
  },
  { context: { viewport: { width: 320, height: 700 } } },
);

story(
  'A view is saved for the organization, opened by a click, and deleted',
  async ({ t, page, organization }) => {
    await organization.insert([{ user_id: 'anna' }, { user_id: 'bob' }]);
    await page.goto('/requests?q=user:anna&sort=-cost&tab=request&live=1');
    const views = page.getByRole('button', { name: 'Views' });
    await views.click();
    await page.getByText('No view is saved yet.').waitFor();
    await page.getByRole('button', { name: 'Save this view…' }).click();
    await page.getByLabel('Name').fill("Anna's <b>dearest</b>");
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved for everybody').waitFor();
    await page.goto('/requests');
    await page.getByText('2 requests', { exact: true }).waitFor();
    await views.click();
    await page.getByRole('link', { name: "Anna's <b>dearest</b>" }).click();
    await page.getByText('1 request', { exact: true }).waitFor();
    t.same(Object.fromEntries(new URL(page.url()).searchParams), { q: 'user:anna', sort: '-cost' });
    await views.click();
    await page.getByRole('button', { name: /^Delete the view/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await views.click();
    await page.getByText('No view is saved yet.').waitFor();
  },
);

accessibleStory('The palette has no barrier', async ({ page }) => {
  await page.goto('/keys');
  await page.getByRole('navigation').waitFor();
  await page.keyboard.press('Control+k');
  await palette(page).getByRole('option').first().waitFor();
});

accessibleStory('The sheet of keys has no barrier', async ({ page, organization }) => {
  await organization.insert([{}]);
  await page.goto('/requests');
  await page.locator('.grid-row').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
});
