/** A page of the dashboard that a benchmark drives. What runs in the page is text: its types are the browser's. */
import type { Browser, BrowserContext, Page } from 'playwright-core';

const STEP_MS = 60_000;

/** A log-in, as a browser keeps it: there are only so many a minute. */
export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Logs in with a key. */
export async function signIn(browser: Browser, url: string, key: string): Promise<SignedIn> {
  const context = await browser.newContext();
  const answer = await context.request.post(`${url}/v1/login`, {
    data: { key },
    headers: { 'service-csrf': '1', 'sec-fetch-site': 'same-origin', origin: url },
  });
  if (!answer.ok()) throw new Error(`The log-in failed: ${answer.status()} ${await answer.text()}`);
  const signedIn = await context.storageState();
  await context.close();
  return signedIn;
}

/** Opens a page without anything in its cache. */
export async function openPage(browser: Browser, url: string, signedIn: SignedIn): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    storageState: signedIn,
    viewport: { width: 1_440, height: 900 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(STEP_MS);
  return await context.newPage();
}

/**
 * Goes to an address as a link of the page does, and returns the milliseconds until `isThere` holds and the screen shows it.
 * @param isThere an expression of the page, true once what is waited for is there
 */
export async function goTo(page: Page, address: string, isThere: string): Promise<number> {
  return await page.evaluate(`new Promise((resolve) => {
    const start = performance.now();
    history.pushState(null, '', ${JSON.stringify(address)});
    dispatchEvent(new PopStateEvent('popstate'));
    ${whenThere(isThere)}
  })`);
}

/** Presses a key, and measures likewise. */
export async function press(page: Page, key: string, isThere: string): Promise<number> {
  return await page.evaluate(`new Promise((resolve) => {
    const start = performance.now();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: ${JSON.stringify(key)}, bubbles: true, cancelable: true }));
    ${whenThere(isThere)}
  })`);
}

/**
 * Returns a program that runs another one when the page has given its next frame to the screen: before the timers that wait for
 * the same frame, in which the page begins what it has put off.
 */
export function afterFrame(program: string): string {
  return `requestAnimationFrame(() => scheduler.postTask(() => { ${program}; }, { priority: 'user-blocking' }))`;
}

/** Looks after each change of the page; a frame later it is on the screen. */
function whenThere(isThere: string): string {
  return `
    const isThere = () => { try { return ${isThere}; } catch { return false; } };
    let isDone = false;
    const look = () => {
      if (isDone || !isThere()) return;
      isDone = true;
      observer.disconnect();
      ${afterFrame('resolve(performance.now() - start)')};
    };
    const observer = new MutationObserver(look);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    setTimeout(look);
  `;
}

/** Bytes of JavaScript's heap that are in use after a collection. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
