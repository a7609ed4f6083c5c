import type { Page } from 'playwright-core';
import { story } from '../../../support/browser/mod.ts';

/** Keys of one page of the API. */
const PAGE = 100;
const PLACES: readonly [path: string, open: (page: Page) => Promise<void>][] = [
  ['/limits', async () => {}],
  ['/', async () => {}],
  ['/requests?facets=1', (page) => page.locator('summary', { hasText: 'API key' }).click()],
];

story(
  'The oldest of many keys has its name wherever it is shown, and no other is asked for',
  async ({ t, page, organization }) => {
    const { keyId } = organization;
    const [refused] = await organization.insert([{ api_key_id: keyId, status: 429 }]);
    for (let made = 0; made < PAGE; made++) await organization.keyWith(['read']);
    const asked = new Set<string | null>();
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/keys') asked.add(searchParams.get('ids'));
    });
    for (const [path, open] of [
      ...PLACES,
      [`/requests/${refused!.request_id}?tab=delivery`, async () => {}] as const,
    ]) {
      await page.goto(path);
      await open(page);
      await t.resolves(page.getByText('(sk-assay-').first().waitFor(), path);
    }
    t.same([...asked], [keyId]);
  },
);
