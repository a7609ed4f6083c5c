/** Tries again what failed on a page. */
import type { Page } from 'playwright-core';

/** How long a button is given before the next look. */
const LOOK_MS = 1_000;

/** Presses buttons that try again, as long as there are any: a failure that came since has its own. */
export async function tryAgain(page: Page): Promise<void> {
  const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' }).first();
  while (await retry.isVisible()) {
    // It may go before it is pressed.
    await retry.click({ timeout: LOOK_MS }).catch(() => {});
    await retry.waitFor({ state: 'hidden', timeout: LOOK_MS }).catch(() => {});
  }
}
