import { story } from '../../../../support/browser/mod.ts';

story('The state of a healthy system moves nothing when it comes', async ({ t, page, organization }) => {
  await organization.insert([{}]);
  const shown = Promise.withResolvers<void>();
  await page.route('**/v1/system', async (route) => {
    await shown.promise;
    const response = await route.fetch();
    const { data } = (await response.json()) as { data: object };
    await route.fulfill({ response, json: { data: { ...data, health: 'ok', reasons: [] }, error: null } });
  });
  await page.goto('/');
  await page.locator('.tile').first().waitFor();
  const top = () => page.evaluate<number>(`document.querySelector('.overview-tiles').offsetTop`);
  const before = await top();
  shown.resolve();
  await page.getByRole('link', { name: 'System healthy' }).waitFor();
  t.equal(await top(), before);
});
