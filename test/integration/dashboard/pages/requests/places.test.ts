import type { Page } from 'playwright-core';
import { becomesTrue, standsStill } from '../../../../support/browser/becomes-true.ts';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';
import { pressAtOnce } from '../../../../support/browser/press-at-once.ts';
import { wheelTo } from '../../../../support/browser/wheel-to.ts';

const ROWS = 600;
const PITCH_MS = 1_000;

type Stage = Parameters<Parameters<typeof story>[1]>[0];

/** Inserts rows of the users `u0`, `u1`, …, the newest first. */
function insertMany(organization: Stage['organization'], count = ROWS) {
  const now = Date.now();
  return organization.insert(
    Array.from({ length: count }, (_, index) => ({
      user_id: `u${index}`,
      created_at: new Date(now - (index + 1) * PITCH_MS),
      latency_ms: 100 + ((index * 7) % count),
    })),
  );
}

/** The link of a user in the list; the drawer may have the same. */
const user = (page: Page, name: string) => page.locator('.grid').getByRole('link', { name, exact: true });
/** Users in the rows that are there, from above. */
const users = (page: Page) => page.locator('.grid-row td:nth-child(5)').allInnerTexts();
/** The user in the uppermost row that is seen, and the offset of the box. */
const PLACE = `(() => {
  const box = document.querySelector('.grid-box');
  const head = box.querySelector('th').getBoundingClientRect().bottom;
  const row = [...box.querySelectorAll('.grid-row')].find((one) => one.getBoundingClientRect().bottom > head + 1);
  // After a jump, the rows are there a frame later.
  if (row === undefined) return null;
  return { user: row.children[4].innerText, from: Math.round(row.getBoundingClientRect().top - head) };
})()`;
type Place = { user: string; from: number };
const placeOf = (page: Page) => page.evaluate<Place | null>(PLACE);
/** Whether the place in this step of the history is the one that is seen. */
const IS_KEPT = `(() => {
  const { id, offset } = history.state?.place ?? {};
  const box = document.querySelector('.grid-box');
  const row = [...box.querySelectorAll('.grid-row')].find((one) => one.innerHTML.includes('Select request ' + id));
  const head = box.querySelector('th').getBoundingClientRect().bottom;
  return row !== undefined && Math.abs(row.getBoundingClientRect().top - head + offset) <= 1;
})()`;
/** Waits until the row of a place is where it was. */
async function waitForPlace(t: Stage['t'], page: Page, place: Place, when: string): Promise<void> {
  await user(page, place.user).waitFor();
  await becomesTrue(page, `JSON.stringify(${PLACE}) === ${JSON.stringify(JSON.stringify(place))}`);
  await comesTo(t, () => placeOf(page), place, when);
}

/** Returns the place once it is kept with the step in the history. */
async function keptPlace(t: Stage['t'], page: Page): Promise<Place> {
  t.ok(await standsStill(page, '.grid-box'));
  t.ok(await becomesTrue(page, IS_KEPT), 'the place is kept');
  return (await placeOf(page))!;
}

/** Keeps how many rows there are in the first frame that has any. */
const COUNT_FIRST = `new MutationObserver((_, observer) => {
  const { length } = document.querySelectorAll('.grid-row');
  if (length === 0) return;
  window.firstRows = length;
  observer.disconnect();
}).observe(document, { childList: true, subtree: true })`;

story(
  'The first frame of a list has the rows of the screen, and no more',
  async ({ t, page, organization }) => {
    await insertMany(organization, 100);
    await page.addInitScript({ content: COUNT_FIRST });
    await page.goto('/requests');
    await user(page, 'u0').waitFor();
    const fitting =
      'Math.ceil(document.querySelector(".grid-box").clientHeight / document.querySelector(".grid-row").clientHeight)';
    const [first, most] = await page.evaluate<[number, number]>(`[window.firstRows, ${fitting} + 1]`);
    t.ok(first > 0 && first <= most, `${first} rows, where ${most} are seen`);
    t.ok(
      await becomesTrue(page, `document.querySelectorAll('.grid-row').length > ${most}`),
      'more rows follow',
    );
  },
);

story(
  'A link with query, order and columns shows the same list in another browser',
  async ({ t, page, context, organization, product }) => {
    await insertMany(organization, 12);
    await page.goto('/requests?q=-user:u3&sort=latency&cols=request_user_id,delay_ms&range=24h');
    await user(page, 'u1').waitFor();
    const shown = await page.locator('.grid').innerText();
    const other = await context.browser()!.newContext({ storageState: await context.storageState() });
    t.teardown(() => other.close());
    const theirs = await other.newPage();
    await theirs.goto(new URL(page.url(), product.url).href);
    await user(theirs, 'u1').waitFor();
    await comesTo(t, () => theirs.locator('.grid').innerText(), shown);
    await comesTo(t, () => user(theirs, 'u3').count(), 0);
  },
);

