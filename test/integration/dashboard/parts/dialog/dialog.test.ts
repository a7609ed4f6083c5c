import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

story(
  'A drag from a field over the edge of its dialog leaves it open; a click beside it closes it',
  async (stage) => {
    const { t, page } = stage;
    await page.goto('/requests');
    await page.getByRole('button', { name: 'Custom…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Time range' });
    const field = (await dialog.getByLabel('From').boundingBox())!;
    await page.mouse.move(field.x + 20, field.y + field.height / 2);
    await page.mouse.down();
    await page.mouse.move(5, 5, { steps: 5 });
    await page.mouse.up();
    await comesTo(t, () => dialog.count(), 1);
    await page.mouse.click(5, 5);
    await dialog.waitFor({ state: 'detached' });
  },
);
