import type { Page } from 'playwright-core';
import { story } from '../../../../support/browser/mod.ts';

/** Waits until the chip of a frequent query has the number. */
const chip = (page: Page, title: string, count: number) =>
  page.getByRole('button', { name: `${title} ${count}`, exact: true }).waitFor();

story(
  'The counts of rated requests follow a rating, by a key and in the drawer',
  async ({ page, organization }) => {
    await organization.insert([
      { user_id: 'anna' },
      { user_id: 'bob', feedback_rating: false, feedback_created_at: new Date() },
    ]);
    await page.goto('/requests');
    await chip(page, 'Rated bad', 1);
    await chip(page, 'Rated good', 0);
    await page.keyboard.press('j');
    await page.keyboard.press('-');
    await page.keyboard.press('j');
    await page.keyboard.press('-');
    await chip(page, 'Rated bad', 2);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Request' }).getByRole('button', { name: 'Good' }).click();
    await chip(page, 'Rated bad', 1);
    await chip(page, 'Rated good', 1);
  },
);
