import type { Page } from 'playwright-core';
import { becomesTrue } from '../../../../support/browser/becomes-true.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';
import { pressAtOnce } from '../../../../support/browser/press-at-once.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];

/** Keys as Playwright names them, by what the sheet shows. */
const KEYS: Readonly<Record<string, string>> = { '↑': 'ArrowUp', '↓': 'ArrowDown', Ctrl: 'Control' };
const SHEET = `[...document.querySelectorAll('.key-sheet dt')].map((one) =>
  [...one.querySelectorAll('kbd')].map((key) => key.textContent).join(', '))`;
const CURRENT = `document.querySelector('[aria-current=true] td:nth-child(5)')?.textContent`;

/** Presses what the sheet shows: `Ctrl k`, or `g, r` for keys one after the other. */
async function press(page: Page, shown: string): Promise<void> {
  const chords = shown.split(', ').map((chord) =>
    chord
      .split(' ')
      .map((key) => KEYS[key] ?? key)
      .join('+'),
  );
  await pressAtOnce(page, chords);
}

const drawer = (page: Page) => page.getByRole('complementary', { name: 'Request' });
const hasQuery = (page: Page, name: string, value: string | null) =>
  page.waitForURL((url) => url.searchParams.get(name) === value);
const current = (page: Page, name: string) =>
  page.locator('[aria-current=true]', { hasText: name }).waitFor();
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name }).waitFor();
const isSelected = (page: Page, count: number) =>
  page.getByText(`${count} selected`, { exact: true }).waitFor();
const goesTo = (path: string) => (page: Page) => page.waitForURL((url) => url.pathname === path);

type Check = (page: Page, stage: Stage) => Promise<unknown>;
/** What each key of the sheet does while the second of four rows is open; the fourth one is an error, and the first. */
const CHECKS: Readonly<Record<string, Check>> = {
  '?': (page) => dialog(page, 'Keys'),
  'Ctrl k': (page) => dialog(page, 'Go to'),
  d: (page) => page.getByRole('button', { name: 'Light' }).waitFor(),
  '/': (page) => page.locator('textarea:focus').waitFor(),
  t: (page) => dialog(page, 'Time range'),
  j: (page) => current(page, 'u2'),
  k: (page) => current(page, 'u0'),
  '↓': (page) => current(page, 'u2'),
  '↑': (page) => current(page, 'u0'),
  Enter: (page) => page.locator('.drawer-body:focus').waitFor(),
  o: (page) => page.waitForURL(/\/requests\/\w+$/),
  e: (page) => current(page, 'u3'),
  'Shift e': (page) => current(page, 'u0'),
  x: (page) => isSelected(page, 1),
  'Shift x': async (page) => {
    // From the row that was selected last; alone, it selects one.
    await isSelected(page, 1);
    await press(page, 'j');
    await press(page, 'j');
    await current(page, 'u3');
    await press(page, 'Shift x');
    await isSelected(page, 3);
  },
  c: (page) => page.waitForURL(/\/compare/),
  r: (page) => page.waitForURL(/\/playground\?from=\w+/),
  y: (page) => page.getByText('Link copied').waitFor(),
  'Shift y': (page) => page.getByText('cURL copied').waitFor(),
  '+': async (page) => {
    await drawer(page).getByRole('button', { name: 'Good', pressed: true }).waitFor();
    await page.locator('[aria-current=true]').getByTitle('Rated good').waitFor();
  },
  '-': async (page) => {
    await drawer(page).getByRole('button', { name: 'Bad', pressed: true }).waitFor();
    await page.locator('[aria-current=true]').getByTitle('Rated bad').waitFor();
  },
  f: async (page) => {
    await page.locator('[aria-current=true]').getByRole('link', { name: 'u1' }).focus();
    await press(page, 'f');
    await hasQuery(page, 'q', 'user:u1');
  },
  l: (page) => hasQuery(page, 'live', '1'),
  Escape: (page) => drawer(page).waitFor({ state: 'detached' }),
  '[': (page) => hasQuery(page, 'tab', 'properties'),
  ']': (page) => hasQuery(page, 'tab', 'request'),
  'g, o': goesTo('/'),
  'g, r': goesTo('/requests'),
  'g, s': goesTo('/sessions'),
  'g, u': goesTo('/users'),
  'g, e': goesTo('/evaluators'),
  'g, p': goesTo('/prompts'),
  'g, y': goesTo('/playground'),
  'g, t': goesTo('/datasets'),
  'g, x': goesTo('/experiments'),
  'g, v': goesTo('/review'),
  'g, l': goesTo('/limits'),
  'g, k': goesTo('/keys'),
  'g, w': goesTo('/webhooks'),
  'g, a': goesTo('/alerts'),
  'g, d': goesTo('/dead-letters'),
  'g, h': goesTo('/system'),
};
const CLIPBOARD = { context: { permissions: ['clipboard-read', 'clipboard-write'] } };

