/** What is measured of the dashboard, each with its bar. */
import type { Browser, Page } from 'playwright-core';
import type { Call } from '../calls.ts';
import type { Seeded } from '../seed/cluster.ts';
import { percentile } from '../table.ts';
import { afterFrame, goTo, heapOf, openPage, press, type SignedIn } from './page.ts';

export type Figure = { name: string; value: number; unit: string; bar: number; samples?: readonly number[] };

export type Scene = {
  browser: Browser;
  url: string;
  signedIn: SignedIn;
  seeded: Seeded;
  call: Call;
  rounds: number;
};

const DAY_MS = 86_400_000;
/** The rows are those of the address: none are under way, and the first has come. */
const ROWS = `document.querySelector('.grid') !== null && document.querySelector('.requests-list.busy') === null`;
const DRAWER = `document.querySelector('.drawer .conversation-message') !== null`;

function rangeOf({ endMs }: Seeded, days: number): string {
  return `${new Date(endMs - days * DAY_MS).toISOString()}..${new Date(endMs).toISOString()}`;
}

/** The query string of the list over so many days. */
function listOf(seeded: Seeded, days: number, q: string): string {
  return `/requests?${new URLSearchParams({ range: rangeOf(seeded, days), ...(q === '' ? {} : { q }) })}`;
}

function medianOf(name: string, samples: readonly number[], bar: number): Figure {
  return {
    name,
    value: percentile(
      samples.toSorted((a, b) => a - b),
      0.5,
    ),
    unit: 'ms',
    bar,
    samples,
  };
}

/** Notes when the first row is on the screen, from the navigation on, as the page itself counts. */
const NOTE_FIRST_ROW = `
  globalThis.firstRow = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector('.grid-row') === null) return;
      observer.disconnect();
      ${afterFrame('resolve(performance.now())')};
    }).observe(document, { subtree: true, childList: true });
  });`;

async function firstRows(
  { browser, url, signedIn, seeded, rounds }: Scene,
  slowdown: number,
): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const page = await openPage(browser, url, signedIn);
    await page.addInitScript({ content: NOTE_FIRST_ROW });
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await page.goto(listOf(seeded, 30, ''), { waitUntil: 'commit' });
    await page.locator('.grid-row').first().waitFor();
    times.push(await page.evaluate('globalThis.firstRow'));
    await page.context().close();
  }
  return times;
}

/** Waits until a new list has other rows than the one before, or as many of none. */
const changedRows = (before: string) =>
  `${ROWS} && document.querySelector('.grid').dataset.list !== ${JSON.stringify(before)}`;

async function filters(page: Page, { seeded, rounds }: Scene): Promise<Figure[]> {
  const queries = [
    'status:>=500',
    'model:gpt-4o',
    'provider:OPENAI',
    'user:user-1',
    'latency:>5s',
    'cost:>0.01',
  ];
  const figures: Figure[] = [];
  for (const q of queries) {
    const samples: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await goTo(page, listOf(seeded, 29 - round / 100, ''), ROWS);
      const before: string = await page.evaluate(`document.querySelector('.grid').dataset.list`);
      samples.push(await goTo(page, listOf(seeded, 30 - round / 100, q), changedRows(before)));
    }
    figures.push(medianOf(`filter ${q}, on the screen`, samples, 150));
  }
  return figures;
}

/** Returns the id of a request so many rows down the list. */
async function idAt(call: Call, seeded: Seeded, depth: number): Promise<string> {
  const created = rangeOf(seeded, 30);
  let after: string | null = null;
  for (let rows = 0; rows < depth; rows += 200) {
    const place = after === null ? {} : { after };
    const page = (await call('/v1/request/rows', {
      q: `created:${created}`,
      limit: 200,
      columns: ['model'],
      ...place,
    })) as { rows: { request_id: string }[]; next: string | null };
    if (page.next === null) return page.rows.at(-1)!.request_id;
    after = page.next;
    if (rows + 200 >= depth) return page.rows.at(-1)!.request_id;
  }
  throw new Error('There are no requests in this range');
}