story('Back and forward restore query, order and the open request', async ({ t, page, organization }) => {
  const rows = await insertMany(organization, 30);
  await page.goto('/requests');
  await user(page, 'u5').click();
  await page.getByText('1 request', { exact: true }).waitFor();
  await user(page, 'u7').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Latency' }).click();
  await page.waitForURL(/sort=/);
  await page.locator('.requests-list:not(.busy)').waitFor();
  await page.locator('.grid-row a').first().click();
  const drawer = page.getByRole('complementary', { name: 'Request' });
  await drawer.getByText(rows[5]!.request_id).waitFor();
  const all = page.url();
  await page.goBack();
  await drawer.waitFor({ state: 'detached' });
  await page.goBack();
  await page.waitForURL((url) => !url.searchParams.has('sort'));
  await page.goBack();
  await user(page, 'u7').waitFor();
  await page.goForward();
  await page.getByText('1 request', { exact: true }).waitFor();
  await page.goForward();
  await page.goForward();
  await drawer.getByText(rows[5]!.request_id).waitFor();
  await user(page, 'u7').waitFor({ state: 'detached' });
  t.equal(page.url(), all);
  await comesTo(t, () => users(page), ['u5']);
});

story(
  'The place in the middle of 600 rows is there again after back, forward and a reload',
  async ({ t, page, organization }) => {
    await insertMany(organization);
    await page.goto('/requests');
    await user(page, 'u0').waitFor();
    await wheelTo(page, user(page, 'u300'), 700);
    const place = await keptPlace(t, page);
    await pressAtOnce(page, ['g', 'k']);
    await page.waitForURL(/\/keys/);
    await page.goBack();
    await waitForPlace(t, page, place, 'after back');
    await page.reload();
    await waitForPlace(t, page, place, 'after a reload');
    await page.goForward();
    await page.waitForURL(/\/keys/);
    await page.goBack();
    await waitForPlace(t, page, place, 'after a reload, forward and back');
  },
);

story(
  'A request that is opened leaves the list where it is, also after a reload and after back',
  async ({ t, page, organization }) => {
    await insertMany(organization);
    await page.goto('/requests');
    await user(page, 'u0').waitFor();
    await wheelTo(page, user(page, 'u300'), 700);
    await page.locator('.grid-row', { hasText: 'u300' }).getByRole('link').first().click();
    const drawer = page.getByRole('complementary', { name: 'Request' });
    await drawer.getByRole('tablist').waitFor();
    const place = await keptPlace(t, page);
    await page.reload();
    await drawer.getByRole('tablist').waitFor();
    await waitForPlace(t, page, place, 'after a reload');
    await page.goBack();
    await drawer.waitFor({ state: 'detached' });
    await waitForPlace(t, page, place, 'after back');
  },
);

story(
  'A link to a request in the middle shows it among its neighbours, and each row once in both directions',
  async ({ t, page, organization }) => {
    const rows = await insertMany(organization);
    await page.goto(`/requests?r=${rows[300]!.request_id}`);
    await user(page, 'u300').waitFor();
    const seen = new Set<string>();
    const look = async () => {
      const now = await users(page);
      const numbers = now.map((name) => Number(name.slice(1)));
      t.same(
        numbers,
        numbers.map((_, index) => numbers[0]! + index),
        'no row is missing or there twice',
      );
      for (const name of now) seen.add(name);
    };
    await wheelTo(page, user(page, 'u0'), -300, look);
    await wheelTo(page, user(page, `u${ROWS - 1}`), 300, look);
    t.equal(seen.size, ROWS);
  },
);

story(
  'A click on a title orders the list, again reverses it, and once more ends it',
  async ({ t, page, organization }) => {
    await organization.insert([
      { user_id: 'mid', latency_ms: 200 },
      { user_id: 'slow', latency_ms: 300 },
      { user_id: 'fast', latency_ms: 100 },
    ]);
    await page.goto('/requests');
    await user(page, 'mid').waitFor();
    const title = page.getByRole('columnheader', { name: 'Latency' });
    const orders: string[][] = [];
    for (const direction of ['descending', 'ascending', null]) {
      const answer = page.waitForResponse(/\/v1\/request\/rows/);
      await title.getByRole('button').click();
      await answer;
      if (direction === null) await page.locator('th[aria-sort]').waitFor({ state: 'detached' });
      else await page.locator(`th[aria-sort=${direction}]`).waitFor();
      await page.locator('.requests-list:not(.busy)').waitFor();
      orders.push(await users(page));
    }
    t.same(orders.slice(0, 2), [
      ['slow', 'mid', 'fast'],
      ['fast', 'mid', 'slow'],
    ]);
    t.not(new URL(page.url()).searchParams.has('sort'), true);
  },
);
