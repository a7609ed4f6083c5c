/** `npm run screenshots`: the pictures of the README, from the demo's data. Needs a Chromium (CHROMIUM, else /usr/bin/chromium). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { processEnvironment } from '#platform/config/mod.ts';
import { createApi } from './demo/api.ts';
import { logHistory } from './demo/history.ts';
import { launchAssay, type RunningAssay } from './demo/launch.ts';
import { startDemoProvider } from './demo/provider.ts';

const DIRECTORY = join(import.meta.dirname, '../docs/images');
const SIZE = { width: 1_280, height: 800 };
const FINDABLE_WITHIN_MS = 10_000;

async function waitForHistory(assay: RunningAssay, expected: number): Promise<void> {
  const api = createApi(assay.apiUrl, assay.apiKey);
  const until = performance.now() + FINDABLE_WITHIN_MS;
  while ((await api.call<number>('POST', '/v1/request/count/query', { filter: 'all' })) < expected) {
    if (performance.now() > until) throw new Error('The demo data did not come in time');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until nothing on the page loads any more. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.locator('.busy').first().waitFor({ state: 'detached' });
}

async function takePictures(assay: RunningAssay, page: Page): Promise<void> {
  await page.goto(assay.dashboardUrl);
  await page.locator('.chart canvas').first().waitFor();
  await settle(page);
  await page.screenshot({ path: join(DIRECTORY, 'overview.png') });
  await page.goto('/requests?q=property.Feature:support');
  await page.locator('.grid-row').nth(2).click();
  await page.locator('.drawer .conversation-message').first().waitFor();
  await settle(page);
  await page.screenshot({ path: join(DIRECTORY, 'requests.png') });
}

const provider = await startDemoProvider();
const environment = processEnvironment();
const assay = await launchAssay(
  { PATH: environment.PATH ?? '', HOME: environment.HOME ?? '' },
  { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'sk-demo' },
);
try {
  const api = createApi(assay.apiUrl, assay.apiKey);
  await waitForHistory(assay, await logHistory(api, Date.now()));
  mkdirSync(DIRECTORY, { recursive: true });
  const browser = await chromium.launch({
    executablePath: environment.CHROMIUM ?? '/usr/bin/chromium',
    chromiumSandbox: process.getuid?.() !== 0,
  });
  const context = await browser.newContext({
    viewport: SIZE,
    baseURL: assay.apiUrl,
    reducedMotion: 'reduce',
  });
  await takePictures(assay, await context.newPage());
  await browser.close();
} finally {
  await assay.stop();
  await provider.stop();
}
process.stdout.write(`Wrote docs/images/overview.png and docs/images/requests.png\n`);