/** A link into the depth of the list, at page 1,000 of 100 rows. */
async function deepPage(page: Page, { seeded, call, rounds }: Scene): Promise<Figure> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const id = await idAt(call, seeded, 100_000 + round * 200);
    await goTo(page, '/not-a-page', `document.querySelector('.requests') === null`);
    const address = `${listOf(seeded, 30, '')}&r=${encodeURIComponent(id)}`;
    samples.push(
      await goTo(page, address, `${ROWS} && document.querySelector('.grid-row-current') !== null`),
    );
  }
  return medianOf('page 1,000, by a link to a request there', samples, 150);
}

async function nextRequests(page: Page, { seeded }: Scene): Promise<Figure> {
  await goTo(page, listOf(seeded, 28, ''), ROWS);
  await press(page, 'j', `document.querySelector('.grid-row-current') !== null`);
  await press(page, 'Enter', DRAWER);
  const samples: number[] = [];
  for (let step = 0; step < 60; step += 1) {
    const before: string = await page.evaluate(`document.querySelector('.request-id code').textContent`);
    const isNext = `document.querySelector('.request-id code').textContent !== ${JSON.stringify(before)} && ${DRAWER}`;
    samples.push(await press(page, 'j', isNext));
    // As fast as a person reads at a glance: what is ahead is fetched meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    name: 'j with the drawer open, p95',
    value: percentile(sorted, 0.95),
    unit: 'ms',
    bar: 80,
    samples,
  };
}

async function overview(page: Page, { seeded, rounds }: Scene): Promise<Figure> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await goTo(page, '/not-a-page', `document.querySelector('.overview') === null`);
    // Another range each time: nothing is remembered.
    const address = `/?${new URLSearchParams({ range: rangeOf(seeded, 30 - round / 100) })}`;
    samples.push(
      await goTo(
        page,
        address,
        `document.querySelectorAll('.chart canvas').length >= 6 && document.querySelector('.overview [aria-busy=true], .overview .busy') === null`,
      ),
    );
  }
  return medianOf('overview of 30 days, all charts', samples, 500);
}

/** Everything that needs no traffic. */
export async function measureStill(scene: Scene): Promise<Figure[]> {
  const page = await openPage(scene.browser, scene.url, scene.signedIn);
  await page.goto(listOf(scene.seeded, 30, ''));
  await page.locator('.grid-row').first().waitFor();
  const figures = [
    medianOf('first rows, nothing cached', await firstRows(scene, 1), 300),
    medianOf('first rows, a processor a quarter as fast', await firstRows(scene, 4), 1_200),
    ...(await filters(page, scene)),
    await deepPage(page, scene),
    await nextRequests(page, scene),
    await overview(page, scene),
  ];
  await page.context().close();
  return figures;
}

/** The list in live mode while requests come in: its calls, and how its heap grows. */
export async function measureLive(
  { browser, url, signedIn }: Pick<Scene, 'browser' | 'url' | 'signedIn'>,
  minutes: number,
): Promise<Figure[]> {
  const page = await openPage(browser, url, signedIn);
  let calls = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/v1/request/rows')) calls += 1;
  });
  await page.goto('/requests?range=1h&live=1');
  await page.locator('.grid-row').first().waitFor();
  // What is made once is made: lazy parts, caches of the browser.
  await page.waitForTimeout(20_000);
  const before = await heapOf(page);
  calls = 0;
  const startedAt = performance.now();
  await page.waitForTimeout(minutes * 60_000);
  const seconds = (performance.now() - startedAt) / 1_000;
  const callsASecond = calls / seconds;
  const grown = ((await heapOf(page)) - before) / 1_048_576;
  await page.context().close();
  return [
    { name: `live for ${minutes} min: calls a second`, value: callsASecond, unit: '', bar: 1 },
    { name: `live for ${minutes} min: heap grown by`, value: grown, unit: 'MiB', bar: 10 },
  ];
}
