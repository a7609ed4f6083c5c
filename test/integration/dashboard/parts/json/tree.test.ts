import type { Page } from 'playwright-core';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';

const focused = (page: Page) =>
  page.evaluate<string>(
    `document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`,
  );
const expanded = (page: Page) => page.evaluate(`document.activeElement.getAttribute('aria-expanded')`);
const REACHED = `document.querySelectorAll('[role=treeitem][tabindex="0"]').length`;

story(
  'Arrows, Home and End move in the tree of a body, open and close it',
  async ({ t, page, organization }) => {
    const body = { model: 'gpt-4o', nested: { deep: { deeper: 1 } }, last: true };
    const [row] = await organization.insert([{ request_text: JSON.stringify(body) }]);
    await page.goto(`/requests/${row!.request_id}?tab=request`);
    await page.getByRole('treeitem').nth(2).waitFor();
    await page.getByRole('treeitem').first().focus();
    await comesTo(t, () => expanded(page), 'true');
    await page.keyboard.press('ArrowDown');
    await comesToMatch(t, () => focused(page), 'model');
    await page.keyboard.press('ArrowLeft');
    await comesToMatch(t, () => focused(page), 'request', 'the item above');
    await page.keyboard.press('ArrowLeft');
    await comesTo(t, () => expanded(page), 'false');
    await page.keyboard.press('ArrowRight');
    await comesTo(t, () => expanded(page), 'true');
    await page.keyboard.press('End');
    await comesToMatch(t, () => focused(page), 'last');
    await page.keyboard.press('Home');
    await comesToMatch(t, () => focused(page), 'request');
    await comesTo(t, () => page.evaluate(REACHED), 1, 'Tab reaches one item');
  },
);
