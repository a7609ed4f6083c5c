import { story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

story('The state of a healthy system moves nothing when it comes', async ({ t, page, ...stage }) => {
  await stage.organization.insert([{}]);
  const system = await callAs<object>(stage, 'GET', '/v1/system');
  const shown = Promise.withResolvers<void>();
  await page.route('**/v1/system', async (route) => {
    await shown.promise;
    await route.fulfill({ json: { data: { ...system, health: 'ok', reasons: [] }, error: null } });
  });
  await page.goto('/');
  await page.locator('.tile').first().waitFor();
  const top = () => page.evaluate<number>(`document.querySelector('.overview-tiles').offsetTop`);
  const before = await top();
  shown.resolve();
  await page.getByRole('link', { name: 'System healthy' }).waitFor();
  t.equal(await top(), before);
});
