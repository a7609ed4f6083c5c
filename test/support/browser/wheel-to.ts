/** Scrolling a list as a reader does, by the wheel. */
import type { Locator, Page } from 'playwright-core';
import { standsStill } from './becomes-true.ts';

/** Decides only how late a row that never comes is reported. */
const WITHIN_MS = 60_000;

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
  const deadline = performance.now() + WITHIN_MS;
  while ((await element.count()) === 0 && performance.now() < deadline) {
    await page.mouse.wheel(0, step);
    await standsStill(page, '.grid-box');
    await look();
  }
  await element.waitFor();
}
