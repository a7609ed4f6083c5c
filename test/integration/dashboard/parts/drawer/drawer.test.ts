import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

story(
  'The drawer is made wider and narrower by arrows, keeps its width, and is closed by its cross',
  async ({ t, page, organization }) => {
    const [first] = await organization.insert([{ session_id: 'trip' }]);
    await page.goto(`/sessions/trip?r=${first!.request_id}`);
    const drawer = page.getByRole('complementary', { name: 'Request' });
    await drawer.getByText(first!.request_id).waitFor();
    const width = async () => (await drawer.boundingBox())!.width;
    const before = await width();
    await page.getByRole('separator', { name: 'Width of the request' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    t.ok((await width()) > before + 100, 'wider');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const narrower = await width();
    t.ok(narrower < before, 'narrower');
    await page.reload();
    await drawer.getByText(first!.request_id).waitFor();
    await comesTo(t, () => width(), narrower);
    await page.getByRole('button', { name: 'Close the request' }).click();
    await drawer.waitFor({ state: 'detached' });
    t.notMatch(page.url(), 'r=');
  },
);