/** Inserts four requests and opens the second. */
async function open({ organization }: Stage): Promise<string> {
  const now = Date.now();
  const rows = await organization.insert(
    [500, 200, 200, 500].map((status, index) => ({
      status,
      user_id: `u${index}`,
      created_at: new Date(now - (index + 1) * 1_000),
      request_text: '{"model":"gpt-4o","messages":[{"role":"user","content":"What is the time?"}]}',
    })),
  );
  return `/requests?r=${rows[1]!.request_id}`;
}

async function show(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('[aria-current=true]', { hasText: 'u1' }).waitFor();
  await drawer(page).getByRole('tablist').waitFor();
}

/** All that Tab reaches, in the order of the page. */
const FOCUSABLE = `[...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"], summary')]
  .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }))`;
/** Whether nothing that Tab reaches comes or goes for some frames. */
const IS_COMPLETE = `(async () => {
  const count = () => ${FOCUSABLE}.length;
  const before = count();
  for (let frames = 0; frames < 10; frames++) {
    await new Promise((done) => requestAnimationFrame(done));
    if (count() !== before) return false;
  }
  return true;
})()`;

/** Shows a page of `open`, and waits for the parts that are fetched late: they come between the others. */
async function showAll(stage: Stage, url: string): Promise<void> {
  const { t, page } = stage;
  await show(page, url);
  await page.getByRole('button', { name: /^Errors\s*2$/ }).waitFor();
  await page.getByRole('button', { name: 'More' }).waitFor();
  await drawer(page).locator('.conversation').getByText('What is the time?').waitFor();
  t.ok(await becomesTrue(page, IS_COMPLETE), 'no part comes any more');
}

story(
  'Each key of the sheet does what the sheet says',
  async (stage) => {
    const { t, page } = stage;
    const url = await open(stage);
    await show(page, url);
    await page.keyboard.press('?');
    await dialog(page, 'Keys');
    const keys = await page.evaluate<string[]>(SHEET);
    t.same(keys.toSorted(), Object.keys(CHECKS).toSorted(), 'all keys of the sheet are tried');
    for (const [key, check] of Object.entries(CHECKS)) {
      // Those work on every page.
      if (!key.startsWith('g, ')) await show(page, url);
      await press(page, key);
      await t.resolves(check(page, stage), `${key} works`);
    }
    await page.evaluate('localStorage.clear()');
  },
  CLIPBOARD,
);

/** What keys change. */
const STATE = `JSON.stringify([location.href, ${CURRENT}, document.documentElement.style.colorScheme,
  document.querySelectorAll(':checked').length, document.querySelectorAll('dialog').length])`;
/** They close the dialog, or leave the field. */
const OF_DIALOGS = new Set(['Escape', 'Enter', 'Ctrl k']);

story('No key works while a query is typed: its letters are text', async (stage) => {
  const { t, page } = stage;
  await showAll(stage, await open(stage));
  const field = page.getByRole('textbox', { name: 'Query' });
  await field.focus();
  const before = await page.evaluate(STATE);
  const keys = Object.keys(CHECKS).filter((key) => !OF_DIALOGS.has(key));
  for (const key of keys) await press(page, key);
  t.equal(await page.evaluate(STATE), before);
  await comesToMatch(t, () => field.inputValue(), 'tjk', 'they were typed');
});

story('No key of the page works behind a dialog', async (stage) => {
  const { t, page } = stage;
  await showAll(stage, await open(stage));
  await page.keyboard.press('?');
  await dialog(page, 'Keys');
  const before = await page.evaluate(STATE);
  for (const key of Object.keys(CHECKS)) if (!OF_DIALOGS.has(key)) await press(page, key);
  t.equal(await page.evaluate(STATE), before);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await drawer(page).waitFor();
});

const DRAWER_BODY = `document.querySelector('.drawer-body')`;

