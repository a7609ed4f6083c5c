import { accessibleStory, story } from '../../../../support/browser/mod.ts';

story('The system shows why it is degraded, and looks again by itself', async ({ t, page }) => {
  let calls = 0;
  await page.route('**/v1/system', (route) => {
    calls += 1;
    return route.fallback();
  });
  await page.goto('/system');
  await page.getByText('Degraded').waitFor();
  await page.getByText('No process of the role gateway has reported').waitFor();
  await page.getByRole('row', { name: 'api' }).waitFor();
  await page.waitForResponse('**/v1/system');
  t.ok(calls >= 2);
});

story('A failure of the API leaves what was shown, and says so', async ({ page, expectComplaint }) => {
  let isBroken = false;
  await page.route('**/v1/system', (route) =>
    isBroken
      ? route.fulfill({ status: 503, json: { data: null, error: 'Postgres is away' } })
      : route.fallback(),
  );
  await page.goto('/system');
  await page.getByText('Degraded').waitFor();
  isBroken = true;
  await page.getByText('Postgres is away').waitFor();
  await page.getByText('Degraded').waitFor();
  expectComplaint(/status of 503/);
});

accessibleStory('The system has no barrier', async ({ page }) => {
  await page.goto('/system');
  await page.getByRole('row', { name: 'api' }).waitFor();
});

story('A page that was opened in the background loads as soon as it is shown', async ({ page }) => {
  // What waits for a second or longer never comes.
  await page.addInitScript({
    content: `
      const ownTimeout = globalThis.setTimeout;
      globalThis.setTimeout = (run, ms, ...given) => (ms >= 1000 ? 0 : ownTimeout(run, ms, ...given));
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });`,
  });
  await page.goto('/system');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));`);
  await page.getByRole('row', { name: 'api' }).first().waitFor();
});
