/**
 * A machine that is slower and busier than this one, so that races show: with BROWSER_SLOWDOWN=4 in the environment, a page has
 * a quarter of the processor, and what it asks for comes after up to 150 ms, each in another order. BROWSER_SEED=2 gives other
 * orders than those that a story has otherwise each time.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { seededRandom } from '../random.ts';

/** Twice what an answer takes on a quiet machine, so that two that follow each other often change places. */
const LONGEST_DELAY_MS = 150;

/** Returns how many times as slow the pages of stories are; 1 when they are not slowed down. */
export function slowdown(): number {
  const factor = Number(process.env.BROWSER_SLOWDOWN ?? 1);
  if (Number.isFinite(factor) && factor >= 1) return factor;
  throw new Error(`BROWSER_SLOWDOWN must be a number from 1 on, but is "${process.env.BROWSER_SLOWDOWN}"`);
}

async function throttle(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown() });
}

/** Delays what the pages of a context ask for, in orders of a story's own. */
async function delayRequests(context: BrowserContext, title: string): Promise<void> {
  const seed = hash('sha256', `${process.env.BROWSER_SEED ?? 1} ${title}`, 'hex').slice(0, 8);
  const random = seededRandom(Number.parseInt(seed, 16));
  await context.route('**', async (route) => {
    await delay(random() * LONGEST_DELAY_MS);
    // The page may have given it up, or be gone.
    await route.continue().catch(() => {});
  });
}

/** Opens a page of a story, which is slowed down where the environment asks for that, as are those that it opens. */
export async function openSlowedPage(context: BrowserContext, title: string): Promise<Page> {
  if (slowdown() === 1) return await context.newPage();
  await delayRequests(context, title);
  const page = await context.newPage();
  await throttle(page);
  // One that closes at once cannot be throttled.
  context.on('page', (opened) => void throttle(opened).catch(() => {}));
  return page;
}
