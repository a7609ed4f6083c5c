/** Waiting for what must not happen. */
import type { Page } from 'playwright-core';

/** Scripts that a page has run, and images that it has asked for, have done so by then. A page that draws without end is never idle. */
const SETTLED =
  'new Promise((resolve) => requestIdleCallback(() => setTimeout(resolve, 100), { timeout: 10_000 }))';

/** Waits until a page has done what it was going to do with what it shows. */
export async function settles(page: Page): Promise<void> {
  await page.evaluate(SETTLED);
}
