/** Measures how long the page of a record of 32 MiB is held up at a time. */
import type { Browser, Page } from 'playwright-core';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import { largeAndSmallRecord, openSmallRecord, readLargeRecord } from '../../support/large-record.ts';
import { insertRequests } from '../../support/seed-requests.ts';
import type { Figure } from './measures.ts';
import { openPage, signIn } from './page.ts';

/** Inputs that wait longer for the page than this feel late. */
const BAR_MS = 50;

/** Chromium reports tasks from 50 ms on. */
const OBSERVE = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.longTasks.push(entry.duration);
  }).observe({ type: 'longtask' });`;

/** Reads the large record once, and returns the longest task of the page meanwhile, in milliseconds; 0: none was long. */
async function longestTask(page: Page, small: string, large: string): Promise<number> {
  await openSmallRecord(page, small);
  await page.evaluate(OBSERVE);
  await readLargeRecord(page, large);
  return Math.max(0, ...(await page.evaluate<number[]>('globalThis.longTasks')));
}

/** Tables with rows of the organization, in an order in which they can be deleted. */
const TABLES = [
  'requests',
  'request_bodies',
  'browser_sessions',
  'api_key_uses',
  'api_keys',
  'organizations',
] as const;

async function removeOrganization(sql: Sql, organizationId: string): Promise<void> {
  for (const table of TABLES)
    await sql`delete from ${sql(`assay.${table}`)} where organization_id = ${organizationId}`;
}

/** Measures with records of an organization of its own, which is removed afterwards. */
export async function measureLargeRecord({
  browser,
  url,
  databaseUrl,
  rounds,
}: {
  browser: Browser;
  url: string;
  databaseUrl: string;
  rounds: number;
}): Promise<Figure> {
  const sql = connectPostgres({
    url: databaseUrl,
    max: 1,
    applicationName: 'bench',
    statementTimeoutMs: 60_000,
  });
  const { organizationId } = await createOrganization(sql, { name: 'bench large', tier: 'enterprise' });
  try {
    const { key } = await createKey(sql, { organizationId, scopes: ['read'] });
    const [large, small] = await insertRequests(sql, organizationId, largeAndSmallRecord());
    const page = await openPage(browser, url, await signIn(browser, url, key));
    const samples: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      samples.push(await longestTask(page, small!.request_id, large!.request_id));
    await page.context().close();
    // The least: what another process held up is not the page's.
    const value = Math.min(...samples);
    const name = 'a record of 32 MiB, longest task of the best round';
    return { name, value, unit: 'ms', bar: BAR_MS, samples };
  } finally {
    await removeOrganization(sql, organizationId);
    await sql.end();
  }
}
