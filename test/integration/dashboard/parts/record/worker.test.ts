import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

const MISSING = 'A part of this page could not be fetched: reload the page';
/** Counts the listeners of signals that have not been aborted. */
const COUNT = `
  globalThis.listeners = 0;
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  const own = new WeakMap();
  AbortSignal.prototype.addEventListener = function (name, listener, ...rest) {
    if (!own.has(listener)) {
      own.set(listener, true);
      globalThis.listeners += 1;
    }
    return addEventListener.call(this, name, listener, ...rest);
  };
  AbortSignal.prototype.removeEventListener = function (name, listener, ...rest) {
    if (own.delete(listener)) globalThis.listeners -= 1;
    return removeEventListener.call(this, name, listener, ...rest);
  };`;

story('A worker that cannot be fetched is not told as a record that is too large', async (stage) => {
  const { t, page, organization } = stage;
  const [row] = await organization.insert([{ user_id: 'anna' }]);
  await page.route('**/assets/record-*.js', (route) => route.abort());
  await page.goto(`/requests/${row!.request_id}`);
  await page.getByText(MISSING).first().waitFor();
  await comesTo(t, () => page.getByText('too large').count(), 0);
});

story('Questions about a record leave nothing behind on its signal', async ({ t, page, organization }) => {
  const messages = Array.from({ length: 30 }, (_, index) => ({ role: 'user', content: `Question ${index}` }));
  const [row] = await organization.insert([{ request_text: JSON.stringify({ model: 'm', messages }) }]);
  await page.addInitScript({ content: COUNT });
  await page.goto(`/requests/${row!.request_id}`);
  await page.getByText('Question 1', { exact: true }).waitFor();
  const listeners = () => page.evaluate<number>('globalThis.listeners');
  const before = await listeners();
  for (let turns = 0; turns < 5; turns++) {
    await page.getByRole('tab', { name: 'Raw request' }).click();
    await page.getByRole('tree').waitFor();
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await page.getByText('Question 1', { exact: true }).waitFor();
  }
  // Questions may still be under way when the last of them shows.
  await comesTo(t, async () => (await listeners()) <= before, true, 'no more listeners than before');
});

story('A copy as cURL whose program cannot be fetched says so', async (stage) => {
  const { page, organization } = stage;
  await organization.insert([{ user_id: 'anna' }]);
  await page.route('**/assets/copy-as-*.js', (route) => route.abort());
  await page.route('**/assets/record-*.js', (route) => route.abort());
  await page.goto('/requests');
  await page.locator('.grid-row').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Shift+y');
  await page.getByText(MISSING).waitFor();
  stage.expectComplaint(/ERR_FAILED/);
});
