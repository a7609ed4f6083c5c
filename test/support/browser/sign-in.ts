/** How a page test is logged in. */
import type { BrowserContext } from 'playwright-core';
import { createSession } from '#platform/browser-sessions/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';

/**
 * Logs every page of this context in with a key, as `POST /v1/login` does. Not by that call: an address has ten tries a minute,
 * and all stories come from one.
 */
export async function signIn(
  context: BrowserContext,
  { url, sql, ...key }: { url: string; sql: Sql; organizationId: string; keyId: string },
): Promise<void> {
  const { secret } = await sql.begin((tx) =>
    createSession(tx, { ...key, userAgent: 'Chromium', nowMs: Date.now() }),
  );
  await context.addCookies([{ name: 'assay', value: secret, url, httpOnly: true, sameSite: 'Strict' }]);
}
