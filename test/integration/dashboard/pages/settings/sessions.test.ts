import { createSession } from '#platform/browser-sessions/mod.ts';
import { comesTo } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { Product, StoryOrganization } from '../../../../support/browser/product.ts';

/** Logs another browser in with the key of a story. */
async function logIn(
  { database: { sql } }: Product,
  { organizationId, keyId }: StoryOrganization,
  userAgent: string,
): Promise<void> {
  await sql.begin((tx) => createSession(tx, { organizationId, keyId, userAgent, nowMs: Date.now() }));
}

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

story(
  'The log-ins of a key are listed, and one of them or all others are ended',
  async ({ t, page, organization, product }) => {
    const { sql } = product.database;
    for (const agent of [FIREFOX, 'curl/8', 'curl/9']) await logIn(product, organization, agent);
    const count = async () => {
      const [row] = await sql`
        select count(*)::int as count from assay.browser_sessions
        where organization_id = ${organization.organizationId}`;
      return row!.count;
    };
    await page.goto('/settings?tab=log-ins');
    const table = page.getByRole('table', { name: 'Log-ins with this key' });
    const firefox = table.getByRole('row').filter({ hasText: 'Firefox 145 on Linux' });
    await firefox.getByRole('button', { name: 'End' }).click();
    await firefox.waitFor({ state: 'detached' });
    await comesTo(t, () => count(), 3);
    const own = table.getByRole('row').filter({ hasText: 'this one' });
    await comesTo(t, () => own.getByRole('button').count(), 0, 'this log-in ends by logging out');
    await page.getByRole('button', { name: 'End all others' }).click();
    await page.getByRole('button', { name: 'End them' }).click();
    await table.getByText('curl/8').waitFor({ state: 'detached' });
    await comesTo(t, () => count(), 1);
    await comesTo(t, () => table.getByRole('row').count(), 2, 'the head, and this one');
  },
);

accessibleStory('The list of log-ins has no barrier', async ({ page, organization, product }) => {
  await logIn(product, organization, '<b>\u202e evil');
  await page.goto('/settings?tab=log-ins');
  await page.getByRole('button', { name: 'End all others' }).waitFor();
});
