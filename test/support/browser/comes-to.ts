/** Assertions about what a page comes to show. */
import { isDeepStrictEqual } from 'node:util';
import { slowdown } from './slowdown.ts';
import type { Stage } from './story.ts';

/** Longer than any page takes: what does not come is said by the assertion. */
const MOST_MS = 60_000;
const PAUSE_MS = 20;

/** Reads until the reading is right, or time is up; gives the last one. */
async function lastReading<T>(read: () => Promise<T>, isRight: (found: T) => boolean): Promise<T> {
  // The first reading may wait for the page.
  let found = await read();
  const endMs = performance.now() + MOST_MS * slowdown();
  while (!isRight(found) && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    found = await read();
  }
  return found;
}

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
  t.strictSame(await lastReading(read, (found) => isDeepStrictEqual(found, expected)), expected, message);
}

/** Asserts that a text of a page comes to match a pattern, or to contain a text. */
export async function comesToMatch(
  t: Stage['t'],
  read: () => Promise<string | null>,
  pattern: RegExp | string,
  message = 'the page comes to show what is expected',
): Promise<void> {
  const isRight = (found: string | null) =>
    found !== null && (typeof pattern === 'string' ? found.includes(pattern) : found.search(pattern) >= 0);
  t.match(await lastReading(read, isRight), pattern, message);
}
