/** Waiting for what no locator sees: scrolling, the history. */
import type { Page } from 'playwright-core';

/** Two frames of the page: what was changed is drawn. */
const FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
/** More than any machine needs, so that what does not come is said soon. */
const MOST_TURNS = 1_000;

/** Waits, frame by frame, until an expression of the page is true; returns whether it has become true. */
export async function becomesTrue(page: Page, expression: string): Promise<boolean> {
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (await page.evaluate<boolean>(expression)) return true;
    await page.evaluate(FRAMES);
  }
  return false;
}

/** Waits until a box does not scroll any more: a turn of the wheel moves it for several frames. */
export async function standsStill(page: Page, selector: string): Promise<boolean> {
  const isStill = `(async () => {
    const box = document.querySelector(${JSON.stringify(selector)});
    const before = box.scrollTop;
    for (let frames = 0; frames < 5; frames++) await new Promise((done) => requestAnimationFrame(done));
    return box.scrollTop === before;
  })()`;
  return await becomesTrue(page, isStill);
}
