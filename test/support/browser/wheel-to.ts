/** Scrolling a list as a reader does, by the wheel. */
import type { Locator, Page } from 'playwright-core';
import { standsStill } from './becomes-true.ts';

/** Turns at the end of the list, one after another, after which no further row is expected. */
const MOST_TURNS_AT_END = 200;

/**
 * Turns the wheel over the list of requests until an element is there. The list stands still after each turn: turns that pile up
 * would pass rows that nobody sees.
 * @param step pixels of a turn; negative: upwards
 * @param look called after each turn
 */
export async function wheelTo(
  page: Page,
  element: Locator,
  step: number,
  look = async () => {},
): Promise<void> {
  await page.locator('.grid-box').hover();
  const place = () => page.locator('.grid-box').evaluate((box) => box.scrollTop);
  let before = await place();
  for (let atEnd = 0; (await element.count()) === 0 && atEnd < MOST_TURNS_AT_END; ) {
    await page.mouse.wheel(0, step);
    await standsStill(page, '.grid-box');
    await look();
    const now = await place();
    atEnd = now === before ? atEnd + 1 : 0;
    before = now;
  }
  await element.waitFor();
}
