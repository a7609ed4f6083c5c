import type { Page } from 'playwright-core';
import { becomesTrue } from '../../../../support/browser/becomes-true.ts';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';
import { wheelTo } from '../../../../support/browser/wheel-to.ts';
import { callAs } from '../as.ts';

const user = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
const HIDE = `(() => {
  Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
})()`;
const SHOW = `(() => {
  Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
})()`;
/** The pause between an answer and the next call. */
const PAUSE_MS = 1_000;
/** Notes the calls for rows with the clock of the page, so that a busy machine makes the pauses no shorter. */
const WATCH = `
  globalThis.calls = [];
  const ownFetch = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    if (!String(given[0].url ?? given[0]).endsWith('/v1/request/rows')) return ownFetch(...given);
    const call = { begunMs: performance.now(), isHidden: document.visibilityState === 'hidden' };
    globalThis.calls.push(call);
    try {
      return await ownFetch(...given);
    } finally {
      call.endedMs = performance.now();
    }
  };`;
type Call = { begunMs: number; endedMs: number; isHidden: boolean };

story(
  'A live list shows a new request by itself, asks a second after each answer, and not while the page is hidden',
  async ({ t, page, organization }) => {
    await organization.insert([{ user_id: 'anna' }]);
    await page.addInitScript({ content: WATCH });
    await page.goto('/requests?live=1');
    await user(page, 'anna').waitFor();
    t.ok(await becomesTrue(page, 'globalThis.calls.length >= 4'), 'it asks again and again');
    await organization.insert([{ user_id: 'bob' }]);
    await user(page, 'bob').waitFor();
    await page.evaluate(HIDE);
    // What must not happen has time to happen.
    await page.waitForTimeout(3 * PAUSE_MS);
    await organization.insert([{ user_id: 'carol' }]);
    await page.evaluate(SHOW);
    await user(page, 'carol').waitFor();
    const calls = await page.evaluate<Call[]>('globalThis.calls');
    const pauses = calls.slice(1).map(({ begunMs }, index) => begunMs - calls[index]!.endedMs);
    // Timers are rounded to milliseconds.
    t.same(
      pauses.filter((ms) => ms < PAUSE_MS - 2),
      [],
      'no call comes earlier',
    );
    t.notOk(
      calls.some(({ isHidden }) => isHidden),
      'none while the page is hidden',
    );
  },
);

story(
  'A list that is opened as the minute ends asks for its rows once',
  async ({ t, page, organization }) => {
    await organization.insert([{ user_id: 'anna' }]);
    // The minute ends with the answer to the call that is made before the page is rendered.
    await page.addInitScript({
      content: `
        ${WATCH}
        const ownNow = Date.now;
        const minuteMs = 60_000;
        const lateMs = minuteMs - (ownNow() % minuteMs) - 500;
        Date.now = () => ownNow() + lateMs + (globalThis.calls.length > 0 ? 600 : 0);`,
    });
    await page.goto('/requests');
    await user(page, 'anna').waitFor();
    t.equal(await page.evaluate('globalThis.calls.length'), 1);
  },
);

story(
  'A live list that is scrolled stays where it is while newer requests come',
  async ({ t, page, organization }) => {
    const now = Date.now();
    await organization.insert(
      Array.from({ length: 250 }, (_, index) => ({
        user_id: `u${index}`,
        created_at: new Date(now - 5_000 - index * 100),
      })),
    );
    await page.goto('/requests?live=1');
    await user(page, 'u0').waitFor();
    await wheelTo(page, user(page, 'u180'), 500);
    const topOf = async () => Math.round((await user(page, 'u180').boundingBox())!.y);
    const before = await topOf();
    const answer = () =>
      page.waitForResponse(async (response) => {
        if (!response.url().endsWith('/v1/request/rows')) return false;
        // One that the page has given up has no text.
        return (await response.text().catch(() => '')).includes('newcomer');
      });
    const come = answer();
    await organization.insert([{ user_id: 'newcomer' }]);
    await come;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await comesTo(t, () => topOf(), before);
    await page.evaluate("document.querySelector('.grid-box').scrollTop = 0");
    await user(page, 'newcomer').waitFor();
  },
);

story(
  'When more than a page comes while older rows are loaded, no row is missing between the two',
  async ({ t, page, organization }) => {
    const now = Date.now();
    const insert = (name: string, count: number, newestMs: number) =>
      organization.insert(
        Array.from({ length: count }, (_, index) => ({
          user_id: `${name}${index}`,
          created_at: new Date(newestMs - index * 10),
        })),
      );
    await insert('u', 150, now - 60_000);
    const held = Promise.withResolvers<void>();
    const isAsked = Promise.withResolvers<void>();
    let isFirst = true;
    await page.route('**/v1/request/rows', async (route) => {
      if (isFirst && route.request().postData()?.includes('"after"')) {
        isFirst = false;
        isAsked.resolve();
        await held.promise;
      }
      await route.continue();
    });
    await page.goto('/requests?live=1');
    await user(page, 'u0').waitFor();
    await page.locator('.grid-box').evaluate((box) => box.scrollTo(0, 3_000));
    await isAsked.promise;
    const older = page.waitForResponse(
      (response) => response.request().postData()?.includes('"after"') ?? false,
    );
    await insert('n', 150, now - 20_000);
    await page.locator('.grid-row', { hasText: /n\d/ }).first().waitFor();
    held.resolve();
    await older;
    const seen = new Set<string>();
    await page.locator('.grid-box').evaluate((box) => box.scrollTo(0, 0));
    for (let turns = 0; turns < 300 && !seen.has('u149'); turns++) {
      for (const text of await page.locator('.grid-row').getByRole('link').allTextContents())
        if (/^[nu]\d+$/.test(text)) seen.add(text);
      await page.locator('.grid-box').evaluate((box) => box.scrollBy(0, 300));
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
    t.equal(seen.size, 300);
  },
);

story('A rating that another gives later is shown in place of the own one', async ({ page, ...stage }) => {
  const [row] = await stage.organization.insert([{ user_id: 'anna' }]);
  await page.goto('/requests?live=1');
  await user(page, 'anna').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('+');
  await page.locator('.grid-row').getByText('▲ good').waitFor();
  await callAs(stage, 'POST', `/v1/request/${row!.request_id}/feedback`, { rating: false });
  await page.locator('.grid-row').getByText('▼ bad').waitFor();
});
