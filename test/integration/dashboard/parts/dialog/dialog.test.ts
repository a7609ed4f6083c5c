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

story('What was written in a dialog is discarded by the second try to close it', async ({ t, page }) => {
  await page.goto('/prompts');
  await page.getByRole('button', { name: 'New prompt' }).click();
  const dialog = page.getByRole('dialog', { name: 'New prompt' });
  const text = dialog.getByLabel('Text of message 1');
  const question = dialog.getByText('What you wrote is not saved.');
  await text.fill('A long text');
  await page.mouse.click(5, 5);
  await question.waitFor();
  await text.fill('A longer text');
  await question.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await question.waitFor();
  await comesTo(t, () => text.inputValue(), 'A longer text');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New prompt' }).click();
  await page.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
});
