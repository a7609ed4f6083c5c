import type { Page } from 'playwright-core';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

const titles = (page: Page) => page.locator('.grid th').allTextContents();
const columnsOf = (page: Page) => new URL(page.url()).searchParams.get('cols');
/** Names that break what does not quote: separators of the address, operators of the query, HTML, and what objects have. */
const HOSTILE = [
  'a,b',
  '100%',
  '%2C',
  'x:y',
  '"q"',
  "it's",
  '<b>',
  '__proto__',
  'constructor',
  'a b',
  'é&=#?/',
  '日本',
];

async function choose(
  page: Page,
  work: (dialog: ReturnType<Page['getByRole']>) => Promise<void>,
): Promise<void> {
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Columns…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Columns' });
  await work(dialog);
  await dialog.waitFor({ state: 'detached' });
}

story('Columns are chosen and moved, and are in the address', async ({ t, page, organization }) => {
  await organization.insert([{ user_id: 'anna', properties: { Plan: 'team' } }]);
  await page.goto('/requests');
  await page.getByRole('link', { name: 'anna' }).waitFor();
  await choose(page, async (dialog) => {
    for (const name of ['Input', 'Output', 'Latency', 'Tokens', 'Cost', 'Scores', 'Model'])
      await dialog.getByRole('button', { name: `Hide ${name}`, exact: true }).click();
    await dialog.getByRole('button', { name: '+ Property Plan' }).click();
    await dialog.getByRole('button', { name: 'Property Plan: further left' }).click();
    await dialog.getByRole('button', { name: 'Show these' }).click();
  });
  await page.getByRole('link', { name: 'team' }).waitFor();
  await comesTo(t, () => titles(page), ['Selected', 'Time', 'Status', 'Plan', 'User']);
  t.equal(columnsOf(page), 'request_created_at,response_status,property:Plan,request_user_id');
  await page.reload();
  await page.getByRole('link', { name: 'team' }).waitFor();
  await comesTo(t, () => titles(page), ['Selected', 'Time', 'Status', 'Plan', 'User']);
  await choose(page, async (dialog) => {
    await dialog.getByRole('button', { name: 'As at first' }).click();
    await dialog.getByRole('button', { name: 'Show these' }).click();
  });
  await page.getByRole('columnheader', { name: 'Cost' }).waitFor();
  t.equal(columnsOf(page), null);
});

story(
  'Properties of any name are columns, after a reload too, and their values filter',
  async ({ t, page, organization }) => {
    await organization.insert([
      {
        user_id: 'anna',
        properties: Object.fromEntries(HOSTILE.map((name, index) => [name, `value ${index}`])),
      },
      { user_id: 'bob' },
    ]);
    await page.goto('/requests?cols=request_user_id');
    await page.getByRole('link', { name: 'anna' }).waitFor();
    await choose(page, async (dialog) => {
      for (const name of HOSTILE)
        await dialog.getByRole('button', { name: `+ Property ${name}`, exact: true }).click();
      await dialog.getByRole('button', { name: 'Show these' }).click();
    });
    for (const shown of ['at first', 'after a reload']) {
      await page.getByRole('link', { name: 'value 0', exact: true }).waitFor();
      await comesTo(t, () => titles(page), ['Selected', 'User', ...HOSTILE], shown);
      const cells = await page.locator('.grid-row', { hasText: 'anna' }).locator('td').allTextContents();
      t.same(cells.slice(1), ['anna', ...HOSTILE.map((_, index) => `value ${index}`)], shown);
      await page.reload();
    }
    const url = page.url();
    for (const index of HOSTILE.keys()) {
      await page.goto(url);
      await page.getByRole('link', { name: `value ${index}`, exact: true }).click();
      await page.getByText('1 request', { exact: true }).waitFor();
    }
  },
);

story('A score is a column when the address names it', async ({ t, page, organization }) => {
  await organization.insert([{ user_id: 'anna', scores: { helpful: 0.5 } }]);
  await page.goto('/requests?cols=request_user_id,score:helpful');
  await page.getByRole('link', { name: 'anna' }).waitFor();
  await comesTo(t, () => titles(page), ['Selected', 'User', 'helpful']);
  await page.getByRole('link', { name: '0.5' }).click();
  await page.waitForURL((url) => url.searchParams.get('q') === 'scores.helpful:0.5');
});

/** Whether nothing of what is in an element is cut off. */
const isWhole = (page: Page, selector: string) =>
  page.evaluate<boolean>(`(() => {
    const { scrollWidth, clientWidth } = document.querySelector(${JSON.stringify(selector)});
    return scrollWidth <= clientWidth;
  })()`);

story(
  'The first list fits a screen of 1,440 pixels, with whole times of other days and whole costs',
  async (stage) => {
    const { t, page, organization } = stage;
    const yesterday = new Date(Date.now() - 86_400_000);
    await organization.insert([{ user_id: 'anna', created_at: yesterday, cost_nano: 3_500 }]);
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto('/requests?range=30d');
    await page.getByRole('link', { name: 'anna' }).waitFor();
    const time = await page.locator('.grid-row td').nth(1).innerText();
    t.match(time, /^[A-Z][a-z]{2} \d\d, (\d{4}, )?\d\d:\d\d:\d\d$/);
    t.ok(await isWhole(page, '.grid-row td:nth-child(2)'), 'the time is whole');
    await comesTo(t, () => page.locator('.grid-row td:nth-child(10)').innerText(), '$0.0000035');
    t.ok(await isWhole(page, '.grid-row td:nth-child(10)'), 'the cost is whole');
    t.ok(await isWhole(page, '.grid-box'), 'nothing is beyond the edge');
  },
);
