/** The way from page to page. */
import type { Page } from 'playwright-core';

/** Follows a link of the navigation, by its whole name: pages have links of their own that are named alike. */
export async function followNavigation(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
}
