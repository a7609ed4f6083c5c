/** Keys that follow each other within a time that the page sets. */
import type { Page } from 'playwright-core';

/** Presses keys one after the other, without waiting for the page in between: it may be busy for longer than it waits for a key. */
export async function pressAtOnce(page: Page, keys: readonly string[]): Promise<void> {
  await Promise.all(keys.map((key) => page.keyboard.press(key)));
}