story('Enter presses the button that has the focus, and arrows scroll the request', async (stage) => {
  const { t, page } = stage;
  await show(page, await open(stage));
  await page.getByRole('button', { name: 'Live' }).focus();
  await page.keyboard.press('Enter');
  await hasQuery(page, 'live', '1');
  await page.keyboard.press('Enter');
  await hasQuery(page, 'live', null);
  await page.locator('[aria-current=true]').getByRole('link', { name: 'u1' }).focus();
  await page.keyboard.press('Enter');
  await hasQuery(page, 'q', 'user:u1');
  await page.setViewportSize({ width: 1_440, height: 320 });
  const canScroll = `(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(${DRAWER_BODY})`;
  t.ok(await becomesTrue(page, canScroll), 'there is more than can be seen');
  await page.locator('.drawer-body').focus();
  await page.keyboard.press('ArrowDown');
  t.ok(await becomesTrue(page, `${DRAWER_BODY}.scrollTop > 0`), 'it scrolled');
  await current(page, 'u1');
});

story(
  'The focus returns to the row when the request is closed, and to the button behind a dialog',
  async (stage) => {
    const { t, page } = stage;
    await show(page, await open(stage));
    await page.getByRole('button', { name: 'Close the request' }).press('Enter');
    await drawer(page).waitFor({ state: 'detached' });
    await comesTo(
      t,
      () => page.evaluate(`document.activeElement.closest('tr')?.children[4].textContent`),
      'u1',
    );
    const keys = page.getByRole('button', { name: 'Keys' });
    await keys.press('Enter');
    await dialog(page, 'Keys');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await comesToMatch(t, () => page.evaluate('document.activeElement.textContent'), /^Keys/);
  },
);

story('Tab reaches all that can be pressed, once, in the order of the page', async (stage) => {
  const { t, page } = stage;
  await showAll(stage, await open(stage));
  const wanted = await page.evaluate<number>(`(() => {
    const all = ${FOCUSABLE};
    all.forEach((one, index) => { one.dataset.order = String(index); });
    document.activeElement.blur();
    return all.length;
  })()`);
  const order: (string | null)[] = [];
  for (let at = 0; at < wanted; at++) {
    await page.keyboard.press('Tab');
    order.push(
      await page.evaluate(
        'document.activeElement.dataset.order ?? document.activeElement.outerHTML.slice(0, 200)',
      ),
    );
  }
  t.same(
    order,
    Array.from({ length: wanted }, (_, index) => String(index)),
  );
});

story('A key that finds no error among the loaded rows says so', async (stage) => {
  const { page, organization } = stage;
  await organization.insert([{ user_id: 'u0' }]);
  await page.goto('/requests');
  await page.locator('.grid').getByRole('link', { name: 'u0' }).waitFor();
  await page.keyboard.press('e');
  await page.getByText('No error below among the loaded rows').waitFor();
});

story('A key with Alt is another key', async (stage) => {
  const { t, page, organization } = stage;
  await organization.insert([{ user_id: 'u0' }]);
  await page.goto('/requests');
  await page.locator('.grid').getByRole('link', { name: 'u0' }).waitFor();
  const ratings: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/feedback')) ratings.push(request.postDataJSON());
  });
  await page.keyboard.press('j');
  // Browsers go to another tab by Alt and a digit, and to another page by Alt and an arrow.
  await page.keyboard.press('Alt+-');
  await page.keyboard.press('+');
  await page.locator('.grid').getByText('▲ good').waitFor();
  t.same(ratings, [{ rating: true }]);
});

story('A bracket for which a keyboard needs Alt goes to another tab', async (stage) => {
  const { page } = stage;
  await show(page, await open(stage));
  await page.keyboard.press('Alt+]');
  await hasQuery(page, 'tab', 'request');
});

story(
  'After a click on a value, j and Enter open the next request instead of following the value again',
  async ({ page, organization }) => {
    await organization.insert([{ user_id: 'anna' }, { user_id: 'bob' }]);
    await page.goto('/requests');
    await page.locator('.grid').getByRole('link', { name: 'anna' }).click();
    await page.getByText('1 request', { exact: true }).waitFor();
    await page.locator('.grid').getByRole('link', { name: 'bob' }).waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    await current(page, 'anna');
    await page.keyboard.press('Enter');
    await drawer(page).getByRole('tablist').waitFor();
  },
);
