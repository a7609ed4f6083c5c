import { comesToMatch } from '../../../support/browser/comes-to.ts';
import { type Stage, story } from '../../../support/browser/mod.ts';
import { callAs } from '../pages/as.ts';

/** Says which element has the focus. */
const FOCUSED = `(({ tagName, ariaLabel, id }) => [tagName, ariaLabel ?? id].join(' '))(document.activeElement)`;

function comesToFocus({ t, page }: Stage, focused: string): Promise<void> {
  return comesToMatch(t, () => page.evaluate<string>(FOCUSED), new RegExp(`^${focused}$`));
}

story('When a row is deleted by keys, its table has the focus', async (stage) => {
  const { page } = stage;
  for (const provider of ['groq', 'mistral'])
    await callAs(stage, 'PUT', `/v1/provider-keys/${provider}`, { key: 'sk-something' });
  await page.goto('/keys?tab=provider-keys');
  await page.getByRole('button', { name: 'Remove the key of Groq' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
  await page.getByRole('cell', { name: 'Groq', exact: true }).waitFor({ state: 'detached' });
  await comesToFocus(stage, 'SECTION Provider keys');
});

story('When a link leads to another view, the page has the focus', async (stage) => {
  const { page } = stage;
  const url = 'https://example.com/hook';
  await callAs(stage, 'POST', '/v1/webhook', { url, events: ['alert.fired'] });
  await page.goto('/webhooks');
  await page.getByRole('link', { name: url }).press('Enter');
  await page.getByRole('link', { name: 'All webhooks' }).waitFor();
  await comesToFocus(stage, 'MAIN page');
});

story(
  'A message that is moved by its button keeps the focus, and one that is removed leaves it near',
  async (stage) => {
    const { page } = stage;
    await page.goto('/playground');
    for (let messages = 1; messages < 4; messages++)
      await page.getByRole('button', { name: 'Add message' }).click();
    await page.getByRole('button', { name: 'Move message 4 up' }).press('Enter');
    await comesToFocus(stage, 'BUTTON Move message 3 up');
    await page.getByRole('button', { name: 'Remove message 4' }).press('Enter');
    await comesToFocus(stage, 'MAIN page');
  },
);
