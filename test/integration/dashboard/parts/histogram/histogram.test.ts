import type { Page } from 'playwright-core';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A whole day that has passed, in the browser's time zone, which is UTC. */
const FROM = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;
const RANGE = `${new Date(FROM).toISOString()}..${new Date(FROM + DAY_MS).toISOString()}`;
const slider = (page: Page) => page.getByRole('slider', { name: 'Requests over time' });

/** One request an hour of one day; of the second hour an error. */
async function open({ page, organization }: Pick<Stage, 'page' | 'organization'>): Promise<number> {
  await organization.insert(
    Array.from({ length: 24 }, (_, hour) => ({
      created_at: new Date(FROM + hour * HOUR_MS + 1),
      status: hour === 1 ? 500 : 200,
    })),
  );
  await page.goto(`/requests?range=${RANGE}`);
  const table = page.getByRole('table', { name: 'Requests over time' });
  await table.locator('tbody tr').first().waitFor({ state: 'attached' });
  return await table.locator('tbody tr').count();
}

/** Waits until the address has a range, and returns it. */
async function chosen(page: Page): Promise<{ from: number; to: number }> {
  await page.waitForURL((url) => url.searchParams.get('range') !== RANGE);
  const [from, to] = new URL(page.url()).searchParams.get('range')!.split('..').map(Date.parse);
  return { from: from!, to: to! };
}

story('The bars are a table, too, with requests and errors', async ({ t, page, organization }) => {
  const bars = await open({ page, organization });
  const cells = await page.getByRole('table', { name: 'Requests over time' }).locator('td').allTextContents();
  const sum = (of: number) =>
    cells.reduce((total, cell, at) => total + (at % 2 === of ? Number(cell) : 0), 0);
  t.same([sum(0), sum(1)], [24, 1]);
  t.ok(bars >= 24);
});

story('Bars have all requests of the list, calls of experiments too', async ({ t, page, organization }) => {
  await organization.insert([{ source: 'experiment', created_at: new Date(FROM + 1), status: 500 }]);
  await open({ page, organization });
  await page.getByText('25 requests', { exact: true }).waitFor();
  const rows = page.getByRole('table', { name: 'Requests over time' }).locator('tbody tr');
  t.match(await rows.first().locator('td').allTextContents(), ['2', '1']);
});

story(
  'The arrows choose a bar, Shift more of them, and Enter makes them the range',
  async ({ t, page, organization }) => {
    const bars = await open({ page, organization });
    const width = DAY_MS / bars;
    await slider(page).focus();
    await page.keyboard.press('ArrowRight');
    await comesToMatch(t, () => slider(page).getAttribute('aria-valuetext'), /: 1 requests, 0 errors$/);
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Enter');
    await comesTo(t, () => chosen(page), { from: FROM, to: FROM + 2 * width });
  },
);

story('Dragging over bars makes them the range', async ({ t, page, organization }) => {
  const bars = await open({ page, organization });
  // The count of the quick filter above the bars is the last that could move them.
  await page.getByRole('button', { name: /^Errors\s*1$/ }).waitFor();
  const box = (await slider(page).boundingBox())!;
  const xOf = (bar: number) => box.x + ((bar + 0.5) * box.width) / bars;
  await page.mouse.move(xOf(2), box.y + 20);
  await page.mouse.down();
  await page.mouse.move(xOf(5), box.y + 20);
  await page.mouse.up();
  const width = DAY_MS / bars;
  await comesTo(t, () => chosen(page), { from: FROM + 2 * width, to: FROM + 6 * width });
});
