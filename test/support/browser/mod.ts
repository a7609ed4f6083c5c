/**
 * Stories: tests of pages, in the machine's Chromium, against the real API over a real database.
 *
 * A file of stories starts one Chromium and one product, at its first story. Each story has an organization of its own, a fresh
 * browser context that is logged in with that organization's key, and a page whose addresses are relative to the product's. So
 * stories know nothing of each other, and cost a few tenths of a second. A story fails when its page wrote an error to the
 * console, threw, violated the Content-Security-Policy, showed a dialog, or asked any other origin for anything; a story that
 * provokes such a thing says so by `expectComplaint`. Without a Chromium, stories are skipped with a reason; in CI they fail.
 *
 * Pages are built by `npm test`. Stories of dashboard/pages/<name>/ are in test/integration/dashboard/pages/<name>/.
 *
 * @example
 * import { accessibleStory, story } from '../../../../support/browser/mod.ts';
 *
 * story('A click on a model shows the requests of that model alone', async ({ t, page, organization }) => {
 *   await organization.insert([{ model: 'gpt-4o' }, { model: 'claude-sonnet-4' }]);
 *   await page.goto('/requests?range=24h');
 *   await page.getByRole('row').getByRole('button', { name: 'gpt-4o' }).click();
 *   await page.getByText('1 request').waitFor();
 *   t.match(page.url(), 'q=model');
 * });
 *
 * // axe finds nothing, in light and dark, on a narrow and on a wide screen; the page is as this function leaves it.
 * accessibleStory('The list of requests has no barrier', async ({ page, organization }) => {
 *   await organization.insert([{ status: 500 }]);
 *   await page.goto('/requests');
 *   await page.getByRole('row').nth(1).waitFor();
 * });
 *
 * // Calls go through the gateway to a scripted provider, and are stored and scored: `callPath` starts all that.
 * story('A call shows up by itself', async ({ page, organization, callPath }) => {
 *   const { gatewayUrl } = await callPath();
 *   …
 * });
 */
export { accessibleStory, type Stage, story } from './story.ts';
