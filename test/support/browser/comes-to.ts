/** Assertions about what a page comes to show. */
import { isDeepStrictEqual } from 'node:util';
import type { Stage } from './story.ts';

/** Longer than any page takes: what does not come is said by the assertion. */
const MOST_MS = 10_000;
const PAUSE_MS = 20;

/**
 * Asserts that a reading of a page comes to be as expected. Parts of a page are drawn one after another: a single reading would
 * fail where the machine is slow.
 * @example await comesTo(t, () => page.locator('ins').allTextContents(), ['slow', 'a slow']);
 */
export async function comesTo<T>(
  t: Stage['t'],
  read: () => Promise<T>,
  expected: T,
  message = 'the page comes to show what is expected',
): Promise<void> {
  const endMs = performance.now() + MOST_MS;
  let found = await read();
  while (!isDeepStrictEqual(found, expected) && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    found = await read();
  }
  t.strictSame(found, expected, message);
}
