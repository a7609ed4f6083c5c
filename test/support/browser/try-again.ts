/** Tries again what failed on a page. */
import type { Page } from 'playwright-core';

/** How long a button is given before the next look. */
const LOOK_MS = 1_000;

/** Presses buttons that try again, as long as there are any: a failure that came since has its own. */
export async function tryAgain(page: Page): Promise<void> {
  const retries = page.getByRole('alert').getByRole('button', { name: 'Try again' });
  while (await retries.first().isVisible()) {
    const before = await retries.count();
    // It may go before it is pressed.
    await retries
      .first()
      .click({ timeout: LOOK_MS })
      .catch(() => {});
    const endMs = performance.now() + LOOK_MS;
    while ((await retries.count()) >= before && performance.now() < endMs) await page.waitForTimeout(20);
  }
}
